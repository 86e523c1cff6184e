// Query parameters, read strictly, and the pages of lists. An error names the parameter, the found value and the expected one.
import { z } from 'zod';
import { didYouMean } from '../core/nearest.ts';
import { visibleText } from '../core/wording/phrases.ts';

export interface QueryParameter<Value> {
  readonly wanted: string;
  /** JSON Schema of the values, for /openapi.json; the items of a list are separated by commas. */
  readonly schema: Readonly<Record<string, unknown>>;
  readonly read: (found: string) => Value | null;
  readonly required?: true;
  readonly usual?: Value;
  readonly meaning?: string;
}

export type Shape = Readonly<Record<string, QueryParameter<unknown>>>;
type QueryValue<P> = P extends QueryParameter<infer Value> ? Value : never;
/** Values of a query. An absent parameter is undefined, unless it is required or has a default. */
export type Query<S extends Shape> = {
  readonly [Name in keyof S]: S[Name] extends { readonly required: true } | { readonly usual: NonNullable<unknown> }
    ? QueryValue<S[Name]>
    : QueryValue<S[Name]> | undefined;
};

const maxFoundShown = 60;

/** Reads all parameters, or returns all errors. Refuses unknown parameters: a mistyped filter must not show all. */
export function readQuery<const S extends Shape>(
  shape: S,
  asked: URLSearchParams,
  { ignoreUnknown = false }: { readonly ignoreUnknown?: boolean } = {},
): { readonly read: Query<S> } | { readonly wrong: string } {
  const read: Record<string, unknown> = {};
  const known = Object.keys(shape).join(', ') || 'none';
  const unknown = [...new Set(asked.keys())].filter((name) => !Object.hasOwn(shape, name));
  const wrong = ignoreUnknown ? [] : unknown.map((name) => `${shown(name)}: unknown parameter, expected ${known}`);
  for (const [name, parameter] of Object.entries(shape)) {
    const given = asked.getAll(name);
    // Some generated clients repeat the name for each item of a list, whatever the description says.
    const all = parameter.schema['type'] === 'array' && given.length > 0 ? [given.join(',')] : given;
    const [found] = all;
    const value = found === undefined ? parameter.usual : parameter.read(found);
    if (all.length > 1) wrong.push(`${name}: found ${all.length} times, expected once`);
    else if (value === null) {
      const words = 'enum' in parameter.schema ? (parameter.schema['enum'] as readonly string[]) : [];
      const meant = didYouMean(found ?? '', words);
      wrong.push(`${name}: found "${shown(found ?? '')}"${meant}, expected ${parameter.wanted}`);
    } else if (value !== undefined) read[name] = value;
    else if (parameter.required) wrong.push(`${name}: missing, expected ${parameter.wanted}`);
  }
  return wrong.length > 0 ? { wrong: `${wrong.join('; ')}.` } : { read: read as Query<S> };
}

function shown(found: string): string {
  return visibleText(found.length > maxFoundShown ? `${found.slice(0, maxFoundShown)}…` : found);
}

export function means<P extends QueryParameter<unknown>>(meaning: string, parameter: P): P {
  return { ...parameter, meaning };
}

export function limitOf(what: string, usual: number, most = 1_000) {
  return { ...whole(1, most), usual, meaning: `How many ${what} at most; ${usual} when left out.` };
}

export function oneOf<const Word extends string>(...words: readonly Word[]): QueryParameter<Word> {
  const wanted = words.length === 1 ? `${words[0]}` : `one of ${words.join(', ')}`;
  const schema = { type: 'string', enum: words };
  return { wanted, schema, read: (found) => words.find((word) => word === found) ?? null };
}

/** Parameter with one or several of `words`, separated by commas. */
export function someOf<const Word extends string>(...words: readonly Word[]): QueryParameter<readonly Word[]> {
  const read = (found: string) => {
    const chosen = found.split(',').map((one) => words.find((word) => word === one));
    return chosen.every((one) => one !== undefined) ? chosen : null;
  };
  const schema = { type: 'array', items: { type: 'string', enum: words }, minItems: 1 };
  return { wanted: `one or several of ${words.join(', ')}, with commas between`, schema, read };
}

export function whole(least: number, most = 999_999_999): QueryParameter<number> {
  const read = (found: string) => {
    const number = /^\d{1,16}$/.test(found) ? Number(found) : Number.NaN;
    return number >= least && number <= most ? number : null;
  };
  const schema = { type: 'integer', minimum: least, maximum: most };
  return { wanted: `a whole number from ${least} to ${most}`, schema, read };
}

export function upTo(maxCharacters: number): QueryParameter<string> {
  const read = (found: string) => ([...found].length <= maxCharacters ? found : null);
  return { wanted: `at most ${maxCharacters} characters`, schema: { type: 'string', maxLength: maxCharacters }, read };
}

export const mailboxName: QueryParameter<string> = {
  wanted: 'an address, an id or ACCOUNT/ADDRESS',
  schema: { type: 'string', minLength: 1 },
  read: (found) => found || null,
};

// Cursors: opaque texts with the sort key of the last row, so that added and removed rows do not shift the others.

/** Sort key of a list: parts in order of precedence, ascending. The last part makes it unique. */
export type Key = readonly (number | string)[];

/** Text of a sort key. PostgreSQL stores no NUL in a text. */
export const keyText = z.string().refine((part) => !part.includes('\0'));

const maxCharacters = 4_000;

function cursorAfter(key: Key): string {
  return Buffer.from(JSON.stringify(key)).toString('base64url');
}

/** Parameter with a cursor of a route whose sort keys have these parts. */
export function cursorOf<const Parts extends [z.ZodType<number | string>, ...z.ZodType<number | string>[]]>(
  ...parts: Parts
): QueryParameter<z.output<z.ZodTuple<Parts, null>>> {
  const key = z.tuple(parts);
  const read = (found: string) => {
    try {
      const text = Buffer.from(found.slice(0, maxCharacters), 'base64url').toString();
      return key.safeParse(JSON.parse(text)).data ?? null;
    } catch {
      return null;
    }
  };
  const schema = { type: 'string', pattern: '^[A-Za-z0-9_-]+$', maxLength: maxCharacters };
  const meaning = 'The `next_cursor` of the page before.';
  return { wanted: 'the next_cursor of an answer of this route', meaning, schema, read };
}

export function compareKeys(a: Key, b: Key): number {
  for (let index = 0; index < a.length; index += 1) {
    const [part, other] = [a[index], b[index]];
    if (part !== other && part !== undefined && other !== undefined) return part < other ? -1 : 1;
  }
  return 0;
}

/** Rows of one page, and the cursor of the next page, or null on the last page. */
export interface Paged<Row> {
  readonly rows: readonly Row[];
  readonly next: string | null;
}

export function pageOf<Row>(read: readonly Row[], keyOf: (row: Row) => Key, limit: number): Paged<Row> {
  const rows = read.slice(0, limit);
  const last = rows.at(-1);
  return { rows, next: last !== undefined && read.length > limit ? cursorAfter(keyOf(last)) : null };
}

/** Makes a page of a list in memory, in any order. `after`: sort key of the last row of the previous page. */
export function pageAfter<Row>(
  all: Iterable<Row>,
  keyOf: (row: Row) => Key,
  { after, limit }: { readonly after: Key | undefined; readonly limit: number },
): Paged<Row> {
  const keyed = [...all].map((row) => ({ row, key: keyOf(row) }));
  const left = after === undefined ? keyed : keyed.filter(({ key }) => compareKeys(key, after) > 0);
  const { rows, next } = pageOf(
    left.sort((a, b) => compareKeys(a.key, b.key)),
    ({ key }) => key,
    limit,
  );
  return { rows: rows.map(({ row }) => row), next };
}

/** Page of a list by its number, from 1; a page beyond the last is the last one. */
export function pageNumbered<Row>(all: readonly Row[], wanted: number, size: number) {
  const pages = Math.max(1, Math.ceil(all.length / size));
  const page = Math.min(wanted, pages);
  return { rows: all.slice((page - 1) * size, page * size), page, pages };
}
