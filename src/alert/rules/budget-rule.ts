// budget_too_small: the cadence asks for more requests than the budget has, so that data gets older than it should.

import type { Forecast } from '../../model/forecast.ts';
import type { AccountState } from '../../model/mailbox.ts';
import type { SweepProgress } from '../../model/sweep.ts';
import { type EpochMs, hourMs, minuteMs, secondMs } from '../../model/time.ts';
import { mendText, sumText } from '../../wording/forecast.ts';
import { spanText } from '../../wording/phrases.ts';
import { accountSubject, type Condition } from '../condition.ts';

/** The time that a fleet which is being moved in, or a 429 that is made up for, may take. */
const tooSmallForMs = 30 * minuteMs;

/** A first sweep that takes longer leaves mailboxes unguarded for too long to notify nobody. */
const longSweepMs = hourMs;

/** Unknown until the first mailbox list. `sweep`: the first one of the account, while it goes on. */
export function budgetTooSmall(
  { name, forecast }: AccountState,
  sweep: SweepProgress | undefined,
  now: EpochMs,
): Condition {
  const small = forecast !== null && !forecast.fits;
  const unguarded = small && sweep !== undefined && isLong(sweep, forecast, now);
  return {
    subject: accountSubject('budget_too_small', name),
    severity: unguarded ? 'warning' : 'info',
    active: forecast === null ? 'unknown' : small,
    forMs: tooSmallForMs,
    observations: 1,
    clearObservations: 1,
    facts: {
      title: unguarded
        ? `${name}: mailboxes are not guarded yet, because the first sweep takes over an hour`
        : small
          ? `${name}: the request budget is too small for the cadence`
          : `${name}: the cadence fits the budget`,
      sentences: small
        ? [
            ...(unguarded
              ? [
                  `At this rate limit it takes over an hour to read all mailboxes of account ${name} for the first time. Until Warmwarden has read the statistics and the warm-up of a mailbox, that mailbox is not guarded.`,
                ]
              : []),
            `${sumText(forecast)}.`,
            `Warm-up data will be up to ${spanText(forecast.oldestMs.warmup)} old.`,
            'Warmwarden acts on a breach later than the cadence promises. It still reads every mailbox, the riskiest first.',
            mendText(forecast),
          ]
        : [`Warmwarden polls account ${name} as often as configured.`],
      numbers: {
        mailboxes: forecast?.mailboxes ?? null,
        requests_per_minute: forecast?.allowedPerMinute ?? null,
        asked_per_minute: forecast ? Math.ceil(forecast.asksPerMinute) : null,
        stats_oldest_seconds: forecast ? Math.round(forecast.calmestMs / secondMs) : null,
      },
    },
  };
}

/** Whether the sweep takes that long from its beginning until the last mailbox can be judged. */
function isLong({ part, since, mailboxes, read }: SweepProgress, { firstSweepMs }: Forecast, now: EpochMs): boolean {
  if (part !== 'judging') return false;
  const leftMs = (firstSweepMs * (mailboxes - read)) / Math.max(1, mailboxes);
  return now - since + leftMs > longSweepMs;
}
