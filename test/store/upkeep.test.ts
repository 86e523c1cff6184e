// What is old is forgotten in small steps, and nothing that is still needed.
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { dayMs } from '../../src/core/time.ts';
import { Store } from '../../src/store/store.ts';
import { newFolder } from '../support/new-folder.ts';
import { actionOf, alertOf, arrivedMailbox, memory, now, transitionOf, verdictOf } from './records.ts';

const retention = { historyMs: 40 * dayMs, messagesMs: 10 * dayMs };

const newPath = () => join(newFolder(), 'warmwarden.db');

async function keepSmall(store: Store): Promise<number> {
  let steps = 0;
  for (const duty of store.duties({ now, retention })) {
    do steps += 1;
    while (await duty.step());
  }
  return steps;
}

const ago = (days: number) => now - days * dayMs;
const of = (mailbox_id: string) => ({ account: 'acme', mailbox_id });

/** The audit log keeps five years: 1,830 days. */
const makers = {
  mailbox: (id: string, left: number | null, claim: string | null = null) => [
    'mailboxes',
    {
      ...{ ...of(id), email: `${id}@one.example`, first_seen_at: 0, missing_lists: 0 },
      left_at: left === null ? null : ago(left),
      memory: JSON.stringify({ ...memory, claim: claim && { ...memory.claim, kind: 'pause', actionId: claim } }),
    },
  ],
  observation: (id: string, route: string) => [
    'observations',
    { ...of(id), route, observed_at: 1, answer: JSON.stringify(arrivedMailbox(id).entry.answer) },
  ],
  action: (id: string, mailbox: string, state: string, days: number) => [
    'actions',
    {
      ...{ id, ...of(mailbox), state, planned_at: ago(days) },
      action: JSON.stringify(actionOf(mailbox, { id, plannedAt: ago(days) })),
    },
  ],
  decision: (id: number, mailbox: string, days: number) => [
    'decisions',
    {
      ...{ id, ...of(mailbox), since: ago(days) - 1, until: ago(days), judged: 1, action: 'none', reason: 'ok' },
      ...{ verdict: JSON.stringify(verdictOf()), days: '[]', first_sent: 1, first_days: '[]' },
    },
  ],
  change: (id: number, days: number) => ['changes', { id, ...of('here'), at: ago(days), change: '{}' }],
  delivery: (id: string, state: string, days: number) => [
    'deliveries',
    {
      ...{ id, channel: 'ops', payload: '{}', delivery: '{}', sequence: days, state, created_at: ago(days) },
      settled_at: state === 'pending' ? null : ago(days),
    },
  ],
  transition: (id: number, days: number, notified: number) => [
    'transitions',
    { id, at: ago(days), notified, transition: JSON.stringify(transitionOf(alertOf('here'))) },
  ],
  alert: (mailbox: string) => [
    'alerts',
    {
      ...{ fingerprint: alertOf(mailbox).fingerprint, ...of(mailbox), status: 'firing' },
      alert: JSON.stringify(alertOf(mailbox)),
    },
  ],
  command: (id: number, days: number, result: string | null) => [
    'operator_commands',
    { id, at: ago(days), by: 'ann', name: 'pause', result, entry: '{}' },
  ],
  silence: (id: string, days: number) => ['silences', { id, until: ago(days), silence: '{"match":{}}' }],
} satisfies Record<string, (...parts: never[]) => readonly [string, object] | (string | object)[]>;

const { mailbox, observation, action, decision, change, delivery, transition, alert, command, silence } = makers;

const stays = [
  ...[mailbox('here', null), mailbox('late', 39), mailbox('claimed', 400, 'claim')],
  ...[
    mailbox('alerted', 400),
    alert('alerted'),
    mailbox('acting', 400),
    action('unconfirmed', 'acting', 'unconfirmed', 9),
  ],
  // The newest action of a mailbox, what its claim rests on, and what is not done, however old.
  ...[
    action('claim', 'claimed', 'confirmed', 4_000),
    action('since', 'claimed', 'confirmed', 1_900),
    action('newest', 'here', 'confirmed', 1_900),
  ],
  ...[action('planned', 'nobody', 'planned', 4_000), action('open', 'nobody', 'open', 4_000)],
  ...[action('recent', 'nobody', 'confirmed', 1_829), observation('here', 'dns'), observation('late', 'mailboxes')],
  observation('late', 'dns'),
  // Young, or the newest of a mailbox.
  ...[decision(1, 'late', 400), decision(3, 'here', 39), change(2, 39)],
  ...[delivery('pending', 'pending', 400), delivery('undelivered', 'undelivered', 400), delivery('young', 'sent', 9)],
  ...[transition(1, 400, 0), transition(3, 9, 1), command(1, 4_000, null), command(3, 1_829, 'done')],
  silence('in force', -1),
];
const goes = [
  ...[mailbox('gone', 41), observation('gone', 'mailboxes'), observation('gone', 'dns')],
  ...[action('older', 'here', 'confirmed', 4_000), action('old', 'gone', 'dropped', 1_831), decision(2, 'here', 41)],
  ...[change(1, 41), delivery('sent', 'sent', 11), transition(2, 11, 1)],
  ...[command(2, 1_831, 'done'), silence('over', 1)],
];
type Row = readonly [table: string, row: Record<string, string | number | null>];

test('what is old goes, but nothing that a claim, an intent, an undelivered message or an alert needs', async () => {
  const path = newPath();
  await (await Store.open(path, now)).close();
  using database = new DatabaseSync(path);
  for (const [table, row] of [...stays, ...goes] as readonly Row[]) {
    const columns = Object.keys(row);
    const places = columns.map(() => '?').join(', ');
    database.prepare(`INSERT INTO ${table} (${columns.join(', ')}) VALUES (${places})`).run(...Object.values(row));
  }
  const keyOf = ({ id, mailbox_id, route, fingerprint }: Row[1]) =>
    fingerprint ?? (route === undefined ? (id ?? mailbox_id) : `${mailbox_id} ${route}`);
  const left = [...new Set((stays as readonly Row[]).map(([table]) => table))].map((table) => {
    const expected = (stays as readonly Row[]).filter(([of]) => of === table).map(([, row]) => keyOf(row));
    return {
      table,
      expected,
      found: () =>
        database
          .prepare(`SELECT * FROM ${table}`)
          .all()
          .map((row) => keyOf(row as Row[1])),
    };
  });
  const store = await Store.open(path, now);
  const { alerts, breakers } = await store.loadPicture();
  await keepSmall(store);
  for (const { table, expected, found } of left) expect([table, found().sort()]).toEqual([table, expected.toSorted()]);
  // What a restart believes is what it believed before.
  expect(await store.loadPicture()).toMatchObject({ alerts, breakers });
  await store.close();
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
