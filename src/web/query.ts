// Reads query parameters strictly. An error is one sentence with the parameter, the found value and the expected one.
import { didYouMean } from '../core/nearest.ts';
import { visibleText } from '../core/wording/phrases.ts';

/** A query parameter. `read` returns null for a value that does not match `wanted`. */
export interface Parameter<Value> {
  readonly wanted: string;
  /** Allowed words, if the values are a list of words. */
  readonly words?: readonly string[];
  /** JSON Schema of the values, for /openapi.json; the items of a list are separated by commas. */
  readonly schema: Readonly<Record<string, unknown>>;
  readonly read: (found: string) => Value | null;
  readonly required: boolean;
  /** Default value if the parameter is absent. */
  readonly usual?: Value;
  /** Description for /openapi.json. */
  readonly meaning?: string;
}

export type Shape = Readonly<Record<string, Parameter<unknown>>>;
type ValueOf<P> = P extends Parameter<infer Value> ? Value : never;
/** Values of a query. An absent parameter is undefined, unless it is required or has a default. */
export type Query<S extends Shape> = {
  readonly [Name in keyof S]: S[Name] extends { readonly required: true } | { readonly usual: NonNullable<unknown> }
    ? ValueOf<S[Name]>
    : ValueOf<S[Name]> | undefined;
};

/** Longest part of a found value that an error shows, in characters. */
const maxFoundShown = 60;

/** Reads all parameters, or returns all errors. Refuses unknown parameters: a mistyped filter must not show all. */
export function readQuery<const S extends Shape>(
  shape: S,
  asked: URLSearchParams,
  { ignoreUnknown = false }: { readonly ignoreUnknown?: boolean } = {},
): { readonly read: Query<S> } | { readonly wrong: string } {
  const known = Object.keys(shape);
  const read: Record<string, unknown> = {};
  const unknown = ignoreUnknown ? [] : [...new Set(asked.keys())].filter((name) => !Object.hasOwn(shape, name));
  const wrong = unknown.map(
    (name) => `${shown(name)}: unknown parameter${didYouMean(name, known)}, expected ${namesText(known)}`,
  );
  for (const [name, parameter] of Object.entries(shape)) {
    const all = asked.getAll(name);
    const [found] = all;
    if (all.length > 1) wrong.push(`${name}: found ${all.length} times, expected once`);
    else if (found !== undefined) {
      const value = parameter.read(found);
      const meant = didYouMean(found, parameter.words ?? []);
      if (value === null) wrong.push(`${name}: found "${shown(found)}"${meant}, expected ${parameter.wanted}`);
      else read[name] = value;
    } else if (parameter.usual !== undefined) read[name] = parameter.usual;
    else if (parameter.required) wrong.push(`${name}: missing, expected ${parameter.wanted}`);
  }
  return wrong.length > 0 ? { wrong: `${wrong.join('; ')}.` } : { read: read as Query<S> };
}

function namesText(names: readonly string[]): string {
  if (names.length === 0) return 'none';
  return names.length === 1 ? `${names[0]}` : `${names.slice(0, -1).join(', ')} or ${names.at(-1)}`;
}

function shown(found: string): string {
  const clipped = found.length > maxFoundShown ? `${found.slice(0, maxFoundShown)}…` : found;
  return visibleText(clipped);
}

/** Adds a description for /openapi.json to a parameter. */
export function means<P extends Parameter<unknown>>(meaning: string, parameter: P): P {
  return { ...parameter, meaning };
}

/** Parameter that limits the number of rows of `what` in a list. */
export function limitOf(what: string, usual: number, most = 1_000) {
  const meaning = `How many${what && ` ${what}`} at most; ${usual} when left out.`;
  return { ...whole(1, most), usual, meaning };
}

export function oneOf<const Word extends string>(...words: readonly Word[]): Parameter<Word> {
  const wanted = words.length === 1 ? `${words[0]}` : `one of ${words.join(', ')}`;
  const schema = { type: 'string', enum: words };
  return { wanted, words, schema, required: false, read: (found) => words.find((word) => word === found) ?? null };
}

/** Parameter with one or several of `words`, separated by commas. */
export function someOf<const Word extends string>(...words: readonly Word[]): Parameter<readonly Word[]> {
  const read = (found: string) => {
    const chosen = found.split(',').map((one) => words.find((word) => word === one));
    return chosen.every((one) => one !== undefined) ? chosen : null;
  };
  const wanted = `one or several of ${words.join(', ')}, with commas between`;
  const schema = { type: 'array', items: { type: 'string', enum: words }, minItems: 1 };
  return { wanted, schema, required: false, read };
}

/** Parameter with a whole number in digits, up to a moment in milliseconds. `most` has nine digits if absent. */
export function whole(least: number, most = 999_999_999): Parameter<number> {
  const read = (found: string) => {
    const number = /^\d{1,16}$/.test(found) ? Number(found) : Number.NaN;
    return number >= least && number <= most ? number : null;
  };
  const schema = { type: 'integer', minimum: least, maximum: most };
  return { wanted: `a whole number from ${least} to ${most}`, schema, required: false, read };
}

export function upTo(maxCharacters: number): Parameter<string> {
  const read = (found: string) => ([...found].length <= maxCharacters ? found : null);
  const schema = { type: 'string', maxLength: maxCharacters };
  return { wanted: `at most ${maxCharacters} characters`, schema, required: false, read };
}

/** Parameter that names a mailbox. */
export const mailboxName = {
  wanted: 'an address, an id or ACCOUNT/ADDRESS',
  schema: { type: 'string', minLength: 1 },
  required: false,
  read: (found: string) => (found === '' ? null : found),
} as const satisfies Parameter<string>;

// Cursors: opaque text for the position of the next page in a list. A cursor holds the sort key of the last row, so
// that rows that are added or removed meanwhile do not shift the others.

/** Sort key of a list: parts in order of precedence, ascending. The last part makes it unique. */
type Key = readonly (number | string)[];

interface Parts {
  readonly whole: number;
  readonly number: number;
  readonly text: string;
}
type KeyOf<Kinds extends readonly (keyof Parts)[]> = { readonly [Index in keyof Kinds]: Parts[Kinds[Index]] };

/** Longest cursor that Warmwarden creates. */
const maxCharacters = 4_000;

export function cursorAfter(key: Key): string {
  return Buffer.from(JSON.stringify(key)).toString('base64url');
}

/** Parameter with a cursor of a route whose sort keys have these parts. */
export function cursorOf<const Kinds extends readonly (keyof Parts)[]>(...kinds: Kinds): Parameter<KeyOf<Kinds>> {
  const isKey = (key: unknown): key is KeyOf<Kinds> =>
    Array.isArray(key) && key.length === kinds.length && kinds.every((kind, index) => isA(kind, key[index]));
  const read = (found: string) => {
    const key = found.length <= maxCharacters ? decoded(found) : null;
    return isKey(key) ? key : null;
  };
  const schema = { type: 'string', pattern: '^[A-Za-z0-9_-]+$', maxLength: maxCharacters };
  const meaning = 'The `next_cursor` of the page before.';
  return { wanted: 'the next_cursor of an answer of this route', meaning, schema, required: false, read };
}

function isA(kind: keyof Parts, part: unknown): boolean {
  // PostgreSQL stores no NUL in a text.
  if (kind === 'text') return typeof part === 'string' && !part.includes('\0');
  return kind === 'whole' ? Number.isSafeInteger(part) : Number.isFinite(part);
}

/** Returns undefined for an invalid cursor. */
function decoded(cursor: string): unknown {
  try {
    return JSON.parse(Buffer.from(cursor, 'base64url').toString());
  } catch {
    return undefined;
  }
}

/** Comparison as for Array.sort. */
function compare(a: Key, b: Key): number {
  for (const [index, part] of a.entries()) {
    const other = b[index];
    if (other === undefined || part === other) continue;
    return part < other ? -1 : 1;
  }
  return 0;
}

interface Paging {
  /** Sort key of the last row of the previous page, or undefined for the first page. */
  readonly after: Key | undefined;
  readonly limit: number;
}

/** Rows of one page, and the cursor of the next page, or null on the last page. */
interface Paged<Row> {
  readonly rows: readonly Row[];
  readonly next: string | null;
}

/** Makes a page of rows that were read in order, with at most one row more than `limit`. */
export function pageOf<Row>(read: readonly Row[], keyOf: (row: Row) => Key, limit: number): Paged<Row> {
  const rows = read.slice(0, limit);
  const last = rows.at(-1);
  return { rows, next: last !== undefined && read.length > limit ? cursorAfter(keyOf(last)) : null };
}

/** Makes a page of a list in memory, in any order. */
export function pageAfter<Row>(all: Iterable<Row>, keyOf: (row: Row) => Key, { after, limit }: Paging): Paged<Row> {
  const keyed = [...all].map((row) => ({ row, key: keyOf(row) }));
  const left = after === undefined ? keyed : keyed.filter(({ key }) => compare(key, after) > 0);
  left.sort((a, b) => compare(a.key, b.key));
  const { rows, next } = pageOf(left, ({ key }) => key, limit);
  return { rows: rows.map(({ row }) => row), next };
}
