// Creates PostgreSQL clients: address, encryption, and error handling, so that no lost connection ends the process.

import {
  CompiledQuery,
  type DatabaseConnection,
  type DataTypeNode,
  PostgresDialect,
  type PostgresDialectConfig,
  PostgresDriver,
  PostgresQueryCompiler,
  sql,
} from 'kysely';
import pg from 'pg';
import { withoutNul } from '../../core/nearest.ts';
import type { PostgresPlace } from '../../core/store-failure.ts';

/** All objects of Warmwarden are in this schema, which is the only one on the search path. */
export const schema = 'warmwarden';

/** A server that does not respond within this time is unreachable. */
const connectMs = 5_000;
/** Client and server abort a statement after this time: the connection may be lost without notice. */
const answerMs = 20_000;
/**
 * Keep-alive probes start after this long without traffic: a client that only receives would not notice a lost
 * connection.
 */
const quietMs = 30_000;

/** Settings common to all connections. `withinMs`: timeout of both sides, or of the client alone behind a pooler. */
export function clientConfig(place: PostgresPlace, withinMs = answerMs): pg.ClientConfig {
  const { host, port, database, user, password, tls } = place;
  return {
    ...{ host, port, database, user, types },
    ...(password !== null && { password }),
    // Certificate and host name are verified, like verify-full in libpq.
    ssl: tls.kind === 'off' ? false : { rejectUnauthorized: true, ...(tls.ca !== null && { ca: tls.ca }) },
    application_name: 'warmwarden',
    ...(place.isPooled !== true && { options: `-c search_path=${schema} -c statement_timeout=${withinMs}` }),
    connectionTimeoutMillis: connectMs,
    query_timeout: withinMs,
    keepAlive: true,
    keepAliveInitialDelayMillis: quietMs,
  };
}

/** Settings of a connection that only reads. */
export function readerConfig(place: PostgresPlace, withinMs = answerMs): pg.ClientConfig {
  const config = clientConfig(place, withinMs);
  const { options } = config;
  return { ...config, ...(options !== undefined && { options: `${options} -c default_transaction_read_only=on` }) };
}

/** Error of a pooler that does not support a connection setting. */
const unknownSetting = '08P01';

/**
 * Connects, and returns the place with a note if a connection pooler is in between. Rejects if the server does not
 * respond.
 */
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

/** A client that tolerates the loss of its connection: only its current statement fails. */
export function tolerant<Client extends pg.ClientBase>(client: Client): Client {
  client.on('error', () => {});
  return client;
}

/** A pool for one purpose; connections are opened on demand. */
export function poolOf(config: pg.PoolConfig, max: number): pg.Pool {
  const pool = new pg.Pool({ ...config, max, idleTimeoutMillis: 60_000 });
  pool.on('error', () => {});
  pool.on('connect', tolerant);
  return pool;
}

// PostgreSQL behind Kysely: runs the same statements as SQLite, and translates the parts in which the dialects differ.

/** Type numbers of PostgreSQL. */
const int8 = 20;

/** Parses 64-bit integers as numbers: times in milliseconds, counts and ids stay far below 2^53. */
const types = {
  getTypeParser: (id: number, format?: 'text' | 'binary') =>
    id === int8 ? Number : pg.types.getTypeParser(id, format as 'text'),
};

/** Longest duration of a statement in a transaction, and of a wait for a lock. */
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

  /**
   * Sends one message with SET LOCAL: a session setting would stay on a connection that a pooler hands to another
   * client.
   */
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

  /**
   * Adapts parameters: PostgreSQL accepts no fraction of a millisecond in an integer column, and no letter NUL in a
   * text. Parameters of CompiledQuery.raw do not pass through here.
   */
  protected override addParameter(parameter: unknown): void {
    super.addParameter(storable(parameter));
  }
}

function storable(parameter: unknown): unknown {
  if (typeof parameter === 'number') return Math.round(parameter);
  return typeof parameter === 'string' ? withoutNul(parameter) : parameter;
}

/** Time of the server, epoch milliseconds. */
export const nowMs = sql<number>`(extract(epoch from clock_timestamp()) * 1000)::bigint`;
