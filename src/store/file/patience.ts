// SQLite behind Kysely while another process holds a lock: a statement waits a moment, then lets the event loop turn and
// tries again, and gives up in the end. Nothing else of the process stands still meanwhile.
import { setImmediate as turn } from 'node:timers/promises';
import type { SqliteDialectConfig } from 'kysely';
import { CompiledQuery, type DatabaseConnection, type QueryResult, SqliteDialect, SqliteDriver } from 'kysely';
import { isLocked } from '../failure.ts';

/** SQLite itself waits so long for a lock, in one go, with the whole process. */
export const busyTimeoutMs = 20;
/** Two seconds in all. */
const tries = 100;

/** Whether the handle is within a transaction: some failures end it without a ROLLBACK. */
type InTransaction = () => boolean;

export class PatientDialect extends SqliteDialect {
  readonly #config: SqliteDialectConfig;
  readonly #inTransaction: InTransaction;

  constructor(config: SqliteDialectConfig, inTransaction: InTransaction) {
    super(config);
    this.#config = config;
    this.#inTransaction = inTransaction;
  }

  override createDriver(): SqliteDriver {
    return new PatientDriver(this.#config, this.#inTransaction);
  }
}

class PatientDriver extends SqliteDriver {
  readonly #inTransaction: InTransaction;
  #patient: PatientConnection | null = null;

  constructor(config: SqliteDialectConfig, inTransaction: InTransaction) {
    super(config);
    this.#inTransaction = inTransaction;
  }

  override async acquireConnection(): Promise<DatabaseConnection> {
    this.#patient ??= new PatientConnection(await super.acquireConnection());
    return this.#patient;
  }

  /** At once as a writer: a lock is met here, where nothing has been done yet. */
  override async beginTransaction(connection: DatabaseConnection): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw('begin immediate'));
  }

  /** After a full disk SQLite has rolled back by itself, and a ROLLBACK would hide the cause behind an error of its own. */
  override async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    if (this.#inTransaction()) await super.rollbackTransaction(connection);
  }
}

class PatientConnection implements DatabaseConnection {
  readonly #connection: DatabaseConnection;
  /** Used up by a lock that stayed: whoever comes next fails at the first try, until one succeeds. */
  #triesLeft = tries;

  constructor(connection: DatabaseConnection) {
    this.#connection = connection;
  }

  async executeQuery<Row>(query: CompiledQuery): Promise<QueryResult<Row>> {
    for (;;) {
      try {
        const result = await this.#connection.executeQuery<Row>(query);
        this.#triesLeft = tries;
        return result;
      } catch (error) {
        if (!isLocked(error)) throw error;
        this.#triesLeft = Math.max(0, this.#triesLeft - 1);
        // Also before giving up: whoever waits behind this one must not add to the same turn.
        await turn();
        if (this.#triesLeft === 0) throw error;
      }
    }
  }

  streamQuery<Row>(query: CompiledQuery, chunkSize: number): AsyncIterableIterator<QueryResult<Row>> {
    return this.#connection.streamQuery<Row>(query, chunkSize);
  }
}
