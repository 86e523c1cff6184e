// `warmwarden token new`: a token for page and HTTP API, or a key for the recipe API, and the lines that let it in.

import { createHash, randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { Command, Option } from 'commander';
import { isMap, isScalar, isSeq, LineCounter, type Node, parseDocument, type YAMLMap } from 'yaml';
import { readSmallFile } from '../schema/small-file.ts';
import { commandName } from '../world/command-name.ts';
import { configOption, type JsonOptions, jsonOption, printJson } from './options.ts';
import { CommandError } from './terminal/command-error.ts';

// Where an entry for a list goes in a configuration file that is there already, and the lines that fit that place. Pure.

/** What is added, and where. */
interface Placing {
  /** As it follows "add this to config.yaml, ". */
  readonly where: string;
  readonly lines: readonly string[];
}

const step = 2;

/** `keys` lead to the list; `entry` is the new element, as YAML on one line. `text` null: the file is not known. */
function placingOf(text: string | null, keys: readonly string[], entry: string): Placing {
  const lines = new LineCounter();
  const document = text === null ? null : parseDocument(text, { lineCounter: lines, uniqueKeys: false });
  const root = document?.contents ?? null;
  if (!document || document.errors.length > 0 || !(root === null || isMap(root))) return anywhere(keys, entry);
  const at = (offset: number) => lines.linePos(offset);
  let holder: YAMLMap | null = root as YAMLMap | null;
  for (const [depth, key] of keys.entries()) {
    const left = keys.slice(depth);
    const pair = holder?.items.findLast((one) => isScalar(one.key) && one.key.value === key);
    if (!pair) return into(holder, keys.slice(0, depth), { left, entry, at });
    const { line, col } = at((pair.key as Node).range?.[0] ?? 0);
    const value = pair.value as Node | null;
    if (value === null || (isScalar(value) && value.value === null))
      return { where: `below line ${line}`, lines: blockOf(keys.slice(depth + 1), entry, col - 1 + step) };
    if (isSeq(value) && value.flow === true)
      return { where: `between the brackets of \`${key}\` in line ${line}, after a comma`, lines: [entry] };
    if (isSeq(value))
      return { where: `below line ${line}`, lines: blockOf([], entry, at(value.range?.[0] ?? 0).col - 1) };
    if (!isMap(value) && !isScalar(value)) return anywhere(keys, entry);
    if (!isMap(value)) return { where: `in place of line ${line}`, lines: blockOf(left, entry, col - 1) };
    holder = value;
  }
  return anywhere(keys, entry);
}

interface Missing {
  /** The keys that are not there. */
  readonly left: readonly string[];
  readonly entry: string;
  readonly at: (offset: number) => { readonly line: number; readonly col: number };
}

/** Into a mapping that is there: the keys that lead to it are `found`. */
function into(holder: YAMLMap | null, found: readonly string[], { left, entry, at }: Missing): Placing {
  const parent = found.at(-1);
  const start = holder?.range?.[0] ?? 0;
  if (holder?.flow === true)
    return {
      where: `between the braces of ${parent === undefined ? 'the file' : `\`${parent}\``} that open in line ${at(start).line}, after a comma`,
      lines: [flowOf(left, entry)],
    };
  if (parent === undefined) return { where: 'at the end', lines: blockOf(left, entry, 0) };
  const { line, col } = at(start);
  return { where: `above line ${line}`, lines: blockOf(left, entry, col - 1) };
}

/** In a file that can't be read: as a whole, with what to leave out of it. */
function anywhere(keys: readonly string[], entry: string): Placing {
  const known = keys.map((key) => `\`${key}:\``).join(', ');
  return { where: `without those of the lines ${known} that are there already`, lines: blockOf(keys, entry, 0) };
}

/** One key a line, each indented deeper than the one before, then the element. */
function blockOf(keys: readonly string[], entry: string, indent: number): readonly string[] {
  const lines = keys.map((key, depth) => `${' '.repeat(indent + depth * step)}${key}:`);
  return [...lines, `${' '.repeat(indent + keys.length * step)}- ${entry}`];
}

function flowOf(keys: readonly string[], entry: string): string {
  return keys.reduceRight((inner, key, depth) => {
    const list = depth === keys.length - 1 ? `[${inner}]` : `{${inner}}`;
    return `${key}: ${list}`;
  }, entry);
}

interface TokenOptions extends JsonOptions {
  readonly config: string;
  readonly role: string;
  readonly recipeKey?: boolean;
  readonly plan?: string;
}

const tokenBytes = 32;
const roles = ['viewer', 'operator', 'scraper'];
const plans = ['pro', 'cloud', 'agency'];

export function tokenCommand(): Command {
  const make = new Command('new')
    .description('create a token; it is shown once and not stored')
    .argument('<name>', 'a name for the token; the audit log shows it')
    .addOption(
      new Option('--role <role>', 'viewer reads, operator may change things, scraper reads /metrics only')
        .choices(roles)
        .default('viewer'),
    )
    .option('--recipe-key', 'a key for the recipe API instead; the role operator may apply recipes')
    .addOption(
      new Option('--plan <plan>', 'with --recipe-key: 60, 600 or 6,000 requests a minute (default: pro)').choices(
        plans,
      ),
    )
    .addOption(configOption('where the token is to be added; the file is only read'))
    .addOption(jsonOption())
    .action(newToken);
  return new Command('token')
    .description('create tokens for the page and the HTTP API, and keys for the recipe API')
    .addCommand(make);
}

function newToken(name: string, { role, recipeKey = false, plan, config, json = false }: TokenOptions): void {
  const wrong = wrongWith(name, { role, recipeKey, plan });
  if (wrong !== null) throw new CommandError('usage', wrong);
  const token = `ww_${randomBytes(tokenBytes).toString('base64url')}`;
  const sha256 = createHash('sha256').update(token).digest('hex');
  const made = {
    name,
    kind: recipeKey ? 'recipe_key' : 'token',
    role,
    plan: recipeKey ? (plan ?? 'pro') : null,
  } as const;
  if (json) return void printJson('token new', { ...made, token, sha256 });
  const { where, lines: added } = placingIn(config, { ...made, sha256 });
  const lines = [
    `The ${recipeKey ? 'key' : 'token'}, which is not stored anywhere: ${token}`,
    `To accept it, add this to ${existsSync(config) ? config : 'the configuration'}, ${where}; then run \`${commandName} reload\`:`,
    '',
    ...added,
  ];
  process.stdout.write(`${lines.join('\n')}\n`);
}

function wrongWith(
  name: string,
  { role, recipeKey, plan }: { readonly role: string; readonly recipeKey: boolean; readonly plan: string | undefined },
): string | null {
  if (!/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/.test(name))
    return `"${name}" is not a name for a token: write 1 to 64 letters, digits, dots, dashes or underscores.`;
  if (recipeKey && role === 'scraper') return 'A recipe key has the role viewer or operator.';
  if (!recipeKey && plan !== undefined) return '--plan is for a recipe key: add --recipe-key.';
  return null;
}

interface Made {
  readonly name: string;
  readonly role: string;
  readonly plan: string | null;
  readonly sha256: string;
}

function placingIn(file: string, { name, role, plan, sha256 }: Made): Placing {
  const read = readSmallFile(file);
  const entry = `name: ${JSON.stringify(name)}, sha256: "${sha256}", role: ${role}`;
  const text = 'text' in read ? read.text : null;
  return plan === null
    ? placingOf(text, ['server', 'auth', 'tokens'], `{${entry}}`)
    : placingOf(text, ['recipes', 'api_keys'], `{${entry}, plan: ${plan}}`);
}
