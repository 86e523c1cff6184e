// What a PostgreSQL server, or the settings of the role, could do to the store: sentences for the log of a start and for `doctor`.
import { sql } from 'kysely';
import type { PostgresPlace } from '../../core/store-failure.ts';
import { secondMs } from '../../core/time.ts';
import type { Db } from '../schema/tables.ts';
import { settingRole, sqlName } from './setup.ts';

/** One writes, four read, one is for heartbeats, two are for recipes. */
export const connectionsAProcess = 8;
/** Needed after the start has connected: two for recipes, and those of a standby. */
const spareConnections = connectionsAProcess + 2;

export interface Connections {
  /** How many a role that is no superuser could still open. */
  readonly free: number;
  /** What to do when they are too few. */
  readonly remedy: string;
}

interface Limits {
  readonly server: number;
  readonly role: number;
  readonly database: number;
}

/**
 * By the narrowest of three limits. null behind a pooler, which has limits of its own. A role without superuser rights sees to whom
 * other sessions belong, but not their kind: sessions of the server itself have no user or no database.
 */
export async function connectionsOf(db: Db, { isPooled, user, database }: PostgresPlace): Promise<Connections | null> {
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
 * With shorter timeouts, Warmwarden's own work fails. It limits each of its transactions itself, but not each read: behind a pooler,
 * no connection of its own sets a statement_timeout.
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

/** What could lose or delay something, apart from the number of connections. */
export async function serverDoubts(db: Db, place: PostgresPlace): Promise<readonly string[]> {
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

/** At a start, once it has connected. */
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
