// No query of start-up, of a page view or of a day on duty reads a table that grows from end to end; and what the daemon
// answers there is what its OpenAPI document says.
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { dayMs, hourMs } from '../../src/core/time.ts';
import { Store } from '../../src/store/store.ts';
import { scenarios } from '../../tools/simulator/scenarios.ts';
import { amelia, jonas, oliver } from '../account/duty.ts';
import { startMovedDaemon } from '../scenario/moved-daemon.ts';
import { operations, undocumented } from '../support/api-document.ts';
import { newFolder } from '../support/new-folder.ts';
import { until } from '../support/until.ts';

/** Their rows become more with time; the others have one an account, a rule, a channel, a silence. */
const growing = [
  ...['mailboxes', 'observations', 'decisions', 'actions', 'changes', 'transitions', 'deliveries'],
  ...['operator_commands', 'runs', 'run_rows'],
];

/** What of a query's plan reads a table that grows from end to end; empty when nothing does. */
function scansOf(database: DatabaseSync, query: string): readonly string[] {
  const plan = database
    .prepare(`EXPLAIN QUERY PLAN ${query}`)
    .all()
    .map(({ detail }) => String(detail));
  // The newest or oldest few, as they stand in an index.
  const isFirstFew =
    /\blimit\b/i.test(query) && !/\bwhere\b/i.test(query) && !plan.some((step) => step.includes('ORDER BY'));
  const scans = plan.filter((step) => growing.includes(/^SCAN (\w+)/.exec(step)?.[1] ?? ''));
  return isFirstFew ? [] : scans.map((step) => `${step}: ${query}`);
}

/** Every address that the daemon answers a GET at and ends, with the parameters that it needs. */
function addresses(mailbox: { readonly account: string; readonly id: string; readonly email: string }, run: string) {
  const known: Readonly<Record<string, string>> = { account: mailbox.account, mailbox: mailbox.email };
  const idAt = (path: string) =>
    path.includes('mailboxes') ? mailbox.id : path.includes('runs/{id}') ? run : 'at-risk';
  const documented = [...operations].flatMap(([route, { parameters = [] }]) => {
    const [method, path = ''] = route.split(' ');
    if (method !== 'GET' || path === '/events') return [];
    const asked = parameters.filter((one) => one.in === 'query' && (one.required || one.name in known));
    const query = new URLSearchParams(Object.fromEntries(asked.map(({ name }) => [name, known[name] ?? ''])));
    return [`${path.replace(/\{(\w+)\}/g, (_all, name: string) => known[name] ?? idAt(path))}?${query}`];
  });
  return [...documented, '/api/history?guard=true'];
}

test('no query of start-up, of a page or of hours on duty scans a table that grows', async () => {
  const queries = new Set<string>();
  const openStore: typeof Store.open = (path, now, options) =>
    Store.open(path, now, { ...options, listen: ({ query }) => queries.add(query.sql) });
  const sha256 = createHash('sha256').update('ww_operator').digest('hex');
  const storm = scenarios['bounce-storm'];
  const fleet = storm.fleet.filter(({ email }) => [amelia, jonas, oliver].includes(email));
  const poll = { health: '0 * * * *', stats: '*/10 * * * *', warmup: '*/30 * * * *' };
  await using stage = await startMovedDaemon({
    scenario: { ...storm, fleet },
    poll,
    file: { recipes: { api_keys: [{ name: 'boss', sha256, plan: 'agency', role: 'operator' }] } },
    openStore,
  });
  await stage.run(3 * hourMs);
  await stage.command('pause', { mailbox: oliver, dry_run: false, plan: null });
  await stage.awayUntil(stage.clock.now() + 2 * dayMs);
  await stage.run(hourMs);
  const authorization = 'Bearer ww_operator';
  const started = await fetch(`${stage.url()}/v1/recipes/at-risk/runs`, { method: 'POST', headers: { authorization } });
  const { id: run } = (await started.json()) as { id: string };
  await until('the run ends', async () => {
    const answer = await fetch(`${stage.url()}/v1/runs/${run}`, { headers: { authorization } });
    return (await answer.text()).includes('"succeeded"');
  });
  for (const path of addresses(stage.mailbox(amelia), run)) {
    const answer = await fetch(`${stage.url()}${path}`, { headers: { authorization } });
    const { status, headers } = answer;
    const problems = undocumented({ method: 'GET', path, status, headers, body: await answer.text() });
    expect([path, status < 500, problems]).toEqual([path, true, []]);
  }
  const database = new DatabaseSync(join(stage.folder, 'data', 'warmwarden.db'), { readOnly: true });
  try {
    const asked = [...queries].filter((query) => /^(select|update|delete|insert|with)\b/i.test(query));
    expect(asked.length).toBeGreaterThan(80);
    expect(growing.filter((table) => !asked.some((query) => query.includes(`"${table}"`)))).toEqual([]);
    expect(asked.flatMap((query) => scansOf(database, query))).toEqual([]);
    // The check sees what it is there for.
    const planted = [
      'select * from "deliveries" where "payload" = ?',
      'select * from "actions" order by "state" limit 3',
    ];
    expect(planted.flatMap((query) => scansOf(database, query))).toHaveLength(2);
  } finally {
    database.close();
  }
});

test('who left is found by an index of ids and one of addresses', async () => {
  const path = join(newFolder(), 'w.db');
  const queries = new Set<string>();
  const store = await Store.open(path, 0, { listen: ({ query }) => queries.add(query.sql) });
  queries.clear();
  await store.departed('acme', [{ id: 'm1', email: 'ada@one.example' }]);
  await store.close();
  using database = new DatabaseSync(path, { readOnly: true });
  const found = [...queries].map((query) => database.prepare(`EXPLAIN QUERY PLAN ${query}`).all()[0]?.['detail']);
  expect(found).toEqual([
    expect.stringMatching(/\(account=\? AND mailbox_id=\?\)/),
    expect.stringMatching(/USING INDEX mailboxes_departed \(account=\? AND <expr>=\?\)/),
  ]);
});
