// Large answers of a recipe service, read in a thread for a daemon: of their rows only the number is kept.
import { Apart, threadFile } from '../../api/http/apart.ts';
import { malformed, type Result } from '../../api/http/failure.ts';
import type { Redactor } from '../../api/http/redactor.ts';

/** What the thread gets besides the body. */
export interface Order {
  readonly status: number;
  /** What its redactor takes out. */
  readonly secrets: { readonly own: string | null; readonly others: readonly string[] };
}

/** The body without its rows. */
export type Piece = Result<unknown>;

const apart = new Apart<Order, Piece>(threadFile('large-answers-thread', import.meta.url));

export async function readCounting(status: number, body: Buffer, { own, others }: Redactor): Promise<Result<unknown>> {
  let read: Result<unknown> | null = null;
  const failure = await apart.carryOut({ status, secrets: { own, others } }, body, (piece) => {
    read = piece;
  });
  return read ?? malformed(status, `it can't be read: ${failure ?? 'it gave no result'}`);
}
