// What `doctor` needs to know about a PostgreSQL server and the store in it. It changes nothing.
import { Kysely, sql } from 'kysely';
import type { PostgresPlace } from '../../core/store-failure.ts';
import type { EpochMs } from '../../core/time.ts';
import { refuseNewer, schemaOf, schemaVersion } from '../schema/migrations.ts';
import type { Db, Tables } from '../schema/tables.ts';
import { clientConfig, poolOf, reached, schema } from './connecting.ts';
import { StoreDialect } from './dialect.ts';
import { type Connections, connectionsOf, serverDoubts } from './doubts.ts';
import { postgresError } from './failure.ts';
import { activeProcess } from './lease.ts';
import { nowMs } from './now.ts';
import { hasLease, hasStore, isReady, refuseForeign, refuseServer, sqlName } from './setup.ts';

/** `absent`: the first start creates it. `earlier`: the next start upgrades it. */
export type SchemaState = 'absent' | 'earlier' | 'ready';

export interface Examination {
  /** Of PostgreSQL, in its words. */
  readonly version: string;
  readonly state: SchemaState;
  /** Rights that the role needs and does not have, in sentences with the statement that gives them. */
  readonly lacking: readonly string[];
  /** As a start logs them. */
  readonly doubts: readonly string[];
  /** null: a pooler is in between. */
  readonly connections: Connections | null;
  /** How far the server's clock is ahead of this machine's. */
  readonly aheadMs: number;
  /** null: it can't be read as it is. */
  readonly content: Content | null;
}

export interface Content {
  /** The active process; null: none sends heartbeats. */
  readonly active: { readonly name: string; readonly version: string } | null;
  /** The accounts that have mailboxes in the store. */
  readonly accounts: readonly string[];
}

const nothing: Content = { active: null, accounts: [] };

/** Rejects with StoreError or NewerStoreError, as a start does: with one sentence. */
export async function examinePostgres(named: PostgresPlace, clock: { now(): EpochMs }): Promise<Examination> {
  const place = await reached(named).catch((error: unknown) => Promise.reject(postgresError(named, error)));
  // As a start connects: with what is set for the role.
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
  /** Of the database. */
  readonly creates: boolean;
  /** The schema is there. */
  readonly there: boolean;
  readonly sees: boolean;
  /** Of the schema. */
  readonly adds: boolean;
  /** A table that is somebody else's. */
  readonly foreign: string | null;
  /** Tables that the role may not read or write. */
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

/** The least by which they differ: the server read its clock at some time between question and answer. */
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
