// What is old is forgotten in small steps, and nothing that is still needed: whatever the store holds.
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import fc from 'fast-check';
import { expect, onTestFinished, test } from 'vitest';
import { dayMs } from '../../src/core/time.ts';
import { Store } from '../../src/store/store.ts';
import { actionOf, alertOf, arrivedMailbox, memory, now, transitionOf, verdictOf } from './records.ts';

const retention = {
  ...{ decisionsMs: 40 * dayMs, deliveriesMs: 10 * dayMs, changesMs: 40 * dayMs },
  ...{ observationsMs: 10 * dayMs, runsMs: 10 * dayMs, departedMs: 40 * dayMs },
};
const auditMs = 5 * 366 * dayMs;

function newPath(): string {
  const folder = mkdtempSync(join(tmpdir(), 'warmwarden-upkeep-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return join(folder, 'warmwarden.db');
}

async function keepSmall(store: Store): Promise<number> {
  let steps = 0;
  for (const duty of store.duties({ now, retention })) {
    do steps += 1;
    while (await duty.step());
  }
  return steps;
}

/** Around every retention, and around the audit log's. */
const age = fc.constantFrom(0, 1, 9, 11, 39, 41, 400, 1_829, 1_831, 4_000).map((days) => days * dayMs);
const mailbox = fc.constantFrom('m1', 'm2', 'm3', 'm4', 'gone');

const contents = fc.record({
  mailboxes: fc.uniqueArray(fc.record({ id: mailbox, left: fc.option(age), claim: fc.option(fc.nat(9)) }), {
    selector: ({ id }) => id,
  }),
  actions: fc.array(
    fc.record({
      ...{ mailbox, age },
      state: fc.constantFrom('planned', 'open', 'confirmed', 'refused', 'unconfirmed', 'dropped'),
    }),
    { maxLength: 10 },
  ),
  decisions: fc.array(fc.record({ mailbox, age }), { maxLength: 10 }),
  changes: fc.array(fc.record({ mailbox, age }), { maxLength: 5 }),
  deliveries: fc.array(
    fc.record({
      age,
      state: fc.constantFrom('pending', 'sent', 'dead', 'replaced'),
    }),
    { maxLength: 8 },
  ),
  transitions: fc.array(fc.record({ age, notified: fc.constantFrom(0, 1) }), { maxLength: 5 }),
  alerts: fc.uniqueArray(mailbox),
  commands: fc.array(fc.record({ age, result: fc.option(fc.constant('done')) }), { maxLength: 8 }),
  silences: fc.array(fc.integer({ min: -3, max: 3 }), { maxLength: 4 }),
});
type Contents = typeof contents extends fc.Arbitrary<infer Value> ? Value : never;

/** A claim that rests on an action from before the audit log's retention, with a newer one after it. */
const oldClaim: Contents = {
  mailboxes: [{ id: 'm1', left: null, claim: 0 }],
  actions: [4_000, 1_900].map((days) => ({ mailbox: 'm1', age: days * dayMs, state: 'confirmed' })),
  ...{ decisions: [], changes: [], deliveries: [], transitions: [], alerts: [], commands: [], silences: [] },
};

const oldestFirst = <One extends { readonly age: number }>(all: readonly One[]) =>
  all.toSorted((a, b) => b.age - a.age);

function fill(database: DatabaseSync, what: Contents): void {
  const insert = (table: string, row: Record<string, string | number | null>) => {
    const columns = Object.keys(row);
    const places = columns.map(() => '?').join(', ');
    database.prepare(`INSERT INTO ${table} (${columns.join(', ')}) VALUES (${places})`).run(...Object.values(row));
  };
  const of = (mailbox_id: string) => ({ account: 'acme', mailbox_id });
  database.exec('BEGIN');
  for (const { id, left, claim } of what.mailboxes) {
    const claimed = claim === null ? null : { ...memory.claim, kind: 'pause', actionId: `a${claim}`, under: null };
    insert('mailboxes', {
      ...of(id),
      ...{ email: `${id}@one.example`, first_seen_at: 0, missing_lists: 0, left_at: left === null ? null : now - left },
      memory: JSON.stringify({ ...memory, claim: claimed }),
    });
    const entry = JSON.stringify(arrivedMailbox(id).entry.answer);
    for (const route of ['mailboxes', 'dns'])
      insert('observations', { ...of(id), route, observed_at: 1, answer: entry });
  }
  for (const [index, { mailbox, state, age }] of what.actions.entries()) {
    const action = JSON.stringify(actionOf(mailbox, { id: `a${index}`, plannedAt: now - age }));
    insert('actions', { id: `a${index}`, ...of(mailbox), state, planned_at: now - age, action });
  }
  for (const { mailbox, age } of oldestFirst(what.decisions)) {
    const [verdict, days] = [JSON.stringify(verdictOf()), '[]'];
    const span = { since: now - age - 1, until: now - age, judged: 1, action: 'none', reason: 'ok' };
    insert('decisions', { ...of(mailbox), ...span, verdict, days, first_sent: 1, first_days: '[]' });
  }
  for (const { mailbox, age } of oldestFirst(what.changes))
    insert('changes', { ...of(mailbox), at: now - age, change: '{}' });
  for (const [index, { age, state }] of what.deliveries.entries()) {
    const times = { created_at: now - age, settled_at: state === 'pending' ? null : now - age };
    const text = { payload: '{}', delivery: '{}' };
    insert('deliveries', { id: `d${index}`, channel: 'ops', ...text, sequence: index, state, ...times });
  }
  for (const { age, notified } of oldestFirst(what.transitions))
    insert('transitions', { at: now - age, transition: JSON.stringify(transitionOf(alertOf('m1'))), notified });
  for (const id of what.alerts) {
    const alert = alertOf(id);
    insert('alerts', { fingerprint: alert.fingerprint, ...of(id), status: 'firing', alert: JSON.stringify(alert) });
  }
  for (const { age, result } of oldestFirst(what.commands)) {
    insert('operator_commands', { at: now - age, by: 'ann', name: 'pause', result, entry: '{}' });
  }
  for (const [index, days] of what.silences.entries())
    insert('silences', { id: `s${index}`, until: now + days * dayMs, silence: '{"match":{}}' });
  database.exec('COMMIT');
}

/** Everything that is there, by table; without what changes whenever a store is opened. */
function rowsOf(path: string) {
  const database = new DatabaseSync(path);
  const all = (table: string, key: string) =>
    database.prepare(`SELECT * FROM ${table} ORDER BY ${key}`).all() as Record<string, string | number | null>[];
  const rows = {
    mailboxes: all('mailboxes', 'mailbox_id'),
    observations: all('observations', 'mailbox_id, route'),
    actions: all('actions', 'id'),
    decisions: all('decisions', 'id'),
    changes: all('changes', 'id'),
    deliveries: all('deliveries', 'id'),
    transitions: all('transitions', 'id'),
    alerts: all('alerts', 'fingerprint'),
    commands: all('operator_commands', 'id'),
    silences: all('silences', 'id'),
  };
  database.close();
  return rows;
}
type Rows = ReturnType<typeof rowsOf>;

/** What must be left, said from scratch. */
function expected(before: Rows): Rows {
  const young = (at: number | string | null | undefined, ms: number) => Number(at) >= now - ms;
  const claims = new Map(
    before.mailboxes.map((row) => [row['mailbox_id'], JSON.parse(String(row['memory'])).claim?.actionId]),
  );
  const alerted = new Set(before.alerts.map((row) => row['mailbox_id']));
  const acting = new Set(
    before.actions
      .filter(({ state }) => ['planned', 'open', 'unconfirmed'].includes(String(state)))
      .map((row) => row['mailbox_id']),
  );
  const needed = (id: unknown) =>
    claims.get(id as string) !== undefined || alerted.has(id as string) || acting.has(id as string);
  const leftAt = new Map(before.mailboxes.map((row) => [row['mailbox_id'], row['left_at']]));
  const isHere = (id: unknown, ms: number) => {
    const left = leftAt.get(id as string);
    return left === null || young(left, ms) || needed(id);
  };
  const mailboxes = before.mailboxes.filter((row) => isHere(row['mailbox_id'], retention.departedMs));
  const known = new Set(mailboxes.map((row) => row['mailbox_id']));
  const newestDecision = new Map(before.decisions.map(({ mailbox_id, id }) => [mailbox_id, id]));
  const newestAction = new Map<unknown, number>();
  for (const { mailbox_id, planned_at } of before.actions)
    newestAction.set(mailbox_id, Math.max(newestAction.get(mailbox_id) ?? 0, Number(planned_at)));
  return {
    ...before,
    mailboxes,
    observations: before.observations.filter(
      ({ mailbox_id, route }) =>
        known.has(mailbox_id ?? '') && (route === 'mailboxes' || isHere(mailbox_id, retention.observationsMs)),
    ),
    // Those that leave in this very pass still keep their newest decision until the next one.
    decisions: before.decisions.filter(
      ({ mailbox_id, id, until }) =>
        young(until, retention.decisionsMs) ||
        (leftAt.has(mailbox_id ?? '') && newestDecision.get(mailbox_id ?? '') === id),
    ),
    actions: before.actions.filter(
      ({ mailbox_id, id, state, planned_at }) =>
        young(planned_at, auditMs) ||
        ['planned', 'open'].includes(String(state)) ||
        (known.has(mailbox_id ?? '') &&
          (claims.get(mailbox_id ?? '') === id || newestAction.get(mailbox_id) === planned_at)),
    ),
    changes: before.changes.filter(({ at }) => young(at, retention.changesMs)),
    deliveries: before.deliveries.filter(
      ({ state, settled_at }) => state === 'pending' || state === 'dead' || young(settled_at, retention.deliveriesMs),
    ),
    transitions: before.transitions.filter(({ notified, at }) => notified === 0 || young(at, retention.deliveriesMs)),
    commands: before.commands.filter(({ at, result }) => result === null || young(at, auditMs)),
    silences: before.silences.filter(({ until }) => Number(until) > now),
  };
}

test('of any store what is old goes, but nothing that a claim, an intent, an undelivered message or an alert needs', async () => {
  const path = newPath();
  await (await Store.open(path, now)).close();
  const tables = [
    'mailboxes',
    'observations',
    'actions',
    'decisions',
    'changes',
    'deliveries',
    'transitions',
    'alerts',
  ];
  await fc.assert(
    fc.asyncProperty(contents, async (what) => {
      const database = new DatabaseSync(path);
      try {
        for (const table of [...tables, 'operator_commands', 'silences']) database.exec(`DELETE FROM ${table}`);
        fill(database, what);
      } finally {
        database.close();
      }
      const before = rowsOf(path);
      const store = await Store.open(path, now);
      try {
        const picture = await store.loadPicture();
        const pending = await store.outbox.pendingDeliveries('ops', 100);
        await keepSmall(store);
        expect(rowsOf(path)).toEqual(expected(before));
        // What a restart believes is what it believed before.
        const without = ({ mailboxes, silences, actions, ...rest }: typeof picture) => ({
          ...rest,
          mailboxes: mailboxes.map((one) => ({ ...one, changes: [] })),
        });
        expect(without(await store.loadPicture())).toEqual(without(picture));
        expect(await store.outbox.pendingDeliveries('ops', 100)).toEqual(pending);
      } finally {
        await store.close();
      }
    }),
    { numRuns: 40, examples: [[oldClaim]] },
  );
});

test('thousands of old rows go in steps of a hundred, and a new store gives their space back to the disk', async () => {
  const path = newPath();
  const store = await Store.open(path, now);
  const database = new DatabaseSync(path);
  const many = (sql: string) =>
    database.exec(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000) ${sql}`);
  many(
    `INSERT INTO changes (account, mailbox_id, at, change) SELECT 'acme', 'm1', i, printf('%.*c', 1000, 'x') FROM n`,
  );
  many(`INSERT INTO deliveries (id, channel, sequence, payload, state, created_at, settled_at, delivery)
        SELECT 'd' || i, 'ops', i, printf('%.*c', 2000, 'x'), 'sent', 0, i % 3, '{}' FROM n`);
  database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  const full = statSync(path).size;
  expect(await keepSmall(store)).toBeGreaterThan(60);
  database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  expect([full > 9_000_000, statSync(path).size < 2_000_000]).toEqual([true, true]);
  expect(database.prepare('SELECT count(*) AS left FROM changes').get()).toEqual({ left: 0 });
  expect(database.prepare('PRAGMA integrity_check').get()).toEqual({ integrity_check: 'ok' });
  database.close();
  await store.close();
});
