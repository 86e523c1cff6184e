// Long lists of alerts, worked through with pauses: in a storm there is one for each mailbox.

/** So many are looked at in one go. */
export const alertsAPiece = 250;

/**
 * Looks at each row. `pause` is called after each piece, also after the last one, because many short lists may follow one another:
 * it lets others have a turn when it is time.
 */
export async function eachInPieces<Row>(
  rows: Iterable<Row>,
  pause: () => Promise<void>,
  look: (row: Row) => void,
): Promise<void> {
  let inPiece = 0;
  for (const row of rows) {
    look(row);
    inPiece += 1;
    if (inPiece < alertsAPiece) continue;
    inPiece = 0;
    await pause();
  }
  await pause();
}

/** What `of` makes of each row; null: nothing. */
export async function mapInPieces<Row, Made>(
  rows: Iterable<Row>,
  pause: () => Promise<void>,
  of: (row: Row) => Made | null,
): Promise<Made[]> {
  const all: Made[] = [];
  await eachInPieces(rows, pause, (row) => {
    const made = of(row);
    if (made !== null) all.push(made);
  });
  return all;
}
