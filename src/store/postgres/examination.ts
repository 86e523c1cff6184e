// Examines a PostgreSQL server and its store for `doctor`. Changes nothing.
import { Kysely, sql } from 'kysely';
import type { PostgresPlace } from '../../core/store-failure.ts';
import type { EpochMs } from '../../core/time.ts';
import { refuseNewer, schemaOf } from '../schema/migrations.ts';
import type { Db, Tables } from '../schema/tables.ts';
import { clientConfig, nowMs, poolOf, reached, StoreDialect } from './connection.ts';
import { postgresError } from './failure.ts';
import { activeProcess } from './lease.ts';
import { hasLease, hasStore, isReady, refuseServer, rehearse } from './setup.ts';

/** `absent`: the first start creates it. `earlier`: the next start upgrades it. */
export type SchemaState = 'absent' | 'earlier' | 'ready';

export interface Examination {
  readonly version: string;
  readonly state: SchemaState;
  readonly doubts: readonly string[];
  /** Milliseconds by which the server's clock is ahead of this machine's. */
  readonly aheadMs: number;
  /** Null if it can't be read before the upgrade. */
  readonly content: Content | null;
}

export interface Content {
  readonly active: { readonly name: string; readonly version: string } | null;
  readonly accounts: readonly string[];
}

const nothing: Content = { active: null, accounts: [] };

/** Rejects with StoreError or NewerStoreError, in one sentence, like a start. */
export async function examinePostgres(named: PostgresPlace, clock: { now(): EpochMs }): Promise<Examination> {
  const place = await reached(named).catch((error: unknown) => Promise.reject(postgresError(named, error)));
  const db: Db = new Kysely<Tables>({ dialect: new StoreDialect({ pool: poolOf(clientConfig(place), 1) }) });
  try {
    await refuseServer(db, place);
    await rehearse(db, place);
    const state = await stateOf(db);
    return {
      version: await versionOf(db),
      state,
      doubts: await serverDoubts(db),
      aheadMs: await aheadMs(db, clock),
      content: state === 'absent' ? nothing : state === 'ready' ? await contentOf(db) : null,
    };
  } catch (error) {
    throw postgresError(place, error);
  } finally {
    await db.destroy();
  }
}

async function versionOf(db: Db): Promise<string> {
  const { rows } = await sql<{ version: string }>`SELECT current_setting('server_version') AS version`.execute(db);
  return rows[0]?.version ?? '';
}

async function contentOf(db: Db): Promise<Content> {
  const accounts = await db.selectFrom('mailboxes').select('account').distinct().orderBy('account').execute();
  return { active: await activeProcess(db), accounts: accounts.map(({ account }) => account) };
}

async function stateOf(db: Db): Promise<SchemaState> {
  if (!(await hasStore(db))) return 'absent';
  if ((await isReady(db)) && (await hasLease(db))) return 'ready';
  refuseNewer(await schemaOf(db));
  return 'earlier';
}

/** Least difference that is certain: the server read its clock at some time between request and response. */
async function aheadMs(db: Db, clock: { now(): EpochMs }): Promise<number> {
  const before = clock.now();
  const { rows } = await sql<{ now: number }>`SELECT ${nowMs} AS now`.execute(db);
  const after = clock.now();
  const between = (before + after) / 2;
  const ahead = (rows[0]?.now ?? between) - between;
  return Math.sign(ahead) * Math.max(0, Math.abs(ahead) - (after - before) / 2);
}

/** Warnings about settings that could lose data: sentences for the log of a start and for `doctor`. */
export async function serverDoubts(db: Db): Promise<readonly string[]> {
  const { rows } = await sql<{ followers: number; synchronous: string; fsync: string; commits: string }>`
    SELECT (SELECT count(*) FROM pg_stat_replication) AS followers, current_setting('synchronous_standby_names') AS synchronous,
      current_setting('fsync') AS fsync, current_setting('synchronous_commit') AS commits`.execute(db);
  const [server] = rows;
  if (!server) return [];
  const { followers, synchronous, commits, fsync } = server;
  const doubts: readonly (readonly [boolean, string])[] = [
    [
      followers > 0 && synchronous === '',
      'PostgreSQL replicates asynchronously: a failover may lose actions that Warmwarden recorded. Set synchronous_standby_names.',
    ],
    [
      synchronous !== '' && commits === 'local',
      'PostgreSQL runs with synchronous_commit = local, so it does not wait for its standbys: a failover may lose actions that Warmwarden recorded. Set it to on.',
    ],
    [fsync === 'off', 'PostgreSQL runs with fsync = off: a crash of its machine may damage the store. Set it to on.'],
    [
      commits === 'off',
      'PostgreSQL runs with synchronous_commit = off: a crash may lose actions that Warmwarden recorded. Set it to on.',
    ],
  ];
  return doubts.flatMap(([isSo, sentence]) => (isSo ? [sentence] : []));
}
