// GET /api/budget (the budget of each key, the age of the data) and GET /api/configuration (settings, no secrets).
import { z } from 'zod';
import type { AccountState, Forecast, MailboxState } from '../../core/mailbox.ts';
import { type EpochMs, secondMs } from '../../core/time.ts';
import { mendText, sumText } from '../../core/wording/forecast.ts';
import { cursorOf, keyText, limitOf, means, oneOf, pageAfter, upTo } from '../query.ts';
import type { RouteParts, ShownSetting } from '../route-parts.ts';
import { answerTimeOf, count, firstSweep, listOf, moment, nextCursor, number, sweepFacts, text } from './facts.ts';
import { fleetRoute } from './route.ts';

/** Kinds of data about a mailbox, in people's words, with the route that reads each. */
export const dataKinds = [
  { kind: 'stats', word: 'Statistics', route: 'stats' },
  { kind: 'warmup', word: 'Warm-up', route: 'warmup' },
  { kind: 'detail', word: 'Connection', route: 'mailbox' },
  { kind: 'dns', word: 'DNS', route: 'dns' },
  { kind: 'blacklist', word: 'Blacklists', route: 'blacklist' },
] as const;

export type DataKind = (typeof dataKinds)[number];

export interface DataAge {
  oldest: EpochMs | null;
  newest: EpochMs | null;
  unread: number;
}

export function dataAges(mailboxes: Iterable<MailboxState>): Readonly<Record<DataKind['kind'], DataAge>> {
  const age = (): DataAge => ({ oldest: null, newest: null, unread: 0 });
  const ages = { stats: age(), warmup: age(), detail: age(), dns: age(), blacklist: age() };
  for (const mailbox of mailboxes) {
    for (const { kind } of dataKinds) {
      const [known, at] = [ages[kind], mailbox[kind]?.at ?? null];
      if (at === null) known.unread += 1;
      else {
        known.oldest = Math.min(known.oldest ?? at, at);
        known.newest = Math.max(known.newest ?? at, at);
      }
    }
  }
  return ages;
}

/** Sort key: accounts whose budget is too small come first, then by name. */
export function inNeedFirst({ forecast, name }: AccountState): readonly [number, string] {
  return [forecast?.fits === false ? 0 : 1, name];
}

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

export const budgetRoute = fleetRoute({
  route: 'GET /api/budget',
  id: 'listBudgets',
  summary: 'Request budgets, age of data',
  description: 'What the key of each account may do, what the cadence needs, and how old each kind of data is.',
  query: { limit: limitOf('accounts', 100), cursor: cursorOf(z.int(), keyText) },
  shape: z.strictObject({
    at: moment,
    accounts: listOf(accountBudget).describe('Those whose limit is too small first, then by name.'),
    next_cursor: nextCursor,
  }),
  read: async (parts: Pick<RouteParts, 'fleet' | 'world' | 'timeZone'>, { limit, cursor: after }) => {
    const { fleet } = parts;
    const { rows, next } = pageAfter(fleet.accounts(), inNeedFirst, { after, limit });
    const time = answerTimeOf(parts);
    const accounts = rows.map((account) => ({
      ...account,
      forecast: account.forecast && forecastFacts(account.forecast),
      firstSweep: sweepFacts(fleet.sweep(account.name), time),
      data: dataFacts(dataAges(fleet.mailboxesOf(account.name)), account.forecast),
    }));
    return { at: time.now, accounts, nextCursor: next };
  },
});

function forecastFacts(forecast: Forecast) {
  const { mend } = forecast;
  return {
    ...forecast,
    neededPerMinute: forecast.asksPerMinute,
    firstSweepSeconds: forecast.firstSweepMs / secondMs,
    remedy: mend && {
      requestsPerMinute: mend.requestsPerMinute,
      statsSeconds: mend.statsMs / secondMs,
      warmupSeconds: mend.warmupMs / secondMs,
    },
    text: [`${sumText(forecast)}.`, mendText(forecast)].filter(Boolean).join(' '),
  };
}

function dataFacts(ages: ReturnType<typeof dataAges>, forecast: Forecast | null) {
  const ofKind = ({ kind, route }: DataKind) => {
    const { oldest, newest, unread } = ages[kind];
    return {
      newestAt: newest,
      oldestAt: oldest,
      neverRead: unread,
      maxAgeSeconds: forecast && forecast.oldestMs[route] / secondMs,
    };
  };
  return Object.fromEntries(dataKinds.map((one) => [one.kind, ofKind(one)])) as Record<
    DataKind['kind'],
    ReturnType<typeof ofKind>
  >;
}

export interface SettingSelection {
  readonly text: string;
  readonly changedOnly: boolean;
}

export function settingsThat(settings: readonly ShownSetting[], { text, changedOnly }: SettingSelection) {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  return settings.filter(
    ({ name, value, from }) =>
      (!changedOnly || from !== 'default') &&
      words.every((word) => name.toLowerCase().includes(word) || value.toLowerCase().includes(word)),
  );
}

const filter = { q: means('Words that the name or the value must contain.', upTo(200)) };
/** Query of the page, whose form sends nothing for a box that is not ticked. */
export const settingParameters = { ...filter, changed: oneOf('only') };

const settingKey = ({ name }: ShownSetting) => [name];

export const configurationRoute = fleetRoute({
  route: 'GET /api/configuration',
  id: 'listSettings',
  summary: 'Settings in force',
  description: 'Each setting with its value and the place where it is set. Secrets are hidden.',
  query: {
    ...filter,
    changed: means('`true`: only what is not the default.', oneOf('true', 'false')),
    limit: limitOf('settings', 100),
    cursor: cursorOf(keyText),
  },
  shape: z.strictObject({
    total: count.describe('How many settings match.'),
    settings: listOf(
      z.strictObject({
        name: text.describe('For example `guard.min_bounces`.'),
        value: text.describe('As the file would have it. Secrets are hidden.'),
        from: text.describe('`default`, or where it is set.'),
      }),
    ).describe('By name.'),
    next_cursor: nextCursor,
  }),
  read: ({ settings }: Pick<RouteParts, 'settings'>, { q = '', changed, limit, cursor: after }) => {
    const chosen = settingsThat(settings(), { text: q.trim(), changedOnly: changed === 'true' });
    const { rows, next } = pageAfter(chosen, settingKey, { after, limit });
    return { total: chosen.length, settings: rows, nextCursor: next };
  },
});
