// ${NAME} and ${NAME:-default} in the values of a tree, and the `_file` form of its secrets.
import { resolve } from 'node:path';
import { type Finding, formatPath, type Path } from './problem.ts';
import { secretKeys } from './schema.ts';
import { readSmallFile } from './small-file.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

/** Where the environment and the files were used. Keyed by `formatPath`. */
export interface Substitution {
  readonly tree: unknown;
  readonly findings: readonly Finding[];
  /** What the file says (`${NAME}`) for every value that came from the environment, and that value. */
  readonly substituted: ReadonlyMap<string, { readonly written: string; readonly value: string }>;
  /** What looks like an environment variable and is none: $NAME. */
  readonly unbraced: ReadonlyMap<string, Finding>;
  /** For an `api_key` that was read from a file: the path of `api_key_file`, and the file's own, absolute. */
  readonly readFrom: ReadonlyMap<string, { readonly path: Path; readonly file: string }>;
}

const maxSecretFileBytes = 65_536;

/** Does not quote the name: a password may begin with $. */
const needsBraces = `an environment variable needs braces: write \${NAME}, not $NAME`;

/** A new tree. `folder` is where relative `_file` paths begin: the configuration file's own. */
export function substitute(tree: unknown, environment: Environment, folder: string): Substitution {
  const findings: Finding[] = [];
  const substituted = new Map<string, { written: string; value: string }>();
  const unbraced = new Map<string, Finding>();
  const readFrom = new Map<string, { path: Path; file: string }>();

  const walk = (value: unknown, path: Path): unknown => {
    if (Array.isArray(value)) return value.map((item, index) => walk(item, [...path, index]));
    if (typeof value === 'string') return replace(value, path);
    if (typeof value !== 'object' || value === null) return value;
    const entries = Object.entries(value).map(([key, item]): [string, unknown] => [key, walk(item, [...path, key])]);
    const map: Record<string, unknown> = Object.fromEntries(entries);
    for (const key of secretKeys) if (map[`${key}_file`] !== undefined) readSecret(map, key, path);
    return map;
  };
  const replace = (written: string, path: Path): string => {
    if (/^\$[A-Za-z_]\w*$/.test(written)) unbraced.set(formatPath(path), { path, at: 'value', message: needsBraces });
    if (!written.includes('${')) return written;
    const { value, complaints } = expand(written, environment);
    for (const message of complaints) findings.push({ path, at: 'value', message });
    substituted.set(formatPath(path), { written, value });
    return value;
  };
  const readSecret = (map: Record<string, unknown>, key: string, parent: Path) => {
    const path = [...parent, `${key}_file`];
    const name = map[`${key}_file`];
    const complain = (message: string) => findings.push({ path, at: 'value', message });
    if (map[key] !== undefined) return complain(`write either ${key} or ${key}_file, not both`);
    if (typeof name !== 'string') return;
    const file = resolve(folder, name);
    const read = readSecretFile(file);
    // Its name is not quoted: people paste the secret itself there.
    if ('failure' in read) return complain(`the file ${read.failure}`);
    map[key] = read.text;
    readFrom.set(formatPath([...parent, key]), { path, file });
  };

  return { tree: walk(tree, []), findings, substituted, unbraced, readFrom };
}

/** As a shell does it: a default also stands in for an empty variable. */
function expand(written: string, environment: Environment): { value: string; complaints: string[] } {
  const complaints: string[] = [];
  const value = written.replace(/\$\{([^}]*)(\}?)/g, (whole, inside: string, end: string) => {
    const parts = /^([A-Za-z_][A-Za-z0-9_]*)(?::-(.*))?$/s.exec(inside);
    if (!parts?.[1] || end === '') {
      complaints.push(`\${ must begin \${NAME} or \${NAME:-default}, NAME being an environment variable`);
      return whole;
    }
    const found = environment[parts[1]];
    if (parts[2] !== undefined) return found === undefined || found === '' ? parts[2] : found;
    if (found === undefined) complaints.push(`the environment variable ${parts[1]} is not set`);
    return found ?? whole;
  });
  return { value, complaints };
}

/** The text without one trailing line break, or why there is none, as the end of a sentence. */
function readSecretFile(path: string): { text: string } | { failure: string } {
  const read = readSmallFile(path, maxSecretFileBytes);
  if ('failure' in read) return { failure: `can't be read: ${read.failure}` };
  const text = read.text.replace(/\r?\n$/, '');
  return text === '' ? { failure: 'is empty' } : { text };
}
