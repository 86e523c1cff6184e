// Creates PostgreSQL clients: address, encryption, and error handling, so that no lost connection ends the process.

import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import {
  CompiledQuery,
  type DatabaseConnection,
  type DataTypeNode,
  PostgresDialect,
  type PostgresDialectConfig,
  PostgresDriver,
  type PostgresPool,
  PostgresQueryCompiler,
  sql,
} from 'kysely';
import pg from 'pg';
import { withoutNul } from '../../core/nearest.ts';
import type { PostgresPlace } from '../../core/store-failure.ts';
import { AtRiskError } from '../failure.ts';

/** All objects of Warmwarden are in this schema, which is the only one on the search path. */
export const schema = 'warmwarden';

/** A server that does not respond within this time is unreachable. */
const connectMs = 5_000;
/** Client and server abort a statement after this time: the connection may be lost without notice. */
const answerMs = 20_000;
/** Silence before keep-alive probes: a client that only receives would not notice a lost connection. */
const quietMs = 30_000;

/** Settings common to all connections. `withinMs`: timeout of both sides, or of the client alone behind a pooler. */
export function clientConfig(place: PostgresPlace, withinMs = answerMs): pg.ClientConfig {
  const { host, port, database, user, password, tls } = place;
  return {
    ...{ host, port, database, user, types },
    ...(password !== null && { password }),
    ssl: tls.kind === 'off' ? false : { rejectUnauthorized: true, ...(tls.ca !== null && { ca: tls.ca }) },
    application_name: 'warmwarden',
    ...(place.isPooled !== true && { options: `-c search_path=${schema} -c statement_timeout=${withinMs}` }),
    connectionTimeoutMillis: connectMs,
    query_timeout: withinMs,
    keepAlive: true,
    keepAliveInitialDelayMillis: quietMs,
  };
}

export function readerConfig(place: PostgresPlace, withinMs = answerMs): pg.ClientConfig {
  const config = clientConfig(place, withinMs);
  const { options } = config;
  return { ...config, ...(options !== undefined && { options: `${options} -c default_transaction_read_only=on` }) };
}

const unknownSetting = '08P01';

/** Returns the place with a note if a connection pooler is in between. */
export async function reached(place: PostgresPlace): Promise<PostgresPlace> {
  const client = tolerant(new pg.Client(clientConfig(place)));
  try {
    await client.connect();
    const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
    // A different process id means that a pooler accepted the connection.
    return 'processID' in client && client.processID !== rows[0]?.pid ? { ...place, isPooled: true } : place;
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : null;
    if (code === unknownSetting && place.isPooled !== true) return { ...place, isPooled: true };
    throw error;
  } finally {
    await client.end().catch(() => {});
  }
}

export function tolerant<Client extends pg.ClientBase>(client: Client): Client {
  client.on('error', () => {});
  return client;
}

export function poolOf(config: pg.PoolConfig, max: number): pg.Pool {
  const pool = new pg.Pool({ ...config, max, idleTimeoutMillis: 60_000 });
  pool.on('error', () => {});
  pool.on('connect', tolerant);
  return pool;
}

// PostgreSQL behind Kysely: runs the same statements as SQLite, and translates the parts in which the dialects differ.

const int8 = 20;

/** Parses 64-bit integers as numbers: times in milliseconds, counts and ids stay far below 2^53. */
const types = {
  getTypeParser: (id: number, format?: 'text' | 'binary') =>
    id === int8 ? Number : pg.types.getTypeParser(id, format as 'text'),
};

interface TransactionLimits {
  readonly statement: string;
  readonly lock: string;
}

export class StoreDialect extends PostgresDialect {
  readonly #config: PostgresDialectConfig;
  readonly #limits: TransactionLimits;

  constructor(config: PostgresDialectConfig, limits: TransactionLimits = { statement: '15s', lock: '5s' }) {
    super(config);
    this.#config = config;
    this.#limits = limits;
  }

  override createQueryCompiler(): PostgresQueryCompiler {
    return new Compiler();
  }

  override createDriver(): PostgresDriver {
    return new LimitedDriver(this.#config, this.#limits);
  }
}

class LimitedDriver extends PostgresDriver {
  readonly #begin: string;

  constructor(config: PostgresDialectConfig, { statement, lock }: TransactionLimits) {
    super(config);
    const limits = `set local statement_timeout = '${statement}'; set local lock_timeout = '${lock}'`;
    // PostgreSQL ends a transaction that a frozen process leaves idle for 2 s.
    this.#begin = `begin isolation level read committed; ${limits}; set local idle_in_transaction_session_timeout = '2s'`;
  }

  /** A session setting would stay on a connection that a pooler hands to another client. */
  override async beginTransaction(connection: DatabaseConnection): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw(this.#begin));
  }

  /** Ignores a failed rollback, for example on a lost connection, which would hide the error of the transaction. */
  override async rollbackTransaction(connection: Parameters<PostgresDriver['rollbackTransaction']>[0]): Promise<void> {
    await super.rollbackTransaction(connection).catch(() => {});
  }
}

class Compiler extends PostgresQueryCompiler {
  /** Maps types to match SQLite: 64-bit integers, and texts that are compared by their bytes. */
  protected override visitDataType(node: DataTypeNode): void {
    if (node.dataType === 'integer') this.append('bigint');
    else if (node.dataType === 'text') this.append('text collate "C"');
    else super.visitDataType(node);
  }

  protected override getAutoIncrement(): string {
    return 'generated by default as identity';
  }

  /** PostgreSQL accepts no fraction in an integer column, and no letter NUL in a text. */
  protected override addParameter(parameter: unknown): void {
    const whole = typeof parameter === 'number' ? Math.round(parameter) : parameter;
    super.addParameter(typeof whole === 'string' ? withoutNul(whole) : whole);
  }
}

export const nowMs = sql<number>`(extract(epoch from clock_timestamp()) * 1000)::bigint`;

/** Error of pg for a statement without a response within query_timeout. */
const overdue = 'Query read timeout';
/** Code of a write on a standby. */
const readOnly = '25006';

/** Closes itself after an error that the next statement would meet, too. */
class OneServerClient extends pg.Client {
  // biome-ignore lint/suspicious/noExplicitAny: all of the forms in which pg takes a statement.
  override query(...given: any[]): any {
    const answer = super.query(...(given as [string]));
    answer.catch((error: Error & { readonly code?: string }) => {
      if (error.message === overdue || error.code === readOnly) void this.end();
    });
    return answer;
  }
}

/** Connections that lead to the newest server that this process, or an earlier one, has used. */
export class NewestServer {
  readonly #place: PostgresPlace;
  readonly #keeps: boolean;
  #newest: Server | null;
  readonly #servers = new WeakMap<object, Server | 'unknown'>();

  constructor(place: PostgresPlace, keeps: boolean) {
    this.#place = place;
    this.#keeps = keeps;
    this.#newest = newestAt(place);
  }

  /** Pool of one connection, whose server is checked before each use. */
  pool(config: pg.ClientConfig): PostgresPool {
    const pool = poolOf({ ...config, Client: OneServerClient }, 1);
    const connect = async () => {
      for (;;) {
        const client = await pool.connect();
        const isNew = !this.#servers.has(client);
        try {
          await this.#check(client);
          return client;
        } catch (error) {
          client.release(true);
          if (isNew) throw error;
        }
      }
    };
    return { connect, end: () => pool.end(), options: pool.options };
  }

  /** Throws OldPrimaryError. A standby is asked again each time: it may be promoted while connected. */
  async #check(client: pg.ClientBase): Promise<void> {
    const known = this.#servers.get(client);
    const server = known ?? (await serverOf((text) => client.query(text)));
    if (server === 'standby') return;
    // A pooler may send the next transaction to another server.
    if (this.#place.isPooled !== true) this.#servers.set(client, server);
    if (server === 'unknown') return;
    if (isOldPrimary(server, this.#newest)) throw new OldPrimaryError(this.#place, server, this.#newest);
    if (known) return;
    this.#newest = server;
    if (this.#keeps) keepNewest(this.#place, server);
  }
}

// Detects a server that was the primary before a failover. It may run again and accept writes, but lacks the data of
// the new primary: a process that follows it would repeat the actions of other processes.

/** `system`: number of initdb. `timeline`: increases with a promotion, and with a restore to a point in time. */
export interface Server {
  readonly system: string;
  readonly timeline: number;
}

/** The name of the WAL file changes at once; the control file only with the first checkpoint. */
const question = `SELECT system_identifier::text AS system, CASE WHEN NOT pg_is_in_recovery()
  THEN substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) END AS timeline FROM pg_control_system()`;

interface TimelineRow {
  readonly system: string;
  readonly timeline: string | null;
}

/** `standby` may be promoted while connected; `unknown`: a service does not allow the query. */
export async function serverOf(
  ask: (text: string) => Promise<{ readonly rows: readonly unknown[] }>,
): Promise<Server | 'standby' | 'unknown'> {
  try {
    const { system, timeline } = (await ask(question)).rows[0] as TimelineRow;
    return timeline === null ? 'standby' : { system, timeline: Number.parseInt(timeline, 16) };
  } catch (error) {
    if (isNotOffered(error)) return 'unknown';
    throw error;
  }
}

/** True if the server does not have or not allow what was asked. */
export function isNotOffered(error: unknown): boolean {
  return error instanceof Error && 'code' in error && /^(0A|42)/.test(String(error.code));
}

export function newestAt(place: PostgresPlace): Server | null {
  try {
    const { system, timeline } = JSON.parse(readFileSync(fileOf(place), 'utf8'));
    return typeof system === 'string' && typeof timeline === 'number' ? { system, timeline } : null;
  } catch {
    return null;
  }
}

/** The file is not synced: what a crash of the machine loses is learned again from the new primary. */
function keepNewest(place: PostgresPlace, server: Server): void {
  const file = fileOf(place);
  try {
    writeFileSync(`${file}.new`, JSON.stringify(server), { mode: 0o600 });
    renameSync(`${file}.new`, file);
  } catch {
    // This process keeps the server in memory, and a start refuses a folder without write access.
  }
}

const fileOf = ({ path }: PostgresPlace) => `${path}.timeline`;

/** Another system is a different server, for example after an upgrade. */
export function isOldPrimary({ system, timeline }: Server, newest: Server | null): boolean {
  return newest !== null && system === newest.system && timeline < newest.timeline;
}

export class OldPrimaryError extends AtRiskError {
  readonly atStart: string;

  constructor(place: PostgresPlace, { timeline }: Server, newest: Server | null) {
    super(
      `PostgreSQL at ${place.host}:${place.port} was the primary before a failover: its timeline is ${timeline}, and Warmwarden has already used timeline ${newest?.timeline} of the same database cluster`,
      'Stop this server, and correct the address in store.url or its DNS record so that it leads to the new primary; Warmwarden then continues by itself.',
    );
    this.atStart = `If you restored this server from a snapshot and no other primary exists, stop all replicas and delete ${fileOf(place)} on the machine of each.`;
  }
}
