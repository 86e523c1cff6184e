// The parameters of a query: read strictly, or one sentence that names the parameter, what was found and what is expected.
import { didYouMean } from '../model/nearest.ts';
import { visibleText } from '../wording/visible-text.ts';

/** One parameter. `read` gives null for what is not `wanted`. */
export interface Parameter<Value> {
  readonly wanted: string;
  /** The words that it may be, if there is a list of them. */
  readonly words?: readonly string[];
  /** What is `wanted` as JSON Schema, for /openapi.json; a list has commas between. */
  readonly schema: Readonly<Record<string, unknown>>;
  readonly read: (found: string) => Value | null;
  readonly required: boolean;
}

export type Shape = Readonly<Record<string, Parameter<unknown>>>;
type ValueOf<P> = P extends Parameter<infer Value> ? Value : never;
/** A parameter that is absent is not in it, unless it is required. */
export type Query<S extends Shape> = {
  readonly [Name in keyof S]: S[Name] extends { readonly required: true }
    ? ValueOf<S[Name]>
    : ValueOf<S[Name]> | undefined;
};

/** What is found is shown up to this many characters. */
const maxFoundShown = 60;

/** Reads all parameters, or says everything that is wrong with them. Unknown ones are refused: a mistyped filter must not show all. */
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
    } else if (parameter.required) wrong.push(`${name}: missing, expected ${parameter.wanted}`);
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

export function oneOf<const Word extends string>(...words: readonly Word[]): Parameter<Word> {
  const wanted = words.length === 1 ? `${words[0]}` : `one of ${words.join(', ')}`;
  const schema = { type: 'string', enum: words };
  return { wanted, words, schema, required: false, read: (found) => words.find((word) => word === found) ?? null };
}

/** Several of `words`, with commas between. */
export function someOf<const Word extends string>(...words: readonly Word[]): Parameter<readonly Word[]> {
  const read = (found: string) => {
    const chosen = found.split(',').map((one) => words.find((word) => word === one));
    return chosen.every((one) => one !== undefined) ? chosen : null;
  };
  const wanted = `one or several of ${words.join(', ')}, with commas between`;
  const schema = { type: 'array', items: { type: 'string', enum: words }, minItems: 1 };
  return { wanted, schema, required: false, read };
}

/** A whole number in digits, up to a moment in milliseconds. `most` has at most nine digits where it is left out. */
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

/** A query parameter that names a mailbox, as people name it. */
export const mailboxName = {
  wanted: 'an address, an id or ACCOUNT/ADDRESS',
  schema: { type: 'string', minLength: 1 },
  required: false,
  read: (found: string) => (found === '' ? null : found),
} as const satisfies Parameter<string>;
