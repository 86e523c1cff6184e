// Every built-in recipe over 10,000 mailboxes, and the event loop while a hostile SELECT runs: figures, and wide bounds.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readCatalogue } from '../../src/recipes/catalogue.ts';
import { usualLimits } from '../../src/recipes/execution.ts';
import { Store } from '../../src/store/store.ts';
import { systemClock, worldOn } from '../../src/world/world.ts';
import { answers, memory, now, verdictOf } from '../store/records.ts';
import { endedRun, recipeRunner, startedRun } from '../support/recipe-runner.ts';

const mailboxes = 10_000;
const daysEach = 30;
const folder = mkdtempSync(join(tmpdir(), 'warmwarden-ten-thousand-'));
const path = join(folder, 'store.db');
const world = worldOn(systemClock(), { level: 'silent', format: 'json' });
const facts = () => ({ now, nearLimitPpm: { usual: 800_000, others: {} } });
let store: Store;

beforeAll(async () => {
  store = await Store.open(path, now);
  fill();
});
afterAll(async () => {
  await store.close();
  rmSync(folder, { recursive: true, force: true });
});

function fill(): void {
  const database = new DatabaseSync(path);
  database.exec('PRAGMA synchronous = OFF; PRAGMA busy_timeout = 5000; BEGIN');
  const mailbox = database.prepare('INSERT INTO mailboxes VALUES (?, ?, ?, ?, 0, NULL, ?)');
  const observation = database.prepare('INSERT INTO observations VALUES (?, ?, ?, ?, ?)');
  const decision = database.prepare(
    'INSERT INTO decisions (account, mailbox_id, since, until, judged, action, reason, verdict, days) VALUES (?, ?, ?, ?, 1, ?, ?, ?, ?)',
  );
  const rows = Array.from({ length: daysEach }, (_day, index) => {
    const date = new Date(now - index * 86_400_000).toISOString().slice(0, 10);
    const counts = { sent: 40, bounced: index % 9 === 0 ? 1 : 0, delivered: 39, opened: 9, replied: 3, spamLanded: 1 };
    return { date, ...counts, inboxRatePercent: 97.4, bounceRatePercent: 0 };
  });
  for (let index = 0; index < mailboxes; index += 1) {
    const id = `m${index}`;
    const email = `${id}@domain-${index % 500}.example`;
    mailbox.run('acme', id, email, now, JSON.stringify(memory));
    const entry = {
      id,
      email,
      provider: ['google', 'microsoft', 'other'][index % 3],
      status: 'active',
      healthScore: 90,
    };
    const all = { mailboxes: { ...entry, dailyLimit: 40, warmupDay: 12 }, ...answers, stats: { rows } };
    for (const [route, answer] of Object.entries(all)) {
      observation.run('acme', id, route === 'detail' ? 'mailbox' : route, now, JSON.stringify(answer));
    }
    for (const reason of ['no_data', 'first_sight', 'ok'] as const) {
      const verdict = JSON.stringify(verdictOf({ reason }));
      decision.run('acme', id, now, now, 'none', reason, verdict, '[]');
    }
  }
  database.exec('COMMIT');
  database.close();
}

const parametersOf: Readonly<Record<string, object>> = {
  'why-paused': { mailbox: 'm1@domain-1.example' },
  'pause-domain': { domain: 'domain-1.example' },
};

describe('over 10,000 mailboxes', () => {
  test('every built-in recipe answers; how long each takes is printed', async () => {
    const { definitions } = await readCatalogue('/nowhere');
    const operate = async () => ({ result: 'done' as const, messages: [] });
    const runner = recipeRunner(world, {
      place: path,
      facts,
      runs: store.runs,
      commandAccess: () => ({ operate, mailbox: () => undefined }),
    });
    for (const id of definitions.keys()) {
      const parameters = (parametersOf[id] ?? {}) as Record<string, unknown>;
      const began = performance.now();
      const run = await endedRun(runner, (await startedRun(runner, { recipe: id, parameters })).id);
      const ms = Math.round(performance.now() - began);
      process.stdout.write(`${id}: ${ms} ms, ${run.rowCount} rows, ${run.status} ${run.error ?? ''}\n`);
      if (definitions.get(id)?.step === null) expect([id, run.status]).toEqual([id, 'succeeded']);
    }
    await runner.close();
  });

  test('a hostile SELECT ends at its limit, and how long the event loop stood still is printed', async () => {
    const endless = 'WITH RECURSIVE r(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM r)';
    const { runSelect } = await import('../../src/recipes/select.ts');
    for (const select of [
      `${endless} SELECT count(*) FROM r`,
      `${endless} SELECT x, hex(zeroblob(50000)) AS much FROM r`,
    ]) {
      const delay = monitorEventLoopDelay({ resolution: 1 });
      delay.enable();
      const end = await runSelect({
        place: path,
        select,
        parameters: {},
        facts: facts(),
        maxRows: usualLimits.rows,
        maxBytes: usualLimits.bytes,
        timeLimitMs: 3_000,
        signal: new AbortController().signal,
        onRows: async () => {},
      });
      delay.disable();
      process.stdout.write(
        `${JSON.stringify(end)}: the loop stood still for at most ${(delay.max / 1e6).toFixed(1)} ms\n`,
      );
      expect(end.truncated || end.error !== null).toBe(true);
    }
  });
});
