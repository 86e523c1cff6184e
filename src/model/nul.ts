// The letter NUL, which no text of PostgreSQL holds.

/** The text with the replacement character in the place of each NUL: the same on every store, and in memory. */
export function withoutNul(text: string): string {
  return text.includes('\0') ? text.replaceAll('\0', '\uFFFD') : text;
}
