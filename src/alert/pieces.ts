// Long lists of alerts, worked through with pauses: in a storm there is one for each mailbox.

/** So many are looked at in one go. */
export const alertsAPiece = 250;

/**
 * What `of` makes of each row; null: nothing. `pause` is called after each piece, also after the last one, because many short lists
 * may follow one another: it lets others have a turn when it is time.
 */
export async function mapInPieces<Row, Made>(
  rows: Iterable<Row>,
  pause: () => Promise<void>,
  of: (row: Row) => Made | null,
): Promise<Made[]> {
  const all: Made[] = [];
  let inPiece = 0;
  for (const row of rows) {
    const made = of(row);
    if (made !== null) all.push(made);
    inPiece += 1;
    if (inPiece < alertsAPiece) continue;
    inPiece = 0;
    await pause();
  }
  await pause();
  return all;
}
