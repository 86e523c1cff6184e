// A child of the duty benchmark: the least that a poller in Node.js can do. It asks the same routes for the same bodies over kept
// connections, parses the JSON, and stores a row of each answer, all rows of 500 ms in one transaction.
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Dispatcher, Pool } from 'undici';
import type { Route } from '../../../src/core/answers.ts';
import { keyOf } from './api.ts';
import { idOf } from './bodies.ts';
import type { FloorOrder, FloorPolls } from './floor.ts';

const commitEveryMs = 500;
/** So many polls of an account are under way at a time, as in the daemon. */
const inFlight = 8;
/** The kinds of questions come in turns of this many. */
const turnLength = 1_000;

interface Row {
  readonly key: string;
  readonly at: number;
  readonly length: number;
  readonly fields: number;
}

function openStore(folder: string) {
  const database = new DatabaseSync(join(folder, 'floor.db'));
  database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;');
  database.exec(
    'CREATE TABLE IF NOT EXISTS answers (key TEXT PRIMARY KEY, at INTEGER, length INTEGER, fields INTEGER) WITHOUT ROWID',
  );
  const insert = database.prepare('INSERT OR REPLACE INTO answers (key, at, length, fields) VALUES (?, ?, ?, ?)');
  let rows: Row[] = [];
  const commit = () => {
    if (rows.length === 0) return;
    database.exec('BEGIN IMMEDIATE');
    for (const { key, at, length, fields } of rows) insert.run(key, at, length, fields);
    database.exec('COMMIT');
    rows = [];
  };
  setInterval(commit, commitEveryMs).unref();
  return {
    put: (row: Row) => rows.push(row),
    close() {
      commit();
      database.close();
    },
  };
}

function get(pool: Pool, path: string, key: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    const handler: Dispatcher.DispatchHandler = {
      onRequestStart() {},
      onResponseStart(_controller, status) {
        if (status !== 200) reject(new Error(`${path} was answered with ${status}`));
      },
      onResponseData(_controller, chunk) {
        chunks.push(chunk);
      },
      onResponseEnd() {
        resolve((chunks.length === 1 ? chunks[0] : Buffer.concat(chunks))?.toString() ?? '');
      },
      onResponseError(_controller, error) {
        reject(error);
      },
    };
    pool.dispatch({ method: 'GET', path, headers: { authorization: `Bearer ${key}` } }, handler);
  });
}

/** The kinds of questions in the proportions in which the daemon asked them, evenly mixed. */
function turnOf(mix: FloorOrder['mix']): readonly Route[] {
  const routes = Object.entries(mix) as [Route, number][];
  const all = routes.reduce((sum, [, count]) => sum + count, 0);
  const spread = routes.flatMap(([route, count]) => {
    const times = Math.round((count / all) * turnLength);
    return Array.from({ length: times }, (_, n) => ({ route, place: (n + 0.5) / times }));
  });
  return spread.sort((a, b) => a.place - b.place).map(({ route }) => route);
}

async function work({ url, folder, shape, mix, forMs, everyMs }: FloorOrder): Promise<FloorPolls> {
  const { origin, pathname } = new URL(url);
  const store = openStore(folder);
  const pools = Array.from({ length: shape.accounts }, () => new Pool(origin, { connections: inFlight }));
  const turn = turnOf(mix);
  const asked = new Uint32Array(shape.accounts);
  let polls = 0;
  const poll = async (account: number) => {
    const pool = pools[account];
    if (!pool) return;
    const count = asked[account] ?? 0;
    asked[account] = count + 1;
    const route = turn[(count * shape.accounts + account) % turn.length] ?? 'stats';
    const id = idOf(account * shape.mailboxesPerAccount + (count % shape.mailboxesPerAccount));
    const text = await get(pool, pathOf(pathname, route, id), keyOf(account));
    const body = JSON.parse(text) as object;
    store.put({ key: `${route} ${id}`, at: Date.now(), length: text.length, fields: Object.keys(body).length });
    polls += 1;
  };
  const until = performance.now() + forMs;
  if (everyMs === 0) {
    const loop = async (account: number) => {
      while (performance.now() < until) await poll(account);
    };
    await Promise.all(pools.flatMap((_, account) => Array.from({ length: inFlight }, () => loop(account))));
  } else await paced(poll, { accounts: shape.accounts, everyMs, until });
  store.close();
  await Promise.all(pools.map((pool) => pool.close()));
  return { polls };
}

function pathOf(prefix: string, route: Route, id: string): string {
  if (route === 'health' || route === 'mailboxes') return `${prefix}/v1/${route}`;
  if (route === 'mailbox') return `${prefix}/v1/mailboxes/${id}`;
  return `${prefix}/v1/${route}?mailbox_id=${id}${route === 'stats' ? '&days=30' : ''}`;
}

async function paced(
  poll: (account: number) => Promise<void>,
  { accounts, everyMs, until }: { readonly accounts: number; readonly everyMs: number; readonly until: number },
): Promise<void> {
  const underWay = new Set<Promise<void>>();
  const began = performance.now();
  for (let n = 0; performance.now() < until; n += 1) {
    const one: Promise<void> = poll(n % accounts).finally(() => underWay.delete(one));
    underWay.add(one);
    // A timer takes a millisecond at least: what is due by then is asked in one go.
    const early = began + ((n + 1) * everyMs) / accounts - performance.now();
    if (early > 0) await sleep(early);
  }
  await Promise.all(underWay);
}

process.on('message', (order: FloorOrder) => {
  void work(order).then(
    (done) => process.send?.(done),
    (error: unknown) => {
      process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
      process.exit(1);
    },
  );
});
process.on('disconnect', () => process.exit(0));
process.send?.('ready');
