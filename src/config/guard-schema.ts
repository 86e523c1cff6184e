// The keys of `guard:`, here and in overrides: shape, description and written default. What they mean: docs/guard.md.
import { z } from 'zod';
import { defaultPolicy, type Policy, type Ppm } from '../core/policy.ts';
import type { GuardSettings } from './config.ts';
import { duration, share, truth, whole } from './scalars.ts';
import { oneOf, optional, section } from './section.ts';

const policy: Policy = defaultPolicy;
const percent = (ppm: Ppm) => `${ppm / 10_000}%`;
const all: Ppm = 1_000_000;
/** The API gives at most 90 days of statistics. */
const maxStatsDays = 90;

const limit = (mode: keyof Policy['limitsPpm']) =>
  optional(share(1, all), percent(policy.limitsPpm[mode]), `Bounce rate that mode ${mode} must not exceed.`);

const guardKeys = section({
  enforce: optional(truth(), policy.enforce, 'false: decide, record and alert as usual, but never write.'),
  profile: optional(
    oneOf(['measured', 'literal']),
    'measured',
    'literal: min_bounces 1 and window_max_days 7, unless written; more false interventions.',
  ),
  window_days: optional(whole(1, maxStatsDays), policy.windowDays, 'Days over which bounces are counted.'),
  window_max_days: optional(
    whole(1, maxStatsDays),
    policy.windowMaxDays,
    'The most days over which bounces are counted: the window is extended until it holds 1/limit emails.',
  ),
  min_bounces: optional(whole(1, 1_000), policy.minBounces, 'Fewer bounces than this are never a breach.'),
  on_breach: optional(oneOf(['recovery', 'pause', 'alert']), policy.onBreach, 'What Warmwarden does on a breach.'),
  on_recovery_breach: optional(
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
      min_bounces: optional(whole(1, 1_000), policy.emergency.minBounces, 'The minimum number of bounces.'),
      rate: optional(share(1, all), percent(policy.emergency.ratePpm), 'The minimum bounce rate.'),
      days: optional(whole(1, 7), policy.emergency.days, 'Days that are counted together, today included.'),
    }),
    undefined,
    'This many bounces within a few days pause the warm-up at once, in any mode.',
  ),
  max_interventions: optional(
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
      enabled: optional(z.boolean(), policy.restore.enabled, 'false: only a person restores the mode.'),
      days: optional(whole(1, 90), policy.restore.days, 'Days without a bounce.'),
      clean_volume: optional(
        z.number().min(0).max(10),
        policy.restore.cleanVolume,
        'Emails without a bounce, as a multiple of 1/limit of the earlier mode.',
      ),
    }),
    undefined,
    'Restore the earlier mode after a recovery that Warmwarden started.',
  ),
  stale_after_days: optional(whole(1, 30), policy.staleAfterDays, 'Warmwarden does not act on older statistics.'),
  breaker: optional(
    section({
      share: optional(
        share(1, all),
        percent(policy.breaker.sharePpm),
        'The share of the running mailboxes at which it trips.',
      ),
      min_mailboxes: optional(whole(1, 10_000), policy.breaker.minMailboxes, 'It never trips below this number.'),
      max_mailboxes: optional(whole(1, 10_000), policy.breaker.maxMailboxes, 'It always trips at this number.'),
      min_domains: optional(whole(1, 1_000), policy.breaker.minDomains, 'The minimum number of sending domains.'),
      window: optional(duration(60_000), '60m', 'The time within which actions count together.'),
    }),
    undefined,
    'Too many mailboxes at once point to bad data: Warmwarden holds all actions and alerts you.',
  ),
  limits: optional(
    section({
      slow: limit('slow'),
      balanced: limit('balanced'),
      aggressive: limit('aggressive'),
      recovery: limit('recovery'),
    }),
    undefined,
    'Bounce rate that each warm-up mode must not exceed.',
  ),
  near_limit: optional(
    share(1, all),
    percent(policy.nearLimitPpm),
    'The share of the bounce limit from which a mailbox is near it.',
  ),
});

/** Input: the file's keys. Output: GuardSettings, with only what was written. */
export const guardSchema = guardKeys.transform(toSettings);

function toSettings(keys: z.output<typeof guardKeys>): GuardSettings {
  const { emergency, max_interventions: interventions, restore, breaker, limits } = keys;
  return written({
    enforce: keys.enforce,
    profile: keys.profile,
    windowDays: keys.window_days,
    windowMaxDays: keys.window_max_days,
    minBounces: keys.min_bounces,
    onBreach: keys.on_breach,
    onRecoveryBreach: keys.on_recovery_breach,
    burst: keys.burst,
    emergency:
      emergency && written({ minBounces: emergency.min_bounces, ratePpm: emergency.rate, days: emergency.days }),
    maxInterventions: interventions && written({ count: interventions.count, days: interventions.days }),
    restore: restore && written({ enabled: restore.enabled, days: restore.days, cleanVolume: restore.clean_volume }),
    staleAfterDays: keys.stale_after_days,
    breaker:
      breaker &&
      written({
        sharePpm: breaker.share,
        minMailboxes: breaker.min_mailboxes,
        maxMailboxes: breaker.max_mailboxes,
        minDomains: breaker.min_domains,
        windowMs: breaker.window,
      }),
    limitsPpm: limits && written(limits),
    nearLimitPpm: keys.near_limit,
  });
}

/** The object without its undefined keys. */
export function written<T extends object>(keys: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(keys).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>;
  };
}
