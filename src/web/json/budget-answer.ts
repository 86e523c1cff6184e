// GET /api/budget, and what the page of the budget is read from: what each key may do, and how old each kind of data is.
import type { Fleet } from '../../core/fleet/fleet.ts';
import type { AccountState, Forecast, MailboxState } from '../../core/mailbox.ts';
import { secondMs } from '../../core/time.ts';
import { mendText, sumText } from '../../core/wording/forecast.ts';
import { inTurns, turnAfter } from '../../world/world.ts';
import { DataAges, type DataKind, dataKinds, inNeedFirst } from '../page/budget-page.ts';
import { cursorOf, pageAfter, readQuery, whole } from '../query.ts';
import { refusalJson } from '../refusals.ts';
import type { RouteParts } from '../route-parts.ts';
import { iso, sweepJson } from './json-answers.ts';

const usualLimit = 100;
export const budgetParameters = { limit: whole(1, 1_000), cursor: cursorOf('whole', 'text') };

/** By the names of the accounts. In slices: a large account is not gone through at once. */
export async function agesOf(fleet: Fleet, accounts: readonly AccountState[]): Promise<ReadonlyMap<string, DataAges>> {
  const ages = new Map<string, DataAges>();
  for (const { name } of accounts) {
    const known = new DataAges();
    const mailboxes = [...fleet.mailboxesOf(name)];
    await turnAfter(mailboxes, 'patient');
    const add = (piece: readonly MailboxState[]) => {
      for (const mailbox of piece) known.add(mailbox);
    };
    await inTurns(mailboxes, add, { urgency: 'patient' });
    ages.set(name, known);
  }
  return ages;
}

/** `asked`: `limit` and `cursor`. */
export async function budgetAnswer(
  { fleet, world, timeZone }: Pick<RouteParts, 'fleet' | 'world' | 'timeZone'>,
  asked: URLSearchParams,
) {
  const query = readQuery(budgetParameters, asked);
  if ('wrong' in query) return refusalJson('bad_request', query.wrong);
  const { limit = usualLimit, cursor: after } = query.read;
  const { rows, next } = pageAfter(fleet.accounts(), inNeedFirst, { after, limit });
  const ages = await agesOf(fleet, rows);
  const telling = { now: world.clock.now(), zone: timeZone() };
  const accounts = rows.map((account) => ({
    name: account.name,
    requests_per_minute: account.requestsPerMinute,
    forecast: account.forecast && forecastJson(account.forecast),
    queue_length: account.queueLength,
    oldest_due_at: iso(account.oldestDueAt),
    throttled_last_hour: account.throttledLastHour,
    last_success_at: iso(account.lastSuccessAt),
    first_sweep: sweepJson(fleet.sweep(account.name), telling),
    data: dataJson(ages.get(account.name) ?? new DataAges(), account.forecast),
  }));
  return { status: 200, body: { at: iso(telling.now), accounts, next_cursor: next } } as const;
}

function forecastJson(forecast: Forecast) {
  const { mailboxes, allowedPerMinute, asksPerMinute, usedPerMinute, fits, firstSweepMs, mend } = forecast;
  return {
    mailboxes,
    fits,
    allowed_per_minute: allowedPerMinute,
    needed_per_minute: asksPerMinute,
    used_per_minute: usedPerMinute ?? allowedPerMinute,
    first_sweep_seconds: firstSweepMs / secondMs,
    remedy: mend && {
      requests_per_minute: mend.requestsPerMinute,
      stats_seconds: mend.statsMs / secondMs,
      warmup_seconds: mend.warmupMs / secondMs,
    },
    text: [`${sumText(forecast)}.`, mendText(forecast)].filter(Boolean).join(' '),
  };
}

function dataJson(ages: DataAges, forecast: Forecast | null) {
  const ofKind = ({ kind, route }: DataKind) => {
    const { oldest, newest, unread } = ages.of(kind);
    return {
      newest_at: iso(newest),
      oldest_at: iso(oldest),
      never_read: unread,
      max_age_seconds: forecast && forecast.oldestMs[route] / secondMs,
    };
  };
  return Object.fromEntries(dataKinds.map((one) => [one.kind, ofKind(one)]));
}
