// budget_too_small: the cadence asks for more requests than the budget has, or the API allows less than half of what is planned, so
// that data gets older than it should.

import type { AccountState, Forecast, SweepProgress } from '../../core/mailbox.ts';
import { type EpochMs, hourMs, minuteMs, secondMs } from '../../core/time.ts';
import { mendText, narrowAdvice, narrowText, slowText, sumText } from '../../core/wording/forecast.ts';
import { counted, spanText } from '../../core/wording/phrases.ts';
import { accountSubject, type Condition } from '../condition.ts';

/** The time that a fleet which is being moved in, or a 429 that is made up for, may take. People know within ten minutes. */
const tooSmallForMs = 4 * minuteMs;

/** A first sweep that takes longer leaves mailboxes unguarded for too long to notify nobody. */
const longSweepMs = hourMs;

/** From this number of 429s an hour on, budget_too_small reports them: in spite of our counting they are no chance. */
export const throttlesUntilShared = 3;

/** Unknown until the first mailbox list. `sweep`: the first one of the account, while it goes on. */
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

/** How many requests there are, and how old the data gets. */
function sumOf({ name, forecast, requestsPerMinute }: AccountState): readonly string[] {
  if (forecast === null)
    return [`For now Warmwarden makes ${counted(requestsPerMinute, 'request')} a minute on account ${name}.`];
  return [`${sumText(forecast)}.`, `Warm-up data will be up to ${spanText(forecast.oldestMs.warmup)} old.`];
}

/** The rule budget_too_small reports the requests that 429s alone took away, once there are several. */
function isSlowed({
  isSlow = false,
  limitPerMinute,
  configuredPerMinute = limitPerMinute,
  ...account
}: AccountState): boolean {
  const byLimit = 2 * limitPerMinute < configuredPerMinute;
  return isSlow && (byLimit || account.throttledLastHour < throttlesUntilShared);
}

/** The cadence needs more than twice of what the API allows for some kinds of answers. */
function isNarrow(forecast: Forecast | null): forecast is Forecast {
  return forecast?.narrow != null && forecast.narrow.needsPerMinute > 2 * forecast.narrow.perMinute;
}

/** Whether the sweep takes that long from its beginning until the last mailbox can be judged. */
function isLong({ part, since, mailboxes, read }: SweepProgress, { firstSweepMs }: Forecast, now: EpochMs): boolean {
  if (part !== 'judging') return false;
  const leftMs = (firstSweepMs * (mailboxes - read)) / Math.max(1, mailboxes);
  return now - since + leftMs > longSweepMs;
}
