// Examines a PostgreSQL server and its store for `doctor`. Changes nothing.
import { Kysely, sql } from 'kysely';
import type { PostgresPlace } from '../../core/store-failure.ts';
import { type EpochMs, secondMs } from '../../core/time.ts';
import { connectionsAProcess } from '../lease.ts';
import { refuseNewer, schemaOf, schemaVersion } from '../schema/migrations.ts';
import type { Db, Tables } from '../schema/tables.ts';
import { clientConfig, nowMs, poolOf, reached, StoreDialect, schema } from './connection.ts';
import { postgresError } from './failure.ts';
import { activeProcess } from './lease.ts';
import { hasLease, hasStore, isReady, refuseForeign, refuseServer, settingRole, sqlName } from './setup.ts';

/** `absent`: the first start creates it. `earlier`: the next start upgrades it. */
export type SchemaState = 'absent' | 'earlier' | 'ready';

export interface Examination {
  readonly version: string;
  readonly state: SchemaState;
  readonly lacking: readonly string[];
  readonly doubts: readonly string[];
  readonly connections: FreeConnections | null;
  /** Milliseconds by which the server's clock is ahead of this machine's. */
  readonly aheadMs: number;
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
    return await examined(db, place, clock);
  } catch (error) {
    throw postgresError(place, error);
  } finally {
    await db.destroy();
  }
}

async function examined(db: Db, place: PostgresPlace, clock: { now(): EpochMs }): Promise<Examination> {
  const { rows: servers } = await sql<{ version: string }>`SELECT current_setting('server_version') AS version`.execute(
    db,
  );
  const rights = await rightsOf(db);
  const mayRead = rights.sees && rights.closed.length === 0;
  const state = mayRead ? await stateOf(db, place) : 'ready';
  return {
    version: servers[0]?.version ?? '',
    state,
    lacking: lackingIn(rights, state, place),
    doubts: await serverDoubts(db, place),
    connections: await connectionsOf(db, place),
    aheadMs: await aheadMs(db, clock),
    content: state === 'absent' ? nothing : mayRead && state === 'ready' ? await contentOf(db) : null,
  };
}

async function contentOf(db: Db): Promise<Content> {
  const accounts = await db.selectFrom('mailboxes').select('account').distinct().orderBy('account').execute();
  return { active: await activeProcess(db), accounts: accounts.map(({ account }) => account) };
}

async function stateOf(db: Db, place: PostgresPlace): Promise<SchemaState> {
  if (!(await hasStore(db))) {
    await refuseForeign(db, place);
    return 'absent';
  }
  if ((await isReady(db)) && (await hasLease(db))) return 'ready';
  const version = await schemaOf(db);
  refuseNewer(version);
  return version <= schemaVersion ? 'earlier' : 'ready';
}

interface Rights {
  readonly creates: boolean;
  readonly there: boolean;
  readonly sees: boolean;
  readonly adds: boolean;
  readonly foreign: string | null;
  readonly closed: readonly string[];
}

async function rightsOf(db: Db): Promise<Rights> {
  const { rows } = await sql<Omit<Rights, 'foreign' | 'closed'>>`
    SELECT has_database_privilege(current_database(), 'CREATE') AS creates, n.oid IS NOT NULL AS there,
      n.oid IS NULL OR has_schema_privilege(n.oid, 'USAGE') AS sees,
      coalesce(has_schema_privilege(n.oid, 'CREATE'), false) AS adds
    FROM (SELECT 1) one LEFT JOIN pg_namespace n ON n.nspname = ${schema}`.execute(db);
  const tables = await sql<{ name: string; closed: boolean; foreign: boolean }>`
    SELECT c.relname AS name, NOT pg_has_role(c.relowner, 'USAGE') AS "foreign",
      NOT (has_table_privilege(c.oid, 'SELECT') AND has_table_privilege(c.oid, 'INSERT')
        AND has_table_privilege(c.oid, 'UPDATE') AND has_table_privilege(c.oid, 'DELETE')) AS closed
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE n.nspname = ${schema} AND c.relkind = 'r' ORDER BY 1`.execute(db);
  const [own] = rows;
  return {
    ...(own ?? { creates: false, there: false, sees: false, adds: false }),
    foreign: tables.rows.find((table) => table.foreign)?.name ?? null,
    closed: tables.rows.flatMap(({ name, closed }) => (closed ? [name] : [])),
  };
}

function lackingIn(rights: Rights, state: SchemaState, { user, database }: PostgresPlace): readonly string[] {
  const role = sqlName(user);
  const { there, sees, adds, creates, foreign, closed } = rights;
  if (!there)
    return creates
      ? []
      : [
          `The role ${user} may not create the schema ${schema}. Run GRANT CREATE ON DATABASE ${sqlName(database)} TO ${role};`,
        ];
  if (!sees)
    return [`The role ${user} may not use the schema ${schema}. Run GRANT USAGE ON SCHEMA ${schema} TO ${role};`];
  if (state === 'absent' && !adds)
    return [
      `The role ${user} may not create tables in the schema ${schema}. Run ALTER SCHEMA ${schema} OWNER TO ${role};`,
    ];
  if (closed.length > 0)
    return [
      `The role ${user} may not read and write the table ${closed[0]}${closed.length > 1 ? ` and ${closed.length - 1} more` : ''}. Run GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA ${schema} TO ${role};`,
    ];
  if (state === 'earlier' && (foreign !== null || !adds))
    return [
      `The role ${user} may not upgrade the store${foreign === null ? '' : `: another role owns the table ${foreign}`}. Start this version once with the role that owns the schema ${schema}.`,
    ];
  return [];
}

/** Least difference that is certain: the server read its clock at some time between request and response. */
async function aheadMs(db: Db, clock: { now(): EpochMs }): Promise<number> {
  const before = clock.now();
  const { rows } = await sql<{
    now: number;
  }>`SELECT ${nowMs} AS now`.execute(db);
  const after = clock.now();
  const between = (before + after) / 2;
  const ahead = (rows[0]?.now ?? between) - between;
  return Math.sign(ahead) * Math.max(0, Math.abs(ahead) - (after - before) / 2);
}

// Risks to the store from a PostgreSQL server or the settings of the role: sentences for the log of a start and for
// `doctor`.

/** Connections that are needed after a start has connected: two for recipes, and those of a standby. */
const spareConnections = connectionsAProcess + 2;

export interface FreeConnections {
  readonly free: number;
  readonly remedy: string;
}

interface Limits {
  readonly server: number;
  readonly role: number;
  readonly database: number;
}

/**
 * Free connections by the narrowest of three limits, or null behind a pooler, which has its own limits. A role without
 * superuser rights sees the users of other sessions, but not their kind: sessions of the server itself have no user or
 * no database.
 */
async function connectionsOf(db: Db, { isPooled, user, database }: PostgresPlace): Promise<FreeConnections | null> {
  if (isPooled === true) return null;
  const { rows } = await sql<Limits>`
    WITH clients AS (SELECT usename, datname FROM pg_stat_activity WHERE usesysid IS NOT NULL AND datid IS NOT NULL
      AND coalesce(backend_type, 'client backend') = 'client backend')
    SELECT current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int
        - coalesce(current_setting('reserved_connections', true), '0')::int - (SELECT count(*) FROM clients)::int AS server,
      (SELECT rolconnlimit - (SELECT count(*) FROM clients WHERE usename = current_user)::int
        FROM pg_roles WHERE rolname = current_user AND rolconnlimit >= 0 AND NOT rolsuper) AS role,
      (SELECT datconnlimit - (SELECT count(*) FROM clients WHERE datname = current_database())::int
        FROM pg_database WHERE datname = current_database() AND datconnlimit >= 0) AS database`.execute(db);
  const [limits] = rows;
  if (!limits) return null;
  const remedies: Readonly<Record<keyof Limits, string>> = {
    server: 'Raise max_connections.',
    role: `Raise the limit of the role: ALTER ROLE ${sqlName(user)} CONNECTION LIMIT -1;`,
    database: `Raise the limit of the database: ALTER DATABASE ${sqlName(database)} CONNECTION LIMIT -1;`,
  };
  const kinds = ['server', 'role', 'database'] as const;
  const [narrowest = 'server'] = kinds
    .filter((kind) => limits[kind] !== null)
    .toSorted((a, b) => limits[a] - limits[b]);
  return { free: Math.max(0, limits[narrowest]), remedy: remedies[narrowest] };
}

/**
 * Least timeouts that Warmwarden's own work needs. Each transaction has its own limit, but a read does not: behind a
 * pooler, Warmwarden can't set a statement_timeout for its connections.
 */
const leastTimeouts: readonly (readonly [setting: string, leastMs: number, effect: string])[] = [
  ['statement_timeout', 20_000, 'Longer reads fail, for example at the start'],
  ['transaction_timeout', 20_000, 'Longer transactions fail, for example while recipes read'],
  ['idle_session_timeout', 60_000, 'PostgreSQL cuts connections that wait for work'],
];

async function timeoutDoubts(db: Db, place: PostgresPlace): Promise<readonly string[]> {
  const { rows } = await sql<{ name: string; ms: number }>`
    SELECT name, setting::bigint AS ms FROM pg_settings WHERE name = ANY(${leastTimeouts.map(([name]) => name)})`.execute(
    db,
  );
  return leastTimeouts.flatMap(([name, leastMs, effect]) => {
    const ms = rows.find((row) => row.name === name)?.ms ?? 0;
    if (ms === 0 || ms >= leastMs) return [];
    const mend = settingRole(place, name, leastMs / secondMs);
    return [
      `PostgreSQL has ${name} = ${ms} ms for the role ${place.user}. ${effect}. Run this in psql: ${mend} Then restart Warmwarden.`,
    ];
  });
}

/** Warnings about settings that could lose or delay data, apart from the number of connections. */
async function serverDoubts(db: Db, place: PostgresPlace): Promise<readonly string[]> {
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
  const said = doubts.flatMap(([isSo, sentence]) => (isSo ? [sentence] : []));
  return [...said, ...(await timeoutDoubts(db, place))];
}

export async function doubtsOf(db: Db, place: PostgresPlace): Promise<readonly string[]> {
  const connections = await connectionsOf(db, place);
  const few =
    connections && connections.free < spareConnections
      ? [
          `PostgreSQL has only ${connections.free} free connections: a restart or a standby may find none. ${connections.remedy}`,
        ]
      : [];
  return [...few, ...(await serverDoubts(db, place))];
}
