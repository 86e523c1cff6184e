// The last safeguard: removes secrets from all output, including secrets in the wrong key or in a syntax error.
import { channelSecrets } from '../channels/channels.ts';
import type { Path, Problem } from '../world/schema/problem.ts';
import { secretKeys, secretMaps } from '../world/schema/section.ts';

export const hiddenMark = '[hidden]';
/** Shortest secret: a shorter value is not secret, and hiding it would blot out ordinary words. */
const minSecretLetters = 6;
/** Key of the API. */
const apiKeyShape = /\bsk_live_[A-Za-z0-9+/=_-]{4,}/;
/** Pattern of values that look like a secret in any place. */
const shapes = new RegExp([apiKeyShape, ...channelSecrets].map(({ source }) => source).join('|'), 'g');

/** Values of every key that holds a secret, anywhere in the tree, longest first. */
export function secretsIn(tree: unknown): readonly string[] {
  const found = new Set<string>();
  const walk = (value: unknown, path: Path) => {
    if (typeof value === 'string' && value.length >= minSecretLetters && isSecretAt(path, value)) found.add(value);
    if (typeof value === 'object' && value !== null)
      for (const [name, item] of Object.entries(value)) walk(item, Array.isArray(value) ? path : [...path, name]);
  };
  walk(tree, []);
  return [...found].sort((a, b) => b.length - a.length);
}

export function hideSecrets(problem: Problem, secrets: readonly string[]): Problem {
  return { ...problem, path: hideIn(problem.path, secrets), message: hideIn(problem.message, secrets) };
}

export function hideIn(text: string, secrets: readonly string[]): string {
  return secrets.reduce((rest, secret) => rest.replaceAll(secret, hiddenMark), text).replace(shapes, hiddenMark);
}

/** True if the key at a path makes its value a secret: the URL of a store or proxy only with a password. */
export function isSecretAt(path: Path, value: unknown): boolean {
  const key = path.at(-1);
  if (path[0] === 'store' && key === 'url' && typeof value === 'string' && hasNoPassword(value)) return false;
  if (key === 'proxy' && typeof value === 'string' && (value === 'none' || hasNoPassword(value))) return false;
  return isSecretKey(path);
}

export function maybeSecretAt(path: Path): boolean {
  return isSecretKey(path.slice(0, path.findLastIndex((step) => typeof step === 'string') + 1));
}

function isSecretKey(path: Path): boolean {
  return secretKeys.has(String(path.at(-1))) || secretMaps.has(String(path.at(-2)));
}

/** The first and the last line of a certificate or a key in PEM are no secret. */
const pemMark = '-----';

/** Remembers the secrets of every configuration that it was shown, and removes them from texts. */
export class KnownSecrets {
  #secrets: readonly string[] = [];

  /** Adds secrets; they stay secret when another configuration is in force. */
  learn(secrets: readonly string[]): void {
    const lines = secrets.flatMap((secret) => secret.split('\n'));
    const found = lines.filter((line) => line.length >= minSecretLetters && !line.startsWith(pemMark));
    // A log line is JSON, where quotation marks and backslashes of a secret look different.
    const inJson = found.map((secret) => JSON.stringify(secret).slice(1, -1));
    this.#secrets = [...new Set([...this.#secrets, ...found, ...inJson])].sort((a, b) => b.length - a.length);
  }

  get secrets(): readonly string[] {
    return this.#secrets;
  }

  hide(text: string): string {
    return hideIn(text, this.#secrets);
  }
}

function hasNoPassword(url: string): boolean {
  return URL.canParse(url) && new URL(url).password === '';
}
