// Cursors: where the next page of a list begins, as text that only this server reads. A cursor names the last row by what the list
// is ordered by, so that rows which come or go meanwhile move no other.
import type { Parameter } from './query.ts';

/** What a list is ordered by: the parts of it in turn, the lowest first. The last part tells all rows apart. */
export type Key = readonly (number | string)[];

interface Parts {
  readonly whole: number;
  readonly number: number;
  readonly text: string;
}
type KeyOf<Kinds extends readonly (keyof Parts)[]> = { readonly [Index in keyof Kinds]: Parts[Kinds[Index]] };

/** Warmwarden makes none that is longer. */
const maxCharacters = 4_000;

export function cursorAfter(key: Key): string {
  return Buffer.from(JSON.stringify(key)).toString('base64url');
}

/** The parameter of a route whose rows have keys of these parts. */
export function cursorOf<const Kinds extends readonly (keyof Parts)[]>(...kinds: Kinds): Parameter<KeyOf<Kinds>> {
  const isKey = (key: unknown): key is KeyOf<Kinds> =>
    Array.isArray(key) && key.length === kinds.length && kinds.every((kind, index) => isA(kind, key[index]));
  const read = (found: string) => {
    const key = found.length <= maxCharacters ? decoded(found) : null;
    return isKey(key) ? key : null;
  };
  const schema = { type: 'string', pattern: '^[A-Za-z0-9_-]+$', maxLength: maxCharacters };
  return { wanted: 'the next_cursor of an answer of this route', schema, required: false, read };
}

function isA(kind: keyof Parts, part: unknown): boolean {
  // PostgreSQL keeps no NUL in a text.
  if (kind === 'text') return typeof part === 'string' && !part.includes('\0');
  return kind === 'whole' ? Number.isSafeInteger(part) : Number.isFinite(part);
}

/** undefined for what is no cursor. */
function decoded(cursor: string): unknown {
  try {
    return JSON.parse(Buffer.from(cursor, 'base64url').toString());
  } catch {
    return undefined;
  }
}

/** As for Array.sort. */
export function compare(a: Key, b: Key): number {
  for (const [index, part] of a.entries()) {
    const other = b[index];
    if (other === undefined || part === other) continue;
    return part < other ? -1 : 1;
  }
  return 0;
}

export interface Paging {
  /** Where the page before ended; undefined: the first page. */
  readonly after: Key | undefined;
  readonly limit: number;
}

/** The rows of one page, and where the next one begins; null: this is the last. */
export interface Paged<Row> {
  readonly rows: readonly Row[];
  readonly next: string | null;
}

/** A page of rows that were read in their order, one more than `limit` of them. */
export function pageOf<Row>(read: readonly Row[], keyOf: (row: Row) => Key, limit: number): Paged<Row> {
  const rows = read.slice(0, limit);
  const last = rows.at(-1);
  return { rows, next: last !== undefined && read.length > limit ? cursorAfter(keyOf(last)) : null };
}

/** A page of a list that is at hand, in any order. */
export function pageAfter<Row>(all: Iterable<Row>, keyOf: (row: Row) => Key, { after, limit }: Paging): Paged<Row> {
  const keyed = [...all].map((row) => ({ row, key: keyOf(row) }));
  const left = after === undefined ? keyed : keyed.filter(({ key }) => compare(key, after) > 0);
  left.sort((a, b) => compare(a.key, b.key));
  const { rows, next } = pageOf(left, ({ key }) => key, limit);
  return { rows: rows.map(({ row }) => row), next };
}
