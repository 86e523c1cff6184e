// `npm run bench -- replicas`: what replicas on one PostgreSQL poll and cost, and how long an account is not polled when one
// of them ends. The server's disk is memory, and all share the processors of this machine.
import { setTimeout as sleep } from 'node:timers/promises';
import { TestPostgres } from '../../test/support/postgres.ts';
import { BenchApi, since, total } from './daemon/api.ts';
import { BenchDaemon, configure, type Settings, Workplace } from './daemon/daemon.ts';
import { counted, cpuMsWithChildren, parentOf } from './daemon/process.ts';
import { saturating } from './daemon/settings.ts';
import type { BenchOptions, Figure } from './figure.ts';
import { endingGaps } from './replicas/gaps.ts';
import { groupCommitCpuMs } from './replicas/group-commit.ts';
import { heldAgainst, tableOf, targets } from './targets.ts';

const bench = 'replicas';
const asker = 'daemon';
/** Each replica gets its share once nothing has changed for a minute. */
const sharedLimitMs = 300_000;
/** A process gets faster while it runs: all are measured when they have run for a while, however long the shares took. */
const settleMs = 60_000;
const lookEveryMs = 500;

interface Size {
  readonly accounts: number;
  readonly ofEach: number;
  readonly replicas: readonly number[];
  readonly measuredMs: number;
}

const full: Size = { accounts: 8, ofEach: 100, replicas: [1, 2, 4], measuredMs: 20_000 };
const small: Size = { accounts: 4, ofEach: 50, replicas: [1, 2], measuredMs: 8_000 };

interface Polled {
  readonly pollsASecond: number;
  /** Of all replicas together. */
  readonly cpuMsAPoll: number;
  readonly serverCpuMsAPoll: number;
}

async function measured(api: BenchApi, pids: readonly number[], server: number | null, forMs: number): Promise<Polled> {
  const cpuMs = () => pids.reduce((sum, pid) => sum + counted(pid).cpuMs, 0);
  const serverCpuMs = () => (server === null ? 0 : cpuMsWithChildren(server));
  const before = {
    asked: await api.notified(asker),
    cpuMs: cpuMs(),
    server: serverCpuMs(),
    at: performance.now(),
  };
  await sleep(forMs);
  const polls = total(since(before.asked, await api.notified(asker)).polls);
  return {
    pollsASecond: polls / ((performance.now() - before.at) / 1_000),
    cpuMsAPoll: (cpuMs() - before.cpuMs) / polls,
    serverCpuMsAPoll: (serverCpuMs() - before.server) / polls,
  };
}

/** So many replicas that have their share each, on a database of their own; null: one process with SQLite. */
async function polled(size: Size, postgres: TestPostgres, replicas: number | null): Promise<Polled> {
  const { accounts, ofEach: mailboxesPerAccount } = size;
  await using api = await BenchApi.start({ accounts, mailboxesPerAccount, changedShare: 0.3 });
  await using ending = new AsyncDisposableStack();
  const place = replicas === null ? null : await postgres.database();
  const url = place && `postgres://${place.user}@${place.host}:${place.port}/${place.database}`;
  const settings: Settings = { ...saturating, ...(url !== null && { store: { url, tls: 'off' } }) };
  const daemons: BenchDaemon[] = [];
  for (let count = 0; count < (replicas ?? 1); count += 1) {
    const folder = ending.use(new Workplace());
    daemons.push(ending.use(await BenchDaemon.start(await configure(folder, api, settings))));
  }
  const share = Math.floor(accounts / daemons.length);
  const sql =
    "SELECT count(*)::int AS n FROM warmwarden.leases WHERE scope LIKE 'account:%' AND NOT given GROUP BY owner";
  const isShared = async () => {
    await sleep(lookEveryMs);
    const rows = place ? await postgres.query(sql, place.database) : [{ n: accounts }];
    return rows.length === daemons.length && rows.every(({ n }) => n >= share);
  };
  await daemons[0]?.until('each replica has its share', isShared, sharedLimitMs);
  await sleep(settleMs);
  const [backend] = place
    ? await postgres.query("SELECT pid FROM pg_stat_activity WHERE backend_type = 'checkpointer'")
    : [];
  const server = backend ? parentOf(Number(backend['pid'])) : null;
  const pids = daemons.map(({ pid }) => pid);
  return await measured(api, pids, server, size.measuredMs);
}

const say = (text: string) => process.stderr.write(`${bench}: ${text}\n`);

/** The benchmark. Takes about twelve minutes; small: about six. */
export async function replicasBenchmark(options: BenchOptions): Promise<readonly Figure[]> {
  const size = options.small ? small : full;
  await using postgres = await TestPostgres.own();
  const figures: Figure[] = [];
  const add = (figure: string, ours: number, peer: number | null) => {
    figures.push(heldAgainst(targets.said, { bench, figure, ours, peer }));
  };
  say(`SQLite, ${size.accounts} accounts with ${size.ofEach} mailboxes each`);
  const sqlite = await polled(size, postgres, null);
  const bare = await groupCommitCpuMs(await postgres.database());
  for (const replicas of size.replicas) {
    say(`${replicas} on one PostgreSQL`);
    const now = await polled(size, postgres, replicas);
    const name = `${replicas}_${replicas === 1 ? 'replica' : 'replicas'}`;
    add(`${name}/polls_a_second/beside_sqlite`, now.pollsASecond, sqlite.pollsASecond);
    add(`${name}/cpu_ms_a_poll/beside_sqlite`, now.cpuMsAPoll, sqlite.cpuMsAPoll);
    add(`${name}/cpu_ms_a_poll/beside_bare_group_commit`, now.cpuMsAPoll, bare);
    add(`${name}/postgres_cpu_ms_a_poll`, now.serverCpuMsAPoll, null);
  }
  say('one of three ends');
  const gaps = await endingGaps(postgres);
  add('sigterm/longest_gap_of_an_account_ms/beside_without', gaps.handover, gaps.usual);
  add('kill_9/longest_gap_of_an_account_ms/beside_without', gaps.takeover, gaps.usual);
  process.stderr.write(`${tableOf(figures, 'peer')}\n`);
  return figures;
}
