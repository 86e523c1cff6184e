// Sentences about the age of the data and slow accounts.
import type { Route } from '../answers.ts';
import type { AccountState, Forecast, SweepProgress } from '../mailbox.ts';
import { planLimits } from '../policy.ts';
import { dayMs, type EpochMs } from '../time.ts';
import { counted, momentText, numberText, roughSpanText, spanText, timeText } from './phrases.ts';

const nothingGuarded =
  'No mailbox of this account is guarded: its mailbox list is empty, or mailboxes.include and mailboxes.exclude select none';

/** Returns one sentence without a full stop. */
export function sumText({ mailboxes, allowedPerMinute, asksPerMinute, ...forecast }: Forecast): string {
  if (mailboxes === 0) return nothingGuarded;
  const { oldestMs, calmestMs, usedPerMinute, mend } = forecast;
  // Rounding must not hide an excess.
  const asked = Math.max(Math.round(asksPerMinute), mend === null ? 0 : allowedPerMinute + 1);
  const sum = `${counted(mailboxes, 'mailbox', 'mailboxes')} at ${counted(allowedPerMinute, 'request')} a minute: the cadence needs ${numberText(asked)} a minute`;
  const used = Math.round(usedPerMinute);
  const spare = asked < used && used < allowedPerMinute ? `, extra polls take up to ${numberText(used - asked)}` : '';
  const calm = calmestMs > oldestMs.stats ? `, of the mailboxes at least risk ${spanText(calmestMs)}` : '';
  return `${sum}${spare}; stats are at worst ${spanText(oldestMs.stats)} old${calm}`;
}

const kindWords: Readonly<Record<Route, string>> = {
  health: 'health',
  mailboxes: 'the mailbox list',
  stats: 'statistics',
  warmup: 'warm-up',
  mailbox: 'connections',
  dns: 'DNS',
  blacklist: 'blacklists',
};

export const narrowAdvice = 'Choose a slower cadence for it in poll, or ask the warm-up service for a higher limit.';

/** Kinds with too few requests, or an empty text. */
export function narrowText({ narrow }: Pick<Forecast, 'narrow'>): string {
  if (!narrow) return '';
  const kinds = narrow.routes.map((route) => kindWords[route]).join(' and ');
  return `The API allows ${counted(narrow.perMinute, 'request')} a minute for ${kinds} (X-RateLimit-Limit); the cadence needs ${numberText(Math.ceil(narrow.needsPerMinute))}.`;
}

export function slowText({ limitPerMinute, configuredPerMinute, forecast }: AccountState): string {
  if (limitPerMinute < configuredPerMinute)
    return `The API says that it allows ${counted(limitPerMinute, 'request')} a minute (X-RateLimit-Limit); the configuration says ${numberText(configuredPerMinute)}.`;
  return forecast?.isHeldBack === false
    ? 'The API has answered 429 (too many requests).'
    : 'For most of the last ten minutes the API let nothing start: it answered 429 (too many requests) with a long wait.';
}

export function mendText({ mend, isHeldBack, narrow }: Forecast): string {
  if (narrow) return `${narrowText({ narrow })} ${narrowAdvice}`;
  if (mend === null) return '';
  if (isHeldBack)
    return 'Most of the time the API answers 429 (too many requests), although Warmwarden stays within its rate limit. Find out what else uses the key, or correct plan or requests_per_minute.';
  const plan = Object.entries(planLimits).find(([, limit]) => limit >= mend.requestsPerMinute);
  const byPlan = plan
    ? `A key with ${counted(mend.requestsPerMinute, 'request')} a minute would be enough (plan ${plan[0]}: ${plan[1]})`
    : `It would take ${counted(mend.requestsPerMinute, 'request')} a minute, more than any plan gives one key: spread the mailboxes over several accounts`;
  return `${byPlan}. Or poll stats every ${spanText(mend.statsMs)} and warm-up data every ${spanText(mend.warmupMs)}.`;
}

export interface Reading {
  readonly now: EpochMs;
  readonly zone: string;
}

/** `First sweep of acme: 340 of 1,000 mailboxes read, done in about 11 min (23:41 UTC)` */
export function sweepText({ account, mailboxes, read, doneAt }: SweepProgress, { now, zone }: Reading): string {
  const all = counted(mailboxes, 'mailbox', 'mailboxes');
  const allRead = read === mailboxes && mailboxes > 0;
  // Breaches must be seen twice.
  const counts = allRead
    ? `${mailboxes === 1 ? '' : 'all '}${all} read, second readings`
    : `${numberText(read)} of ${all} read,`;
  return `First sweep of ${account}: ${counts} ${doneText(doneAt, { now, zone })}`;
}

/** `First sweep of 3 accounts: ...` */
export function sweepsText(sweeps: readonly SweepProgress[], reading: Reading): string {
  const [first] = sweeps;
  if (!first) return '';
  const ends = sweeps.flatMap(({ doneAt }) => doneAt ?? []);
  const all = {
    ...first,
    account: sweeps.length === 1 ? first.account : counted(sweeps.length, 'account'),
    mailboxes: sweeps.reduce((sum, { mailboxes }) => sum + mailboxes, 0),
    read: sweeps.reduce((sum, { read }) => sum + read, 0),
    doneAt: ends.length === 0 ? null : Math.max(...ends),
  };
  return sweepText(all, reading);
}

/** `done in about 11 min (23:41 UTC)`, with the date unless it is near. */
function doneText(doneAt: EpochMs | null, { now, zone }: Reading): string {
  if (doneAt === null) return 'waiting for the API to answer';
  const leftMs = Math.max(0, doneAt - now);
  const time = leftMs < dayMs ? timeText(doneAt, zone) : momentText(doneAt, zone);
  return `done in about ${roughSpanText(leftMs)} (${time})`;
}
