// budget_too_small: the cadence asks for more requests than the budget has, so that data gets older than it should.

import type { AccountState } from '../../model/mailbox.ts';
import { minuteMs, secondMs } from '../../model/time.ts';
import { mendText, sumText } from '../../wording/forecast.ts';
import { spanText } from '../../wording/phrases.ts';
import { accountSubject, type Condition } from '../condition.ts';

/** The time that a fleet which is being moved in, or a 429 that is made up for, may take. */
const tooSmallForMs = 30 * minuteMs;

/** Unknown until the first mailbox list. */
export function budgetTooSmall({ name, forecast }: AccountState): Condition {
  const small = forecast !== null && !forecast.fits;
  return {
    subject: accountSubject('budget_too_small', name),
    severity: 'info',
    active: forecast === null ? 'unknown' : small,
    forMs: tooSmallForMs,
    observations: 1,
    clearObservations: 1,
    facts: {
      title: small
        ? `${name}: the request budget is too small for the cadence`
        : `${name}: the cadence fits the budget`,
      sentences: small
        ? [
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
