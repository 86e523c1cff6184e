// Makes writes of a store in this process fail as SQLite itself would: the n-th, every second, all. Nothing in the product
// knows of it: the driver's own method is replaced, so that every transaction passes here, whoever begins it.
import { StatementSync } from 'node:sqlite';

/** What SQLite says, with its primary result code. */
export const sqliteErrors = {
  full: { message: 'database or disk is full', errcode: 13 },
  io: { message: 'disk I/O error', errcode: 10 },
  damaged: { message: 'database disk image is malformed', errcode: 11 },
} as const;

export interface FailingWrites extends Disposable {
  /** Transactions begun since then, those that failed included. */
  readonly begun: number;
  readonly failed: number;
}

export interface HowToFail {
  /** At its beginning, or when everything is written and only the COMMIT is missing. */
  readonly at?: 'begin immediate' | 'commit';
  readonly error?: keyof typeof sqliteErrors;
}

/**
 * From now on `fails` is asked about every transaction, counted from 1, until this is disposed:
 * `using writes = failWrites((nth) => nth === 7)`.
 */
export function failWrites(
  fails: (nth: number) => boolean,
  { at = 'begin immediate', error = 'full' }: HowToFail = {},
): FailingWrites {
  const { run } = StatementSync.prototype;
  const counts = { begun: 0, failed: 0 };
  StatementSync.prototype.run = function (this: StatementSync, ...values: Parameters<typeof run>) {
    const { sourceSQL } = this;
    if (sourceSQL === 'begin immediate') counts.begun += 1;
    if (sourceSQL === at && fails(counts.begun)) {
      counts.failed += 1;
      const { message, errcode } = sqliteErrors[error];
      throw Object.assign(new Error(message), { code: 'ERR_SQLITE_ERROR', errcode, errstr: message });
    }
    return run.apply(this, values);
  } as typeof run;
  return {
    get begun() {
      return counts.begun;
    },
    get failed() {
      return counts.failed;
    },
    [Symbol.dispose]: () => {
      StatementSync.prototype.run = run;
    },
  };
}
