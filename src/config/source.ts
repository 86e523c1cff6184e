// Values of the configuration that come from the environment and from files of secrets, and the places of problems.
import { resolve } from 'node:path';
import type { z } from 'zod';
import { byPlace, checkAgainst, type Finding, formatPath, type Path, type Problem } from '../world/schema/problem.ts';
import { secretKeys, secretMaps, unexpandedKeys } from '../world/schema/section.ts';
import { readSmallFile } from '../world/schema/small-file.ts';
import { hideSecrets, secretsIn } from './hiding.ts';
import type { ConfigTree } from './include.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

/** Tree with values from the environment and files, and where they were used. Keyed by `formatPath`. */
export interface Substitution {
  readonly tree: unknown;
  /** Values of the tree that are secret. */
  readonly secrets: readonly string[];
  readonly findings: readonly Finding[];
  /** Written text (`${NAME}`) of every value that came from the environment, and that value. */
  readonly substituted: ReadonlyMap<string, { readonly written: string; readonly value: string }>;
  /** Values such as $NAME that look like an environment variable without being one. */
  readonly unbraced: ReadonlyMap<string, Finding>;
  /** Path of `api_key_file`, and the file's absolute path and contents, for every `api_key` that was read from a file. */
  readonly readFrom: ReadonlyMap<string, { readonly path: Path; readonly file: string; readonly contents: string }>;
}

const maxSecretFileBytes = 65_536;

/** Message that does not quote the name, since a password may begin with $. */
const needsBraces = `an environment variable needs braces: write \${NAME}, not $NAME`;

/** Makes a new tree with the values. Relative `_file` paths begin in the folder of the file that holds them. */
function substitute(tree: unknown, environment: Environment, { folderOf }: Pick<ConfigTree, 'folderOf'>): Substitution {
  const findings: Finding[] = [];
  const substituted = new Map<string, { written: string; value: string }>();
  const unbraced = new Map<string, Finding>();
  const readFrom = new Map<string, { path: Path; file: string; contents: string }>();

  const walk = (value: unknown, path: Path): unknown => {
    if (Array.isArray(value)) return value.map((item, index) => walk(item, [...path, index]));
    if (typeof value === 'string') return replace(value, path);
    if (typeof value !== 'object' || value === null) return value;
    const entries = Object.entries(value).map(([key, item]): [string, unknown] => [key, walk(item, [...path, key])]);
    const map: Record<string, unknown> = Object.fromEntries(entries);
    for (const key of secretKeys) if (map[`${key}_file`] !== undefined) readSecret(map, key, path);
    if (secretMaps.has(String(path.at(-1)))) readSecrets(map, path);
    return map;
  };
  const replace = (written: string, path: Path): string => {
    if (/^\$[A-Za-z_]\w*$/.test(written)) unbraced.set(formatPath(path), { path, at: 'value', message: needsBraces });
    if (!written.includes('${') || unexpandedKeys.has(String(path.at(-1)))) return written;
    const { value, complaints } = expand(written, environment);
    for (const message of complaints) findings.push({ path, at: 'value', message });
    substituted.set(formatPath(path), { written, value });
    return value;
  };
  const readSecrets = (map: Record<string, unknown>, path: Path) => {
    for (const key of Object.keys(map).filter((one) => one.endsWith('_file'))) {
      readSecret(map, key.replace(/_file$/, ''), path);
      delete map[key];
    }
  };
  const readSecret = (map: Record<string, unknown>, key: string, parent: Path) => {
    const path = [...parent, `${key}_file`];
    const name = map[`${key}_file`];
    const complain = (message: string) => findings.push({ path, at: 'value', message });
    if (map[key] !== undefined) return complain(`write either ${key} or ${key}_file, not both`);
    if (typeof name !== 'string') return;
    const file = resolve(folderOf(path), name);
    const read = readSecretFile(file);
    // The name of the file is not quoted, since people paste the secret itself there.
    if ('failure' in read) return complain(`the file ${read.failure}`);
    map[key] = read.text;
    readFrom.set(formatPath([...parent, key]), { path, file, contents: read.contents });
  };

  const made = walk(tree, []);
  return { tree: made, secrets: secretsIn(made), findings, substituted, unbraced, readFrom };
}

/** Expands variables like a shell: a default also replaces an empty variable. */
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

/** Reads a secret, in `text` without one trailing line break, or returns why it can't, as the end of a sentence. */
function readSecretFile(path: string): { text: string; contents: string } | { failure: string } {
  const read = readSmallFile(path, maxSecretFileBytes);
  if ('failure' in read) return { failure: `can't be read: ${read.failure}` };
  const text = read.text.replace(/\r?\n$/, '');
  return text === '' ? { failure: 'is empty' } : { text, contents: read.text };
}

interface PartToCheck<Schema> {
  readonly source: ConfigTree;
  readonly written: object;
  readonly schema: Schema;
  readonly environment: Environment;
  /** Rules between sections. They see the original tree, even where the schema refuses it. */
  readonly rules?: (tree: unknown) => readonly Finding[];
}

interface CheckedPart<Checked> {
  readonly checked: Checked;
  readonly substitution: Substitution;
}

export function checkPart<Schema extends z.ZodType>(
  part: PartToCheck<Schema>,
): CheckedPart<z.output<Schema>> | { readonly problems: readonly Problem[] } {
  const { source, written, schema, environment, rules = () => [] } = part;
  // A part may seem to be missing only because its file can't be read.
  if (source.unreadable.length > 0) return { problems: source.unreadable };
  const substitution = substitute(written, environment, source);
  const { tree } = substitution;
  const { findings, checked } = checkAgainst(schema, tree);
  const unread = [...source.findings, ...substitution.findings];
  const all = [...unread, ...onRead([...findings, ...rules(tree)], unread)];
  if (all.length > 0 || checked === null) return { problems: placeFindings(all, part, substitution) };
  return { checked, substitution };
}

/** Findings on values that could be read; an unreadable value already has a finding. */
function onRead(findings: readonly Finding[], unread: readonly Finding[]): readonly Finding[] {
  const told = new Set(unread.filter(({ at }) => at === 'value').map(({ path }) => formatPath(path)));
  const all = new Set([...told, ...findings.map(({ path }) => formatPath(path))]);
  const isSaid = (path: string) => told.has(path) || all.has(`${path}_file`);
  return findings.filter(({ path }) => !isSaid(formatPath(path)));
}

export function placeFindings(
  findings: readonly Finding[],
  { source }: Pick<PartToCheck<unknown>, 'source'>,
  { secrets, substituted, unbraced, readFrom }: Substitution,
): Problem[] {
  const seen = new Set<string>();
  return findings
    .map((finding): Problem => {
      const path = formatPath(finding.path);
      const from = readFrom.get(path)?.path ?? finding.path;
      const origin = substituted.get(path);
      const said = origin ? named(finding.message, origin) : (unbraced.get(path) ?? finding).message;
      const place = source.placeOf(from, finding.at);
      const other = finding.other && source.placeOf(finding.other, 'value');
      const isElsewhere = other && other.file !== place.file;
      const message = isElsewhere ? `${said} (${other.file ?? source.file}:${other.line}:${other.column})` : said;
      return hideSecrets({ ...place, message }, secrets);
    })
    .sort(byPlace)
    .filter((problem) => {
      const identity = JSON.stringify(problem);
      return !seen.has(identity) && seen.add(identity);
    });
}

/** Message that names the variable instead of its value, which may be a secret in the wrong key. */
function named(message: string, origin: { readonly written: string; readonly value: string }): string {
  const [, name] = /^\$\{(\w+)\}$/.exec(origin.written) ?? [];
  if (name !== undefined && origin.value === '') return `the environment variable ${name} is empty`;
  const quoted = message.replaceAll(JSON.stringify(origin.value), JSON.stringify(origin.written));
  // Messages use plain quotation marks, so a value that JSON would escape is also replaced in its original form.
  return quoted.replaceAll(`"${origin.value}"`, `"${origin.written}"`);
}
