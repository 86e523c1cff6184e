// The building blocks of the schema: a mapping that refuses unknown keys, and keys with a default and a description.
import { z } from 'zod';
import { didYouMean } from '../core/nearest.ts';
import { truth } from './scalars.ts';

/**
 * A mapping with exactly these keys. `later` names keys that a later version brings.
 * One message a key, joined by line breaks, in the order of the issue's keys: findings.ts takes them apart.
 */
export function section<Shape extends z.ZodRawShape>(shape: Shape, later: readonly string[] = []) {
  const known = Object.keys(shape);
  return z.strictObject(shape, {
    error: (issue) => {
      if (issue.code !== 'unrecognized_keys') return undefined;
      return issue.keys.map((key) => unknownKey(key, known, later)).join('\n');
    },
  });
}

function unknownKey(key: string, known: readonly string[], later: readonly string[]): string {
  if (later.includes(key)) return 'is not in this version yet: remove it';
  const guess = didYouMean(key, known);
  return guess === '' ? `unknown key; known here: ${known.join(', ')}` : `unknown key${guess}`;
}

/** A key with the default that the file would write. */
export function keyed<Inner extends z.ZodType>(inner: Inner, written: z.input<Inner>, description: string) {
  return inner.prefault(written as Exclude<z.input<Inner>, undefined>).describe(description);
}

/** A key that stays absent when nobody writes it; its default is documentation, applied elsewhere. */
export function optional<Inner extends z.ZodType>(inner: Inner, written: z.input<Inner> | undefined, text: string) {
  return inner.optional().meta({ description: text, ...(written === undefined ? {} : { default: written }) });
}

/** One word of a closed set. `later` names words that a later version brings. */
export function oneOf<const Words extends readonly [string, ...string[]]>(words: Words, later: readonly string[] = []) {
  return z.enum(words, {
    error: (issue) => (issue.input === undefined ? undefined : notOneOf(issue.input, words, later)),
  });
}

/** The sentence for a value outside a closed set of words. */
export function notOneOf(value: unknown, words: readonly string[], later: readonly string[]): string {
  const last = words.at(-1) ?? '';
  const wanted = `must be ${words.length < 2 ? last : `${words.slice(0, -1).join(', ')} or ${last}`}`;
  if (typeof value !== 'string') return wanted;
  if (later.includes(value)) return `${value} is not in this version yet: ${wanted}`;
  return `"${value}" ${wanted}${didYouMean(value, words)}`;
}

/** One word, or a list of at most `max`. Output: the list. */
export function wordOrWords<Word extends z.ZodType<string>>(word: Word, max = Number.MAX_SAFE_INTEGER) {
  return z.union([word.transform((one): z.output<Word>[] => [one]), z.array(word).min(1).max(max)], {
    error: (issue) => (issue.input === undefined ? 'is missing' : undefined),
  });
}

export function plainHttp() {
  return keyed(truth(), false, 'Accept plain http to another machine.');
}

type Secret<Key extends string, Value extends z.ZodType> = Readonly<
  Record<Key, Value> & Record<`${Key}_file`, z.ZodOptional<z.ZodString>>
>;

/** Keys of a secret: KEY, which is never shown, and KEY_file, the path of a file that holds it. */
export function secret<const Key extends string, Value extends z.ZodType>(key: Key, value: Value) {
  const file = optional(z.string(), undefined, `A file that holds ${key} instead.`);
  return { [key]: hidden(value), [`${key}_file`]: file } as Secret<Key, Value>;
}

/** A value that is never shown. `writeOnly` is the word of JSON Schema for it. */
export function hidden<Value extends z.ZodType>(value: Value): Value {
  return value.meta({ writeOnly: true });
}

/** Names of the keys that are marked as secret in a schema, at any depth. */
export function secretKeysIn(schema: unknown): readonly string[] {
  if (schema instanceof z.ZodObject)
    return Object.entries(schema.shape).flatMap(([key, value]) => [
      ...(z.globalRegistry.get(value as z.ZodType)?.['writeOnly'] === true ? [key] : []),
      ...secretKeysIn(value),
    ]);
  if (schema instanceof z.ZodUnion) return schema.options.flatMap(secretKeysIn);
  if (schema instanceof z.ZodArray) return secretKeysIn(schema.element);
  if (schema instanceof z.ZodPipe) return secretKeysIn(schema.in);
  const isWrapped = schema instanceof z.ZodOptional || schema instanceof z.ZodPrefault;
  return isWrapped ? secretKeysIn(schema.unwrap()) : [];
}
