// Decisions that an earlier version wrote, a row for each email sent, become spans in small steps.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, onTestFinished, test } from 'vitest';
import { dayMs, minuteMs } from '../../src/model/time.ts';
import { Store } from '../../src/store/store.ts';
import { now, verdictOf } from './records.ts';

/** A store with rows as earlier versions wrote them: of each mailbox some days of emails, with a bounce in between. */
async function earlierStore(mailboxes: number, rowsEach: number): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'warmwarden-fold-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const path = join(folder, 'warmwarden.db');
  await (await Store.open(path, now)).close();
  const database = new DatabaseSync(path);
  const insert = database.prepare(
    `INSERT INTO decisions (account, mailbox_id, since, until, judged, action, reason, verdict, days)
     VALUES ('acme', ?, ?, ?, 2, 'none', 'ok', ?, ?)`,
  );
  database.exec('BEGIN');
  for (let row = 0; row < rowsEach; row += 1) {
    const windowTo = row < 50 ? '2026-03-10' : '2026-03-11';
    const verdict = verdictOf({ sent: 200 + row, bounced: row < 20 ? 0 : 1, windowTo, warnings: [] });
    const days = JSON.stringify([[windowTo, row, verdict.bounced]]);
    const since = now + row * minuteMs;
    for (let id = 0; id < mailboxes; id += 1)
      insert.run(`m${id}`, since, since + minuteMs / 2, JSON.stringify(verdict), days);
  }
  database.exec(`COMMIT; INSERT INTO meta VALUES ('decisions_unfolded', '{"account":"","mailboxId":"","id":0}')`);
  database.close();
  return path;
}

const forever = dayMs * 1e6;
const retention = {
  ...{ decisionsMs: forever, deliveriesMs: forever, changesMs: forever },
  ...{ observationsMs: forever, runsMs: forever, departedMs: forever },
};

function foldOf(store: Store) {
  const [fold] = store.upkeep.duties({ now, retention, channels: [] });
  if (!fold) throw new Error('there is such a duty');
  return fold;
}

async function foldAll(store: Store): Promise<number> {
  let steps = 1;
  while (await foldOf(store).step()) steps += 1;
  return steps;
}

const expected = [
  { first: 50, last: 119, bounced: 1 },
  { first: 20, last: 49, bounced: 1 },
  { first: 0, last: 19, bounced: 0 },
].map(({ first, last, bounced }) => ({
  since: now + first * minuteMs,
  until: now + last * minuteMs + minuteMs / 2,
  count: 2 * (last - first + 1),
  firstSent: 200 + first,
  firstDays: [[first < 50 ? '2026-03-10' : '2026-03-11', first, bounced]],
  verdict: expect.objectContaining({
    sent: 200 + last,
    bounced,
    emergency: { sent: 20, bounced: 3, from: '2026-03-09' },
  }),
  days: [[last < 50 ? '2026-03-10' : '2026-03-11', last, bounced]],
}));

test('are read on as they are, folded step by step over restarts, and lose no count', async () => {
  const path = await earlierStore(5, 120);
  let store = await Store.open(path, now);
  expect(await store.decisionsOf('acme', 'm1', 200)).toHaveLength(120);
  expect(await foldOf(store).step()).toBe(true);
  await store.close();
  store = await Store.open(path, now);
  // 600 rows, fifty a step.
  expect(await foldAll(store)).toBeGreaterThan(8);
  for (const id of ['m0', 'm1', 'm4']) expect(await store.decisionsOf('acme', id, 200)).toEqual(expected);
  expect(await foldOf(store).step()).toBe(false);
  await store.close();
});

test('a row that can’t be read stays as it is, and ends a span', async () => {
  const path = await earlierStore(1, 120);
  const database = new DatabaseSync(path);
  database.exec("UPDATE decisions SET verdict = '{half' WHERE id = 10");
  database.close();
  const store = await Store.open(path, now);
  await foldAll(store);
  expect(store.trouble.failures).toBe(0);
  await store.close();
  const after = new DatabaseSync(path);
  const rows = after.prepare('SELECT id, judged FROM decisions ORDER BY id').all();
  after.close();
  expect(rows.map(({ id, judged }) => [id, judged])).toEqual([
    [9, 18],
    [10, 2],
    [20, 20],
    [50, 60],
    [120, 140],
  ]);
});
