// `store copy` from a SQLite file into a real PostgreSQL: everything arrives, and nothing else is done.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { shapes } from '../../src/cli/shapes/shapes.ts';
import { closedBreaker } from '../../src/core/guard/breaker.ts';
import type { PostgresPlace } from '../../src/core/store-failure.ts';
import { Store } from '../../src/store/store.ts';
import { folderOfFile } from '../support/new-folder.ts';
import { TestPostgres } from '../support/postgres.ts';
import { Running } from '../support/process.ts';
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
  transitionOf,
  verdictOf,
} from './records.ts';
import { afterJudging, moveOf } from './shared-contract.ts';

const folder = folderOfFile();
const file = join(folder, 'store.db');
let postgres: TestPostgres;
beforeAll(async () => {
  postgres = await TestPostgres.start();
  await fill();
});
afterAll(async () => {
  await postgres[Symbol.asyncDispose]();
});

/** More rows than one statement takes, in most tables. */
async function fill(): Promise<void> {
  const store = await Store.open(file, now);
  const mailboxes = Array.from({ length: 250 }, (_, index) => arrivedMailbox(`m${index}`, { ...answers, memory }));
  await store.recordList({ ...emptyList, present: mailboxes });
  for (const mailbox of mailboxes) {
    const verdict = verdictOf();
    await store.recordAnswer({
      ...emptyAnswer,
      mailbox: { ...mailbox, verdict: { at: now, answer: verdict } },
      decisions: decided(verdict),
      actions: [actionOf(mailbox.id, { id: `action of ${mailbox.id}`, state: 'confirmed' })],
      alerts: { ...noAlerts, changed: [alertOf(mailbox.id)], transitions: [transitionOf(alertOf(mailbox.id))] },
    });
  }
  await store.recordBreaker(moveOf(closedBreaker, (state) => afterJudging(state, 'm1')).record);
  await store.recordSilence({ id: 's', match: {}, by: 'ann', reason: 'moving', from: now, until: now + 9 });
  await store.outbox.recordDigest({ deliveries: [], until: now });
  await store.close();
  // Litestream keeps two tables of its own in a file that it replicates.
  using database = new DatabaseSync(file);
  database.exec(
    'CREATE TABLE _litestream_seq (id INTEGER PRIMARY KEY, seq INTEGER); CREATE TABLE _litestream_lock (id INTEGER)',
  );
}

function copy(place: PostgresPlace, from = file): Running {
  const { user, host, port, database } = place;
  const to = `postgres://${user}@${host}:${port}/${database}`;
  const config = join(folder, `${database}.yaml`);
  writeFileSync(config, JSON.stringify({ store: { url: to, tls: 'off' } }));
  return new Running(['store', 'copy', '--from', `sqlite:${from}`, '--config', config, '--json']);
}

test('everything arrives, new rows continue after it, and a second copy is refused', async () => {
  const place = await postgres.database();
  await using copying = copy(place);
  expect([(await copying.ended).code, copying.stderr]).toEqual([
    0,
    'warning: Not copied, because Warmwarden did not make it: _litestream_lock and _litestream_seq.\n',
  ]);
  const { tables } = shapes['store copy'].parse(JSON.parse(copying.stdout));
  expect(tables).toContainEqual({ table: 'mailboxes', rows: 250 });
  const [before, after] = [await Store.open(file, now), await Store.open(place, now)];
  const [expected, found] = [await before.loadPicture(), await after.loadPicture()];
  const byId = (one: { id: string }, other: { id: string }) => (one.id < other.id ? -1 : 1);
  expect(found.mailboxes.toSorted(byId)).toEqual(expected.mailboxes.toSorted(byId));
  expect([found.breakers, found.breakers[0]?.state.entries.length]).toEqual([expected.breakers, 1]);
  expect(found.alerts).toHaveLength(250);
  expect([found.silences, await after.outbox.digestedUntil()]).toEqual([expected.silences, now]);
  const [first] = await after.outbox.unnotifiedTransitions(1);
  await after.recordAlerts({ ...noAlerts, transitions: [transitionOf(alertOf('m1'))] });
  expect((await after.outbox.unnotifiedTransitions(1_000)).at(-1)?.id).toBe((first?.id ?? 0) + 250);

  // Both are in use now: neither the file nor the database is touched.
  await using refused = copy(await postgres.database());
  expect((await refused.ended).code).toBe(1);
  expect(refused.stdout).toContain('is in use by process');
  await before.close();
  await using beside = copy(place);
  expect((await beside.ended).code).toBe(1);
  expect(beside.stdout).toContain('is in use by process');
  await after.close();
  await using again = copy(place);
  expect((await again.ended).code).toBe(1);
  expect(again.stdout).toContain('already holds data: copy into an empty database');
});
