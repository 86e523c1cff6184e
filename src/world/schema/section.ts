// Building blocks of a schema: a mapping that refuses unknown keys, and keys with a default and a description.
import { z } from 'zod';
import { didYouMean } from '../../core/nearest.ts';
import { certificate, isPlainHttpBeyondLoopback, truth } from './scalars.ts';

// Most schemas are used once: generated code would cost more than it saves.
z.config({ jitless: true });

export type Refuse = (key: string, message: string) => void;
/** Rule between keys, named as in the file. It runs even if a value is invalid, so it must check types. */
export type SectionRule = (keys: Readonly<Record<string, unknown>>, refuse: Refuse) => void;

/** Refuses keys without a value where that would mean everything. Elsewhere an empty value stands for the default. */
export function refuseEmpty(keys: Readonly<Record<string, unknown>>, refuse: Refuse): void {
  for (const [key, value] of Object.entries(keys))
    if (value === undefined) refuse(key, 'is empty: write globs, or remove the key to match everything');
}

/** Output of a section; a key that the file does not have is absent. */
type Keys<Shape extends z.ZodRawShape> = Present<z.output<z.ZodObject<Shape>>>;
type Present<Fields> = { readonly [Key in keyof Fields]: ReadonlyLists<Exclude<Fields[Key], undefined>> };
type ReadonlyLists<Value> = Value extends readonly (infer Item)[] ? readonly Item[] : Value;

/**
 * The shape has the program's names (`groupWaitMs`), the file has `group_wait` or, for a secret, KEY_file. Unknown keys
 * have one message each, joined by line breaks; problem.ts separates them.
 */
export function section<const Shape extends z.ZodRawShape>(shape: Shape, rule: SectionRule = () => {}) {
  const names = Object.keys(shape).map((name) => ({ name, key: fileKeyOf(name) }));
  const inFile: z.ZodRawShape = Object.fromEntries(
    Object.entries(shape).flatMap(([name, value]) => {
      const key = fileKeyOf(name);
      if (mapsOfSecrets.has(value)) secretMaps.add(key);
      if (templates.has(value)) unexpandedKeys.add(key);
      if (z.globalRegistry.get(value)?.['writeOnly'] !== true) return [[key, value]];
      secretKeys.add(key);
      return [
        [key, value],
        [`${key}_file`, optional(z.string(), `A file that holds ${key} instead.`)],
      ];
    }),
  );
  const known = Object.keys(inFile);
  const written = z.strictObject(inFile, {
    error: (issue) =>
      issue.code === 'unrecognized_keys' ? issue.keys.map((key) => unknownKey(key, known)).join('\n') : undefined,
  });
  const ruled = written.superRefine(
    (keys, context) => {
      const refuse: Refuse = (key, message) => context.addIssue({ code: 'custom', path: [key], message });
      if ('allowHttp' in shape) refusePlainHttp(keys, refuse);
      rule(keys, refuse);
    },
    { when: () => true },
  );
  return ruled.transform((keys) => {
    const given = names.filter(({ key }) => keys[key] !== undefined);
    return Object.fromEntries(given.map(({ name, key }) => [name, keys[key]])) as Keys<Shape>;
  });
}

function fileKeyOf(name: string): string {
  return name.replace(/(Ms|Ppm)$/, '').replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

function unknownKey(key: string, known: readonly string[]): string {
  const guess = didYouMean(key, known);
  return guess === '' ? `unknown key; known here: ${known.join(', ')}` : `unknown key${guess}`;
}

function refusePlainHttp(keys: Readonly<Record<string, unknown>>, refuse: Refuse): void {
  if (keys['allow_http'] === true) return;
  for (const [key, url] of Object.entries(keys)) {
    if (!/^(\w+_)?url$/.test(key)) continue;
    if (typeof url === 'string' && isPlainHttpBeyondLoopback(url))
      refuse(key, 'is plain http to another machine: write https, or add allow_http: true next to it');
  }
}

/** `written` is the default as the file would write it. */
export function keyed<Inner extends z.ZodType>(inner: Inner, written: z.input<Inner>, description: string) {
  return inner.prefault(written as Exclude<z.input<Inner>, undefined>).describe(description);
}

/** The key stays absent if the file does not have it. Its default is documentation, applied elsewhere. */
export function optional<Inner extends z.ZodType>(inner: Inner, text: string, written?: z.input<Inner>) {
  return inner.optional().meta({ description: text, ...(written === undefined ? {} : { default: written }) });
}

/** Section that the file may leave out, since its keys have defaults. `text` is its meaning. */
export function group<const Shape extends z.ZodRawShape>(text: string, shape: Shape, rule?: SectionRule) {
  return keyed(section(shape, rule), {}, text);
}

/** Section that stays absent if the file does not have it. */
export function optionalGroup<const Shape extends z.ZodRawShape>(text: string, shape: Shape, rule?: SectionRule) {
  return optional(section(shape, rule), text);
}

export function orNull<Inner extends z.ZodType>(inner: Inner, text: string) {
  return inner
    .optional()
    .transform((value) => (value ?? null) as Exclude<z.output<Inner>, undefined> | null)
    .describe(text);
}

export function oneOf<const Words extends readonly [string, ...string[]]>(words: Words) {
  return z.enum(words, { error: ({ input }) => (input === undefined ? 'is missing' : notOneOf(input, words)) });
}

export function notOneOf(value: unknown, words: readonly string[]): string {
  const last = words.at(-1) ?? '';
  const wanted = `must be ${words.length < 2 ? last : `${words.slice(0, -1).join(', ')} or ${last}`}`;
  return typeof value === 'string' ? `"${value}" ${wanted}${didYouMean(value, words)}` : wanted;
}

export function wordOrWords<Word extends z.ZodType<string>>(word: Word, max = Number.MAX_SAFE_INTEGER) {
  return z.union([word.transform((one): z.output<Word>[] => [one]), z.array(word).min(1).max(max)], {
    error: (issue) => (issue.input === undefined ? 'is missing' : undefined),
  });
}

/** Key `allow_http`. The section's `url` and `NAME_url` must not be plain http to another machine unless it is true. */
export function plainHttp() {
  return keyed(truth(), false, 'Accept plain http to another machine.');
}

export function privateAuthority() {
  const text = 'The certificate (PEM) of a private authority. Warmwarden then trusts only this one.';
  return secret(orNull(certificate(), text));
}

export const secretKeys = new Set<string>();

/** Marks a value that is never shown and that a separate file may hold. `writeOnly` is JSON Schema's word for it. */
export function secret<Value extends z.ZodType>(value: Value): Value {
  return value.meta({ writeOnly: true });
}

/** Keys whose values are mappings of secrets. */
export const secretMaps = new Set<string>();
const mapsOfSecrets = new WeakSet<z.core.$ZodType>();

/** Mapping of names that the user chooses to secrets. NAME_file names a file that holds one instead. */
export function secretMap<Entries extends z.ZodType>(entries: Entries, text: string) {
  const map = optional(entries, text);
  mapsOfSecrets.add(map);
  return map;
}

/** Keys whose values take nothing from the environment. */
export const unexpandedKeys = new Set<string>();
const templates = new WeakSet<z.core.$ZodType>();

/** Marks a template: no secret of the environment becomes a part of a message. */
export function unexpanded<Value extends z.ZodType>(value: Value): Value {
  templates.add(value);
  return value;
}

/** Secrets among the values of a section, and what stands behind the host in those that are addresses. */
export function secretsAmong(values: object): readonly string[] {
  return Object.entries(values).flatMap(([name, value]) => {
    const key = fileKeyOf(name);
    const isSecret = secretKeys.has(key) || secretMaps.has(key);
    const texts = typeof value === 'object' && value !== null ? Object.values(value) : [value];
    return isSecret ? texts.filter((text) => typeof text === 'string').flatMap(partsOf) : [];
  });
}

function partsOf(secret: string): readonly string[] {
  if (!URL.canParse(secret)) return [secret];
  const { pathname, search } = new URL(secret);
  return [secret, `${pathname}${search}`, pathname];
}
