// What of the terminal the output heeds: its size, and whether it shows colours.

/** Letters in a line of standard output: those of the screen; as many as it takes where a program reads. */
export function screenColumns(): number {
  const { isTTY, columns } = process.stdout;
  return isTTY ? columns : Number.POSITIVE_INFINITY;
}

/** Lines of the screen; null where a program reads. */
export function screenRows(): number | null {
  const { isTTY, rows } = process.stdout;
  return isTTY ? rows : null;
}

export function showsColours(): boolean {
  return process.stdout.isTTY === true && !process.env['NO_COLOR'];
}
