// Keys of `guard:`, also in overrides: shape, description and written default. docs/guard.md explains them.
import { defaultPolicy, maxStatsDays, type Policy, type Ppm } from '../core/policy.ts';
import { duration, numeric, share, truth, whole } from '../world/schema/scalars.ts';
import { oneOf, optional, section } from '../world/schema/section.ts';

const policy: Policy = defaultPolicy;
const percent = (ppm: Ppm) => `${ppm / 10_000}%`;
const wholePpm: Ppm = 1_000_000;

const limit = (mode: keyof Policy['limitsPpm']) =>
  optional(share(1, wholePpm), percent(policy.limitsPpm[mode]), `Bounce rate that mode ${mode} must not exceed.`);

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
    enforce: optional(truth(), policy.enforce, 'false: decide, record and alert as usual, but never write.'),
    profile: optional(
      oneOf(['measured', 'literal']),
      'measured',
      'literal: min_bounces 1 and window_max_days 7, unless written; more false interventions.',
    ),
    windowDays: optional(whole(1, maxStatsDays), policy.windowDays, 'Days over which bounces are counted.'),
    windowMaxDays: optional(
      whole(1, maxStatsDays),
      policy.windowMaxDays,
      'The most days over which bounces are counted: the window is extended until it holds 1/limit emails.',
    ),
    minBounces: optional(whole(1, 1_000), policy.minBounces, 'Fewer bounces than this are never a breach.'),
    onBreach: optional(oneOf(['recovery', 'pause', 'alert']), policy.onBreach, 'What Warmwarden does on a breach.'),
    onRecoveryBreach: optional(
      oneOf(['pause', 'alert']),
      policy.onRecoveryBreach,
      'What a breach does to a mailbox that is already in recovery mode.',
    ),
    burst: optional(
      oneOf(['alert', 'act']),
      policy.burst,
      'At least 3 bounces more than the bounce limit allows within 1 to 3 days: only an alert, or an action as on a breach.',
    ),
    emergency: optional(
      section({
        minBounces: optional(whole(1, 1_000), policy.emergency.minBounces, 'The minimum number of bounces.'),
        ratePpm: optional(share(1, wholePpm), percent(policy.emergency.ratePpm), 'The minimum bounce rate.'),
        days: optional(whole(1, 7), policy.emergency.days, 'Days that are counted together, today included.'),
      }),
      undefined,
      'This many bounces within a few days pause the warm-up at once, in any mode.',
    ),
    maxInterventions: optional(
      section({
        count: optional(
          whole(1, 100),
          policy.maxInterventions.count,
          'Which intervention within these days pauses the mailbox: with 3, the third one.',
        ),
        days: optional(whole(1, 366), policy.maxInterventions.days, 'Days over which interventions count.'),
      }),
      undefined,
      'A mailbox that breaches repeatedly is paused instead of switched to recovery.',
    ),
    restore: optional(
      section({
        enabled: optional(truth(), policy.restore.enabled, 'false: only a person restores the mode.'),
        days: optional(whole(1, 90), policy.restore.days, 'Days without a bounce.'),
        cleanVolume: optional(
          numeric(0, 10),
          policy.restore.cleanVolume,
          'Emails without a bounce, as a multiple of 1/limit of the earlier mode.',
        ),
      }),
      undefined,
      'Restore the earlier mode after a recovery that Warmwarden started.',
    ),
    staleAfterDays: optional(whole(1, 30), policy.staleAfterDays, 'Warmwarden does not act on older statistics.'),
    breaker: optional(
      section(
        {
          sharePpm: optional(
            share(1, wholePpm),
            percent(policy.breaker.sharePpm),
            'The share of the running mailboxes at which it trips.',
          ),
          minMailboxes: optional(whole(1, 10_000), policy.breaker.minMailboxes, 'It never trips below this number.'),
          maxMailboxes: optional(whole(1, 10_000), policy.breaker.maxMailboxes, 'It always trips at this number.'),
          minDomains: optional(whole(1, 1_000), policy.breaker.minDomains, 'The minimum number of sending domains.'),
          windowMs: optional(duration(60_000), '60m', 'The time within which actions count together.'),
        },
        ascending('min_mailboxes', 'max_mailboxes'),
      ),
      undefined,
      'Too many mailboxes at once point to bad data: Warmwarden holds all actions and alerts you.',
    ),
    limitsPpm: optional(
      section({
        slow: limit('slow'),
        balanced: limit('balanced'),
        aggressive: limit('aggressive'),
        recovery: limit('recovery'),
      }),
      undefined,
      'Bounce rate that each warm-up mode must not exceed.',
    ),
    nearLimitPpm: optional(
      share(1, wholePpm),
      percent(policy.nearLimitPpm),
      'The share of the bounce limit from which a mailbox is near it.',
    ),
  },
  ascending('window_days', 'window_max_days'),
);
