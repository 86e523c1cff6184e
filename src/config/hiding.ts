// The last net: takes secrets out of problems, also those that landed on the wrong key or in a syntax error.
import type { Problem } from './problem.ts';
import { secretKeys } from './substitute.ts';

const mark = '[hidden]';
/** Shorter values are no secrets, and would blot out ordinary words. */
const minSecretLetters = 6;
/** What looks like a secret wherever it stands. */
const shapes = /\b(?:sk_live_|whsec_)[A-Za-z0-9+/=_-]{4,}|\bhooks\.slack\.com\/[^\s"',]+/g;

/** The values of every key that holds a secret, anywhere in the tree, longest first. */
export function secretsIn(tree: unknown): readonly string[] {
  const found = new Set<string>();
  const walk = (value: unknown, key: string) => {
    if (typeof value === 'string' && value.length >= minSecretLetters && isSecretKey(key)) found.add(value);
    if (typeof value === 'object' && value !== null) for (const [name, item] of Object.entries(value)) walk(item, name);
  };
  walk(tree, '');
  return [...found].sort((a, b) => b.length - a.length);
}

/** The problem with `[hidden]` for each of the secrets, and for whatever looks like one. */
export function hideSecrets(problem: Problem, secrets: readonly string[]): Problem {
  const hide = (text: string) =>
    secrets.reduce((rest, secret) => rest.replaceAll(secret, mark), text).replace(shapes, mark);
  return { ...problem, path: hide(problem.path), message: hide(problem.message) };
}

function isSecretKey(key: string): boolean {
  return key === 'sha256' || secretKeys.some((secret) => secret === key);
}
