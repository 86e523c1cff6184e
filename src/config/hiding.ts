// The last net: takes secrets out of whatever is shown, also those that landed on the wrong key or in a syntax error.
import type { Path, Problem } from '../schema/problem.ts';
import { secretKeys } from '../schema/section.ts';

/** Stands where a secret was. */
export const hiddenMark = '[hidden]';
/** Shorter values are no secrets, and would blot out ordinary words. */
const minSecretLetters = 6;
/** What looks like a secret wherever it stands. */
const shapes =
  /\b(?:sk_live_|whsec_)[A-Za-z0-9+/=_-]{4,}|\b(?:hooks\.slack\.com|discord(?:app)?\.com\/api)\/[^\s"',]+|\bsmtps?:\/\/[^\s"',@]+@|\bsig=[\w%-]{8,}/g;

/** The values of every key that holds a secret, anywhere in the tree, longest first. */
export function secretsIn(tree: unknown): readonly string[] {
  const found = new Set<string>();
  const walk = (value: unknown, key: string) => {
    if (
      typeof value === 'string' &&
      value.length >= minSecretLetters &&
      secretKeys.has(key) &&
      !isPlainProxy(key, value)
    )
      found.add(value);
    if (typeof value === 'object' && value !== null)
      for (const [name, item] of Object.entries(value)) walk(item, Array.isArray(value) ? key : name);
  };
  walk(tree, '');
  return [...found].sort((a, b) => b.length - a.length);
}

/** The problem with `[hidden]` for each of the secrets, and for whatever looks like one. */
export function hideSecrets(problem: Problem, secrets: readonly string[]): Problem {
  return { ...problem, path: hideIn(problem.path, secrets), message: hideIn(problem.message, secrets) };
}

/** The text with `[hidden]` for each of the secrets, and for whatever looks like one. */
export function hideIn(text: string, secrets: readonly string[]): string {
  // Hundreds of accounts have a secret each, and thousands of settings are checked: most are shorter than any secret.
  const hidden = (rest: string, secret: string) =>
    secret.length > rest.length ? rest : rest.replaceAll(secret, hiddenMark);
  return secrets.reduce(hidden, text).replace(shapes, hiddenMark);
}

/** Whether the value at a path is a secret by its key. The URL of a store or of a proxy is one only if it has a password: messages name it otherwise. */
export function isSecretAt(path: Path, value: unknown): boolean {
  const key = path.at(-1);
  if (path[0] === 'store' && key === 'url' && typeof value === 'string' && hasNoPassword(value)) return false;
  if (isPlainProxy(key, value)) return false;
  return typeof key === 'string' && secretKeys.has(key);
}

/** Whether a value at a path, also one of a list, may be a secret by its key. */
export function maybeSecretAt(path: Path): boolean {
  const key = path.findLast((step) => typeof step === 'string');
  return key !== undefined && secretKeys.has(key);
}

/** Knows the secrets of every configuration that it was shown, and takes them out of texts. */
export class KnownSecrets {
  #secrets: readonly string[] = [];

  /** Those of `settings` are secrets from now on, also after another configuration took over. */
  learn(settings: readonly { readonly secret: string | null }[]): void {
    const found = settings.flatMap(({ secret }) => secret?.split('\n') ?? []).filter(isLongEnough);
    this.#secrets = [...new Set([...this.#secrets, ...found])].sort((a, b) => b.length - a.length);
  }

  /** The longest first; another list when there is another secret. */
  get secrets(): readonly string[] {
    return this.#secrets;
  }

  hide(text: string): string {
    return hideIn(text, this.#secrets);
  }
}

/** A proxy without a password is shown. */
function isPlainProxy(key: unknown, value: unknown): boolean {
  return key === 'proxy' && typeof value === 'string' && (value === 'none' || hasNoPassword(value));
}

function hasNoPassword(url: string): boolean {
  return URL.canParse(url) && new URL(url).password === '';
}

function isLongEnough(secret: string): boolean {
  return secret.length >= minSecretLetters;
}
