// GET /api/budget: what the key of each account may do, and how old each kind of data is.
import { z } from 'zod';
import type { Forecast } from '../../core/mailbox.ts';
import { secondMs } from '../../core/time.ts';
import { mendText, sumText } from '../../core/wording/forecast.ts';
import { agesOf, DataAges, type DataKind, dataKinds, inNeedFirst } from '../overview/budget.ts';
import { cursorOf, limitOf, pageAfter } from '../query.ts';
import type { RouteParts } from '../route-parts.ts';
import { at, account as name } from './example-facts.ts';
import { count, firstSweep, iso, listOf, moment, nextCursor, number, sweepJson, tellingOf, text } from './facts.ts';
import { fleetRoute } from './route.ts';

const forecast = z.strictObject({
  mailboxes: count,
  fits: z.boolean().describe('The limit is enough for the cadence.'),
  allowed_per_minute: number.describe('Requests that Warmwarden may make at present.'),
  needed_per_minute: number.describe('Requests that the cadence needs.'),
  used_per_minute: number.describe('Requests that Warmwarden makes at most, with spare ones (`poll.spare_share`).'),
  first_sweep_seconds: number.describe('How long it takes to read all mailboxes once, until each can be judged.'),
  remedy: z
    .strictObject({
      requests_per_minute: number.describe('A limit of the key that would be enough.'),
      stats_seconds: number.describe('Or a cadence for which the present limit is enough.'),
      warmup_seconds: number,
    })
    .nullable()
    .describe('null: it fits.'),
  text: text.describe('All of it in sentences.'),
});

const dataAge = z.strictObject({
  newest_at: moment.nullable(),
  oldest_at: moment.nullable(),
  never_read: count.describe('Mailboxes.'),
  max_age_seconds: number.nullable().describe('How old it gets with this cadence and this limit.'),
});

const accountBudget = z.strictObject({
  name: text,
  requests_per_minute: number.describe(
    'Requests that Warmwarden may make at present: the limit of the key less the headroom.',
  ),
  forecast: forecast.nullable().describe('null: not known yet.'),
  queue_length: count.describe('Polls that wait.'),
  oldest_due_at: moment.nullable(),
  throttled_last_hour: count.describe('Requests that the API refused in the last hour because there were too many.'),
  last_success_at: moment.nullable(),
  first_sweep: firstSweep,
  data: z
    .strictObject({ stats: dataAge, warmup: dataAge, detail: dataAge, dns: dataAge, blacklist: dataAge })
    .describe('How old each kind of data is.'),
});

const read = '2026-03-10T12:29:00.248Z';

const example = {
  name,
  requests_per_minute: 90,
  forecast: {
    mailboxes: 2_000,
    fits: false,
    allowed_per_minute: 90,
    needed_per_minute: 275,
    used_per_minute: 90,
    first_sweep_seconds: 2_700,
    remedy: { requests_per_minute: 306, stats_seconds: 2_760, warmup_seconds: 2_760 },
    text: '2,000 mailboxes at 90 requests a minute: the cadence needs 275 a minute; stats will be up to 46 min old. A key with 306 requests a minute would be enough (plan enterprise: 500). Or choose a cadence with stats every 46 min and warm-up every 46 min.',
  },
  queue_length: 6,
  oldest_due_at: '2026-03-10T17:29:00.000Z',
  throttled_last_hour: 0,
  last_success_at: '2026-03-10T17:29:00.000Z',
  first_sweep: null,
  data: Object.fromEntries(
    ['stats', 'warmup', 'detail', 'dns', 'blacklist'].map((kind) => [
      kind,
      { newest_at: at, oldest_at: read, never_read: 0, max_age_seconds: 2_760 },
    ]),
  ),
};

export const budgetRoute = fleetRoute({
  path: '/api/budget',
  id: 'listBudgets',
  summary: 'What the key of each account may do, what the cadence needs, and how old each kind of data is',
  query: { limit: limitOf('accounts', 100), cursor: cursorOf('whole', 'text') },
  shape: z.strictObject({
    at: moment,
    accounts: listOf(accountBudget).describe('Those whose limit is too small first, then by name.'),
    next_cursor: nextCursor,
  }),
  example: { at, accounts: [example], next_cursor: null },
  read: async (parts: Pick<RouteParts, 'fleet' | 'world' | 'timeZone'>, { limit, cursor: after }) => {
    const { fleet } = parts;
    const { rows, next } = pageAfter(fleet.accounts(), inNeedFirst, { after, limit });
    const ages = await agesOf(fleet, rows);
    const telling = tellingOf(parts);
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
    return { at: iso(telling.now), accounts, next_cursor: next };
  },
});

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
  return Object.fromEntries(dataKinds.map((one) => [one.kind, ofKind(one)])) as Record<
    DataKind['kind'],
    ReturnType<typeof ofKind>
  >;
}
