// Long lists in pieces, with a turn of the event loop between two: awaited statements alone never give it one.
import { nextTurn } from '../world/world.ts';

/** So many rows or ids go into one statement; SQLite takes 32,766 parameters, and a row has up to ten. */
export const rowsAPiece = 100;

/** Of rows with one key the last: PostgreSQL refuses a statement that writes a row twice. */
export function lastOfEach<Row>(rows: readonly Row[], keyOf: (row: Row) => string): readonly Row[] {
  return [...new Map(rows.map((row) => [keyOf(row), row])).values()];
}

/** Works through rows piece by piece; nothing for none. */
export async function inPieces<Row>(
  rows: readonly Row[],
  work: (piece: readonly Row[]) => Promise<unknown>,
  aPiece = rowsAPiece,
): Promise<void> {
  for (let from = 0; from < rows.length; from += aPiece) {
    if (from > 0) await nextTurn();
    await work(rows.slice(from, from + aPiece));
  }
}
