// How a client of PostgreSQL is made: where it connects, how it is encrypted, and that no lost connection ends the process.

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

/** Everything of ours is in this schema, and nothing else is looked for. */
export const schema = 'warmwarden';

/** A server that does not answer within this is away. */
const connectMs = 5_000;
/** A statement whose answer does not come is given up after this, by both sides: the connection may be cut without a word. */
const answerMs = 20_000;
/** After so long without a byte the other side is asked for a sign of life: who only listens would not miss it otherwise. */
const quietMs = 30_000;

/** What every connection has in common. `withinMs`: how long both sides wait for an answer; behind a pooler, the client alone. */
export function clientConfig(place: PostgresPlace, withinMs = answerMs): pg.ClientConfig {
  const { host, port, database, user, password, tls } = place;
  return {
    ...{ host, port, database, user, types },
    ...(password !== null && { password }),
    // Certificate and name are checked: what libpq calls verify-full.
    ssl: tls.kind === 'off' ? false : { rejectUnauthorized: true, ...(tls.ca !== null && { ca: tls.ca }) },
    application_name: 'warmwarden',
    ...(place.isPooled !== true && { options: `-c search_path=${schema} -c statement_timeout=${withinMs}` }),
    connectionTimeoutMillis: connectMs,
    query_timeout: withinMs,
    keepAlive: true,
    keepAliveInitialDelayMillis: quietMs,
  };
}

/** Of a connection that only reads. */
export function readerConfig(place: PostgresPlace, withinMs = answerMs): pg.ClientConfig {
  const config = clientConfig(place, withinMs);
  const { options } = config;
  return { ...config, ...(options !== undefined && { options: `${options} -c default_transaction_read_only=on` }) };
}

/** Of a pooler that does not know a setting of a connection. */
const unknownSetting = '08P01';

/** The place as it answers: whether a connection pooler is before it. Rejects when nothing answers. */
export async function reached(place: PostgresPlace): Promise<PostgresPlace> {
  const client = tolerant(new pg.Client(clientConfig(place)));
  try {
    await client.connect();
    const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
    // Whoever answers the client and whoever carries out its statements are two.
    return 'processID' in client && client.processID !== rows[0]?.pid ? { ...place, isPooled: true } : place;
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : null;
    if (code === unknownSetting && place.isPooled !== true) return { ...place, isPooled: true };
    throw error;
  } finally {
    await client.end().catch(() => {});
  }
}

/** A client whose connection may be lost at any time: what it was doing fails, and nothing else. */
export function tolerant<Client extends pg.ClientBase>(client: Client): Client {
  client.on('error', () => {});
  return client;
}

/** Connections for one purpose, opened when they are needed. */
export function poolOf(config: pg.PoolConfig, max: number): pg.Pool {
  const pool = new pg.Pool({ ...config, max, idleTimeoutMillis: 60_000 });
  pool.on('error', () => {});
  pool.on('connect', tolerant);
  return pool;
}

// PostgreSQL behind Kysely: the same statements as for SQLite, with what PostgreSQL calls otherwise put in its words.

/** Type numbers of PostgreSQL. */
const int8 = 20;

/** Whole numbers of 64 bits become numbers: times in milliseconds, counts and ids stay far below 2^53. */
const types = {
  getTypeParser: (id: number, format?: 'text' | 'binary') =>
    id === int8 ? Number : pg.types.getTypeParser(id, format as 'text'),
};

/** How long one statement of a transaction, and a wait for a lock, may take. */
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
    // A transaction that a frozen process leaves idle ends after 2 s.
    this.#begin = `begin isolation level read committed; ${limits}; set local idle_in_transaction_session_timeout = '2s'`;
  }

  /** One message, and SET LOCAL: a setting of a session would stay on what a pooler hands to somebody else. */
  override async beginTransaction(connection: DatabaseConnection): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw(this.#begin));
  }

  /** The error that a transaction fails with is not hidden by a connection that is lost by then. */
  override async rollbackTransaction(connection: Parameters<PostgresDriver['rollbackTransaction']>[0]): Promise<void> {
    await super.rollbackTransaction(connection).catch(() => {});
  }
}

class Compiler extends PostgresQueryCompiler {
  /** As SQLite has them: whole numbers of 64 bits, and texts that are compared by their bytes. */
  protected override visitDataType(node: DataTypeNode): void {
    if (node.dataType === 'integer') this.append('bigint');
    else if (node.dataType === 'text') this.append('text collate "C"');
    else super.visitDataType(node);
  }

  protected override getAutoIncrement(): string {
    return 'generated by default as identity';
  }

  /**
   * A column of whole numbers takes no fraction of a millisecond here, and no text the letter NUL. Parameters that are handed to
   * CompiledQuery.raw do not come through here.
   */
  protected override addParameter(parameter: unknown): void {
    super.addParameter(storable(parameter));
  }
}

function storable(parameter: unknown): unknown {
  if (typeof parameter === 'number') return Math.round(parameter);
  return typeof parameter === 'string' ? withoutNul(parameter) : parameter;
}

/** The time of the server, epoch milliseconds. */
export const nowMs = sql<number>`(extract(epoch from clock_timestamp()) * 1000)::bigint`;
