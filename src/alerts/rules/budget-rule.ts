// budget_too_small: the cadence needs more requests than the budget has, or the API allows less than half of the
// planned requests, so data gets older than it should.

import type { AccountState, Forecast, SweepProgress } from '../../core/mailbox.ts';
import { type EpochMs, hourMs, minuteMs, secondMs } from '../../core/time.ts';
import { mendText, narrowAdvice, narrowText, slowText, sumText } from '../../core/wording/forecast.ts';
import { counted, spanText } from '../../core/wording/phrases.ts';
import { accountSubject, type Condition } from '../condition.ts';

/** Time that moving in a fleet, or catching up after a 429, may take. People are notified within ten minutes. */
const tooSmallForMs = 4 * minuteMs;

/** Length of a first sweep from which on people are notified, because its mailboxes are unguarded for too long. */
const longSweepMs = hourMs;

/**
 * Number of 429s per hour from which on budget_too_small reports them. So many despite the rate limit are no
 * coincidence.
 */
export const throttlesUntilShared = 3;

/**
 * budget_too_small, cadence. Unknown until the first mailbox list. `sweep` is the first sweep of the account, while it
 * is running.
 */
export function budgetTooSmall(account: AccountState, sweep: SweepProgress | undefined, now: EpochMs): Condition {
  const { name, forecast, requestsPerMinute } = account;
  const small = forecast !== null && !forecast.fits;
  const unguarded = small && sweep !== undefined && isLong(sweep, forecast, now);
  const slow = isSlowed(account) ? slowText(account) : isNarrow(forecast) ? narrowText(forecast) : null;
  return {
    subject: accountSubject('budget_too_small', name, 'cadence'),
    severity: unguarded || slow !== null ? 'warning' : 'info',
    active: small || slow !== null ? true : forecast === null ? 'unknown' : false,
    forMs: tooSmallForMs,
    observations: 1,
    clearObservations: 1,
    facts: {
      title: unguarded
        ? `${name}: mailboxes are not guarded yet, because the first sweep takes over an hour`
        : slow !== null
          ? `${name}: the API allows less than half of the planned requests`
          : small
            ? `${name}: the request budget is too small for the cadence`
            : `${name}: the cadence fits the budget`,
      sentences:
        small || slow !== null
          ? [
              ...(slow === null ? [] : [slow]),
              ...(unguarded
                ? [
                    `At this rate limit it takes over an hour to read all mailboxes of account ${name} for the first time. Until Warmwarden has read the statistics and the warm-up of a mailbox, that mailbox is not guarded.`,
                  ]
                : []),
              ...sumOf(account),
              'Warmwarden acts on a breach later than the cadence promises. It still reads every mailbox, the riskiest first.',
              adviceOf(account),
            ]
          : [`Warmwarden polls account ${name} as often as configured.`],
      numbers: {
        mailboxes: forecast?.mailboxes ?? null,
        requests_per_minute: forecast?.allowedPerMinute ?? requestsPerMinute,
        asked_per_minute: forecast ? Math.ceil(forecast.asksPerMinute) : null,
        stats_oldest_seconds: forecast ? Math.round(forecast.calmestMs / secondMs) : null,
      },
    },
  };
}

function adviceOf(account: AccountState): string {
  const { forecast } = account;
  if (isSlowed(account) || forecast === null) return correctLimit;
  return isNarrow(forecast) ? narrowAdvice : mendText(forecast);
}

const correctLimit = 'Ask the provider of the API for the limit of the key, or correct plan or requests_per_minute.';

/** Describes the number of requests and the resulting age of the data. */
function sumOf({ name, forecast, requestsPerMinute }: AccountState): readonly string[] {
  if (forecast === null)
    return [`For now Warmwarden makes ${counted(requestsPerMinute, 'request')} a minute on account ${name}.`];
  return [`${sumText(forecast)}.`, `Warm-up data will be up to ${spanText(forecast.oldestMs.warmup)} old.`];
}

/**
 * Returns true if the API slows the account down. Once there are several 429s, keyShared reports the requests that they
 * alone took away.
 */
function isSlowed({
  isSlow = false,
  limitPerMinute,
  configuredPerMinute = limitPerMinute,
  ...account
}: AccountState): boolean {
  const byLimit = 2 * limitPerMinute < configuredPerMinute;
  return isSlow && (byLimit || account.throttledLastHour < throttlesUntilShared);
}

/** Returns true if the cadence needs more than twice what the API allows for some kinds of answers. */
function isNarrow(forecast: Forecast | null): forecast is Forecast {
  return forecast?.narrow != null && forecast.narrow.needsPerMinute > 2 * forecast.narrow.perMinute;
}

/**
 * Returns true if the sweep takes longer than `longSweepMs` from its beginning until the last mailbox can be judged.
 */
function isLong({ part, since, mailboxes, read }: SweepProgress, { firstSweepMs }: Forecast, now: EpochMs): boolean {
  if (part !== 'judging') return false;
  const leftMs = (firstSweepMs * (mailboxes - read)) / Math.max(1, mailboxes);
  return now - since + leftMs > longSweepMs;
}
