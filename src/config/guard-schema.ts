// Keys of `guard:`, also in overrides: shape, description and written default. docs/guard.md explains them.
import { defaultPolicy, literalProfile, maxStatsDays, type Policy, type Ppm } from '../core/policy.ts';
import { duration, durationText, numeric, share, shareText, truth, whole } from '../world/schema/scalars.ts';
import { oneOf, optional, section } from '../world/schema/section.ts';

const policy: Policy = defaultPolicy;
const wholePpm: Ppm = 1_000_000;

const limit = (mode: keyof Policy['limitsPpm']) =>
  optional(share(1, wholePpm), shareText(policy.limitsPpm[mode]), `Bounce limit of mode ${mode}.`);

type WrittenKeys = Readonly<Record<string, unknown>>;

/** Refuses two written numbers that contradict each other. The lower of two from different places is raised (policyOf). */
const ascending =
  (low: string, high: string) => (keys: WrittenKeys, refuse: (key: string, message: string) => void) => {
    const [least, most] = [keys[low], keys[high]];
    if (typeof least === 'number' && typeof most === 'number' && most < least)
      refuse(high, `${high} (${most}) is less than ${low} (${least})`);
  };

/** Keys as written, without defaults: a profile must not override a written key. */
export const guardSchema = section(
  {
    enforce: optional(truth(), policy.enforce, 'false: decide and alert as usual, but never write.'),
    profile: optional(
      oneOf(['measured', 'literal']),
      'measured',
      `literal: min_bounces ${literalProfile.minBounces} and window_max_days ${literalProfile.windowMaxDays}, unless written. More false interventions.`,
    ),
    windowDays: optional(whole(1, maxStatsDays), policy.windowDays, 'Days over which bounces are counted.'),
    windowMaxDays: optional(
      whole(1, maxStatsDays),
      policy.windowMaxDays,
      'The window grows up to this, until it has enough emails: 1/limit (slow 200, balanced 100).',
    ),
    minBounces: optional(whole(1, 1_000), policy.minBounces, 'Fewer bounces than this are never a breach.'),
    onBreach: optional(oneOf(['recovery', 'pause', 'alert']), policy.onBreach, 'What Warmwarden does on a breach.'),
    onRecoveryBreach: optional(
      oneOf(['pause', 'alert']),
      policy.onRecoveryBreach,
      'What it does on a breach in recovery mode.',
    ),
    burst: optional(
      oneOf(['alert', 'act']),
      policy.burst,
      'At least 3 bounces more than the limit allows within 1 to 3 days: alert, or act as on a breach.',
    ),
    emergency: optional(
      section({
        minBounces: optional(whole(1, 1_000), policy.emergency.minBounces, 'The minimum number of bounces.'),
        ratePpm: optional(share(1, wholePpm), shareText(policy.emergency.ratePpm), 'The minimum bounce rate.'),
        days: optional(whole(1, 7), policy.emergency.days, 'Days that count together, today included.'),
      }),
      undefined,
      'This many bounces pause the warm-up at once, in any mode.',
    ),
    maxInterventions: optional(
      section({
        count: optional(
          whole(1, 100),
          policy.maxInterventions.count,
          'Which intervention pauses the mailbox: 3 is the third.',
        ),
        days: optional(whole(1, 366), policy.maxInterventions.days, 'Days over which interventions count.'),
      }),
      undefined,
      'A mailbox that breaches repeatedly is paused.',
    ),
    restore: optional(
      section({
        enabled: optional(truth(), policy.restore.enabled, 'false: only a person restores the mode.'),
        days: optional(whole(1, 90), policy.restore.days, 'Days without a bounce.'),
        cleanVolume: optional(
          numeric(0, 10),
          policy.restore.cleanVolume,
          'Emails without a bounce, in multiples of 1/limit of the earlier mode.',
        ),
      }),
      undefined,
      'Warmwarden restores the earlier mode after a recovery that it started.',
    ),
    staleAfterDays: optional(whole(1, 30), policy.staleAfterDays, 'Warmwarden does not act on older statistics.'),
    breaker: optional(
      section(
        {
          sharePpm: optional(
            share(1, wholePpm),
            shareText(policy.breaker.sharePpm),
            'Share of the running mailboxes at which it trips.',
          ),
          minMailboxes: optional(whole(1, 10_000), policy.breaker.minMailboxes, 'It never trips below this number.'),
          maxMailboxes: optional(whole(1, 10_000), policy.breaker.maxMailboxes, 'It always trips at this number.'),
          minDomains: optional(whole(1, 1_000), policy.breaker.minDomains, 'The minimum number of sending domains.'),
          windowMs: optional(
            duration(60_000),
            durationText(policy.breaker.windowMs),
            'The time within which actions count.',
          ),
        },
        ascending('min_mailboxes', 'max_mailboxes'),
      ),
      undefined,
      'The circuit breaker: on too many actions at once, Warmwarden holds them and alerts you.',
    ),
    limitsPpm: optional(
      section({
        slow: limit('slow'),
        balanced: limit('balanced'),
        aggressive: limit('aggressive'),
        recovery: limit('recovery'),
      }),
      undefined,
      'Bounce limit of each mode.',
    ),
    nearLimitPpm: optional(
      share(1, wholePpm),
      shareText(policy.nearLimitPpm),
      'Share of the limit from which a mailbox is near it.',
    ),
  },
  ascending('window_days', 'window_max_days'),
);
