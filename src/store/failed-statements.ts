// Which statements failed and have not succeeded since: a store that carries out what it refused before is well again.
import type { LogEvent } from 'kysely';

/** Where the first value stands: rows and ids differ, the statement is the same. */
const firstValue = /[$?]/;

export class FailedStatements {
  /** Each up to its first value. */
  readonly #failed = new Set<string>();
  readonly #errors = new WeakSet<object>();

  /** Hears of each query, when it is over. */
  readonly listen = (event: LogEvent): void => {
    if (event.level === 'query' && this.#failed.size === 0) return;
    const [statement = ''] = event.query.sql.split(firstValue, 1);
    if (event.level === 'query') return void this.#failed.delete(statement);
    this.#failed.add(statement);
    if (event.error instanceof Error) this.#errors.add(event.error);
  };

  /** Whether a statement failed with the error. */
  has(error: unknown): boolean {
    return error instanceof Error && this.#errors.has(error);
  }

  /** Whether each that failed has succeeded since. */
  get areOver(): boolean {
    return this.#failed.size === 0;
  }

  forget(): void {
    this.#failed.clear();
  }
}
