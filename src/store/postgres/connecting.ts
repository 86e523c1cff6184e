// How a client of PostgreSQL is made: where it connects, how it is encrypted, and that no lost connection ends the process.
import pg from 'pg';
import type { PostgresPlace } from '../../core/store-failure.ts';
import { types } from './dialect.ts';

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
