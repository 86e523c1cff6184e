// Keys of `guard:`, also in overrides: shape, description and written default. docs/guard.md explains them.
import { defaultPolicy as defaults, literalProfile, maxStatsDays, type Policy, type Ppm } from '../core/policy.ts';
import { duration, durationText, numeric, share, shareText, truth, whole } from '../world/schema/scalars.ts';
import { oneOf, optional, optionalGroup, type SectionRule, section } from '../world/schema/section.ts';

const allPpm: Ppm = 1_000_000;

const limit = (mode: keyof Policy['limitsPpm']) =>
  optional(share(1, allPpm), `Bounce limit of mode ${mode}.`, shareText(defaults.limitsPpm[mode]));

/** Refuses two written numbers that contradict each other. A maximum from another place than the minimum is raised (policyOf). */
const ascending =
  (low: string, high: string): SectionRule =>
  (keys, refuse) => {
    const [least, most] = [keys[low], keys[high]];
    if (typeof least === 'number' && typeof most === 'number' && most < least)
      refuse(high, `${high} (${most}) is less than ${low} (${least})`);
  };

/** Keys as written, without defaults: a profile must not override a written key. */
export const guardSchema = section(
  {
    enforce: optional(truth(), 'false: decide and alert as usual, but never write.', defaults.enforce),
    profile: optional(
      oneOf(['measured', 'literal']),
      `literal: min_bounces ${literalProfile.minBounces} and window_max_days ${literalProfile.windowMaxDays}, unless written. More false interventions.`,
      'measured',
    ),
    windowDays: optional(whole(1, maxStatsDays), 'Days over which bounces are counted.', defaults.windowDays),
    windowMaxDays: optional(
      whole(1, maxStatsDays),
      'The window grows up to this, until it has enough emails: 1/limit (slow 200, balanced 100).',
      defaults.windowMaxDays,
    ),
    minBounces: optional(whole(1, 1_000), 'Fewer bounces than this are never a breach.', defaults.minBounces),
    onBreach: optional(oneOf(['recovery', 'pause', 'alert']), 'What Warmwarden does on a breach.', defaults.onBreach),
    onRecoveryBreach: optional(
      oneOf(['pause', 'alert']),
      'What it does on a breach in recovery mode.',
      defaults.onRecoveryBreach,
    ),
    burst: optional(
      oneOf(['alert', 'act']),
      'At least 3 bounces more than the limit allows within 1 to 3 days: alert, or act as on a breach.',
      defaults.burst,
    ),
    emergency: optionalGroup('This many bounces pause the warm-up at once, in any mode.', {
      minBounces: optional(whole(1, 1_000), 'The minimum number of bounces.', defaults.emergency.minBounces),
      ratePpm: optional(share(1, allPpm), 'The minimum bounce rate.', shareText(defaults.emergency.ratePpm)),
      days: optional(whole(1, 7), 'Days that count together, today included.', defaults.emergency.days),
    }),
    maxInterventions: optionalGroup('A mailbox that breaches repeatedly is paused.', {
      count: optional(
        whole(1, 100),
        'Which intervention pauses the mailbox: 3 is the third.',
        defaults.maxInterventions.count,
      ),
      days: optional(whole(1, 366), 'Days over which interventions count.', defaults.maxInterventions.days),
    }),
    restore: optionalGroup('Warmwarden restores the earlier mode after a recovery that it started.', {
      enabled: optional(truth(), 'false: only a person restores the mode.', defaults.restore.enabled),
      days: optional(whole(1, 90), 'Days without a bounce.', defaults.restore.days),
      cleanVolume: optional(
        numeric(0, 10),
        'Emails without a bounce, in multiples of 1/limit of the earlier mode.',
        defaults.restore.cleanVolume,
      ),
    }),
    staleAfterDays: optional(whole(1, 30), 'Warmwarden does not act on older statistics.', defaults.staleAfterDays),
    breaker: optionalGroup(
      'The circuit breaker: on too many actions at once, Warmwarden holds them and alerts you.',
      {
        sharePpm: optional(
          share(1, allPpm),
          'Share of the running mailboxes at which it trips.',
          shareText(defaults.breaker.sharePpm),
        ),
        minMailboxes: optional(whole(1, 10_000), 'It never trips below this number.', defaults.breaker.minMailboxes),
        maxMailboxes: optional(whole(1, 10_000), 'It always trips at this number.', defaults.breaker.maxMailboxes),
        minDomains: optional(whole(1, 1_000), 'The minimum number of sending domains.', defaults.breaker.minDomains),
        windowMs: optional(
          duration(60_000),
          'The time within which actions count.',
          durationText(defaults.breaker.windowMs),
        ),
      },
      ascending('min_mailboxes', 'max_mailboxes'),
    ),
    limitsPpm: optionalGroup('Bounce limit of each mode.', {
      slow: limit('slow'),
      balanced: limit('balanced'),
      aggressive: limit('aggressive'),
      recovery: limit('recovery'),
    }),
    nearLimitPpm: optional(
      share(1, allPpm),
      'Share of the limit from which a mailbox is near it.',
      shareText(defaults.nearLimitPpm),
    ),
  },
  ascending('window_days', 'window_max_days'),
);
