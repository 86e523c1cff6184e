// Recipes over a store in PostgreSQL: each view and each shipped SELECT has the rows that it has over the same store in SQLite.
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { closedBreaker } from '../../src/core/guard/breaker.ts';
import { mailboxKey } from '../../src/core/mailbox.ts';
import type { StorePlace } from '../../src/core/store-failure.ts';
import { readCatalogue } from '../../src/recipes/catalogue.ts';
import { views } from '../../src/recipes/views.ts';
import { Store } from '../../src/store/store.ts';
import { sampleIncident } from '../alerts/incident-samples.ts';
import {
  actionOf,
  alertOf,
  answers,
  arrivedMailbox,
  decided,
  emptyAnswer,
  emptyList,
  memory,
  noAlerts,
  now,
  verdictOf,
} from '../store/records.ts';
import { folderOfFile } from '../support/new-folder.ts';
import { TestPostgres } from '../support/postgres.ts';
import { noFacts, selected } from '../support/selected.ts';

const folder = folderOfFile();
const postgres = await TestPostgres.start();
afterAll(() => postgres[Symbol.asyncDispose]());
const places = [join(folder, 'store.db'), await postgres.database()] as const;
beforeAll(async () => {
  for (const place of places) await fill(place);
});

async function fill(place: StorePlace): Promise<void> {
  const store = await Store.open(place, now);
  const mailboxes = ['m1', 'm2', 'm3'].map((id) => arrivedMailbox(id, { ...answers, memory }));
  await store.recordList({ ...emptyList, present: mailboxes, left: [arrivedMailbox('gone')] });
  let before = closedBreaker;
  for (const [index, mailbox] of mailboxes.entries()) {
    for (const answered of ['stats', 'warmup', 'mailbox', 'dns', 'blacklist'] as const) {
      const reason = (['no_data', 'ok', 'already_paused'] as const)[index] ?? 'ok';
      const verdict = verdictOf({ sent: 100 + index, reason });
      const state = { ...before };
      await store.recordAnswer({
        ...emptyAnswer,
        mailbox: { ...mailbox, verdict: { at: now + index, answer: verdict } },
        answered: [answered],
        decisions: decided(verdict, { at: now + index, days: [['2026-03-10', 12, 1]] }),
        actions: answered === 'stats' ? [actionOf(mailbox.id, { id: `a${index}`, state: 'confirmed' })] : [],
        alerts: { ...noAlerts, changed: [alertOf(mailbox.id)] },
        breaker: { api: 'https://api.example', state, before },
      });
      before = state;
    }
  }
  const sent = { id: 'd', channel: 'ops', group: 'g', payload: '{}', title: 'a title', alerts: [] };
  await store.outbox.recordDeliveries({ transitionIds: [], deliveries: [sent], incidents: [sampleIncident(7)], now });
  await store.close();
}

async function rowsOf(place: StorePlace, select: string, parameters = {}) {
  const tags = { [mailboxKey('acme', 'm1')]: ['client=north', 'vip'] };
  const {
    columns: _,
    rows,
    ...end
  } = await selected(place, select, {
    parameters: { now: new Date(now).toISOString(), ...parameters },
    integers: Object.keys(parameters),
    facts: { ...noFacts, tags },
  });
  return { end, rows };
}

/** The same over both. */
async function both(select: string, parameters = {}) {
  const [lite, server] = [await rowsOf(places[0], select, parameters), await rowsOf(places[1], select, parameters)];
  expect(server).toEqual(lite);
  expect(lite.end).toEqual({ truncated: false, error: null });
  return lite.rows;
}

test.each(views.map(({ name }) => name))('the view %s', async (name) => {
  expect((await both(`SELECT * FROM ${name} ORDER BY 1, 2, 3`)).length).toBeGreaterThan(0);
});

test('every shipped recipe', async () => {
  const { definitions } = await readCatalogue('/nowhere');
  expect(definitions.size).toBeGreaterThan(10);
  for (const { select, recipe } of definitions.values()) {
    const parameters = recipe.parameters.map(({ name, default: value }) => [name, value ?? 'acme']);
    await both(select, Object.fromEntries(parameters));
  }
});

test('a count without a column, older decisions, and two views of one table', async () => {
  expect(await both('SELECT count(*) FROM mailboxes')).toEqual([[3]]);
  expect(await both('SELECT count(*) FROM decisions')).toEqual([[15]]);
  await both(
    'SELECT m.email, count(*) FROM mailboxes m JOIN decisions d USING (account, mailbox_id) GROUP BY 1 ORDER BY 1',
  );
});

test('a PostgreSQL that is away is said in its own words', async () => {
  const { end } = await rowsOf({ ...places[1], port: 1 }, 'SELECT * FROM mailboxes');
  expect(end.error).toMatch(/does not answer/);
  expect(end.error).not.toContain('SQLite');
});
