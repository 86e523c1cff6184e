// budget_too_small: the cadence, the API or another user of the key leaves too few requests, so data gets too old.

import type { AccountState, Forecast, SweepProgress } from '../../core/mailbox.ts';
import { type EpochMs, hourMs, secondMs } from '../../core/time.ts';
import { mendText, narrowAdvice, narrowText, slowText, sumText } from '../../core/wording/forecast.ts';
import { counted, spanText } from '../../core/wording/phrases.ts';
import { accountSubject, type Condition, condition } from '../condition.ts';

/** The mailboxes of a longer first sweep are unguarded for too long. */
const longSweepMs = hourMs;
/** Number of 429s per hour that are no coincidence despite the rate limit. */
const throttlesUntilShared = 3;

/** Fires after three 429s within an hour, and ends after an hour without one. */
export function keyShared(account: AccountState, now: EpochMs): Condition {
  const { name, throttledLastHour, requestsPerMinute, watchedSince } = account;
  const isQuiet = throttledLastHour === 0 && now - watchedSince >= hourMs;
  return condition(accountSubject('budget_too_small', name, 'shared key'), {
    severity: 'warning',
    forMs: 0,
    active: throttledLastHour >= throttlesUntilShared ? true : isQuiet ? false : 'unknown',
    firing: () => [
      `${name}: something else uses the key`,
      `The API answered 429 (too many requests) ${throttledLastHour} times within an hour, although Warmwarden stayed within its rate limit.`,
      `Either other tools use the same key, or its plan allows less than the configuration says. For now Warmwarden makes ${counted(requestsPerMinute, 'request')} a minute, so data gets older.`,
      'Give Warmwarden a key of its own, raise headroom, or correct plan or requests_per_minute.',
    ],
    ended: () => [`${name}: an hour without a 429`, `Account ${name} has its full request budget again.`],
    numbers: () => ({ throttled_last_hour: throttledLastHour, requests_per_minute: requestsPerMinute }),
  });
}

/** Unknown until the first mailbox list. `sweep` is the first sweep, while it is running. */
export function budgetTooSmall(account: AccountState, sweep: SweepProgress | undefined, now: EpochMs): Condition {
  const { name, forecast, requestsPerMinute } = account;
  const isSmall = forecast !== null && !forecast.fits;
  const isUnguarded = isSmall && sweep !== undefined && isLong(sweep, forecast, now);
  const slow = isSlowed(account) ? slowText(account) : isNarrow(forecast) ? narrowText(forecast) : null;
  const title = isUnguarded
    ? 'mailboxes are not guarded yet, because the first sweep takes over an hour'
    : slow !== null
      ? 'the API allows less than half of the planned requests'
      : 'the request budget is too small for the cadence';
  return condition(accountSubject('budget_too_small', name, 'cadence'), {
    severity: isUnguarded || slow !== null ? 'warning' : 'info',
    active: isSmall || slow !== null ? true : forecast === null ? 'unknown' : false,
    firing: () => [
      `${name}: ${title}`,
      slow,
      isUnguarded &&
        `At this rate limit it takes over an hour to read all mailboxes of account ${name} for the first time. Until Warmwarden has read the statistics and the warm-up of a mailbox, that mailbox is not guarded.`,
      forecast
        ? `${sumText(forecast)}.`
        : `For now Warmwarden makes ${counted(requestsPerMinute, 'request')} a minute on account ${name}.`,
      forecast && `Warm-up data will be up to ${spanText(forecast.oldestMs.warmup)} old.`,
      'Warmwarden acts on a breach later than the cadence promises. It still reads every mailbox, the riskiest first.',
      adviceOf(account),
    ],
    ended: () => [`${name}: the cadence fits the budget`, `Warmwarden polls account ${name} as often as configured.`],
    numbers: () => ({
      mailboxes: forecast?.mailboxes ?? null,
      requests_per_minute: forecast?.allowedPerMinute ?? requestsPerMinute,
      asked_per_minute: forecast ? Math.ceil(forecast.asksPerMinute) : null,
      stats_oldest_seconds: forecast ? Math.round(forecast.calmestMs / secondMs) : null,
    }),
  });
}

function adviceOf(account: AccountState): string {
  const { forecast } = account;
  if (isSlowed(account) || forecast === null)
    return 'Ask the warm-up service for the limit of the key, or correct plan or requests_per_minute.';
  return isNarrow(forecast) ? narrowAdvice : mendText(forecast);
}

/** After several 429s, keyShared reports the requests that they alone took away. */
function isSlowed({ isSlow, limitPerMinute, configuredPerMinute, throttledLastHour }: AccountState): boolean {
  return isSlow && (2 * limitPerMinute < configuredPerMinute || throttledLastHour < throttlesUntilShared);
}

function isNarrow(forecast: Forecast | null): forecast is Forecast {
  return forecast?.narrow != null && forecast.narrow.needsPerMinute > 2 * forecast.narrow.perMinute;
}

function isLong({ since, mailboxes, read }: SweepProgress, { firstSweepMs }: Forecast, now: EpochMs): boolean {
  const leftMs = (firstSweepMs * (mailboxes - read)) / Math.max(1, mailboxes);
  return read < mailboxes && now - since + leftMs > longSweepMs;
}
