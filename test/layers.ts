// Who may import whom: the table of docs/ARCHITECTURE.md, executable, and cycles between files. A room is a folder of src,
// or a file beside them.
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';

/** What a room may import: other rooms, and packages (`node:` modules count as packages). `*` is everything. */
interface Permission {
  readonly rooms: readonly string[];
  readonly packages: readonly string[];
}

const only = (rooms: readonly string[], packages: readonly string[] = []): Permission => ({ rooms, packages });
const everything: Permission = { rooms: ['*'], packages: ['*'] };

export const permissions: Readonly<Record<string, Permission>> = {
  main: everything,
  daemon: everything,
  reload: everything,
  commands: everything,
  terminal: only(['model', 'wording', 'config'], ['commander']),
  loop: only(['world']),
  version: only([], ['node:fs']),
  'command-name': only([], ['node:fs', 'node:path', 'node:url']),
  output: only([], ['node:fs']),
  repeats: only([]),
  'event-loop': only([], ['node:timers']),
  interrupt: only([]),
  world: only(
    ['output', 'repeats', 'event-loop', 'interrupt', 'command-name'],
    ['node:module', 'node:timers/promises', 'pino', 'pino-pretty'],
  ),
  schedule: only([], ['node-cron']),
  model: only([], ['node:crypto']),
  guard: only(['model']),
  wording: only(['model']),
  alert: only(['model', 'wording']),
  fleet: only(['model', 'wording']),
  config: only(
    ['model', 'world', 'schedule', 'command-name'],
    ['yaml', 'zod', 'node:crypto', 'node:fs', 'node:net', 'node:path', 'node:tls', 'node:util'],
  ),
  http: only(
    ['model', 'event-loop', 'interrupt'],
    ['undici', 'node:http', 'node:https', 'node:net', 'node:tls', 'node:util', 'node:worker_threads', 'node:zlib'],
  ),
  'mailbox-api': only(['model', 'world', 'interrupt', 'http'], ['undici', 'node:crypto']),
  'recipe-api': only(['model', 'world', 'http'], ['undici']),
  store: only(
    ['model', 'replicas', 'event-loop'],
    [
      'kysely',
      'pg',
      'node:sqlite',
      'node:crypto',
      'node:fs',
      'node:path',
      'node:os',
      'node:timers/promises',
      'node:worker_threads',
    ],
  ),
  upkeep: only(['model', 'world', 'store']),
  replicas: only(['model', 'world']),
  poll: only(['model', 'world', 'event-loop', 'interrupt', 'schedule', 'mailbox-api'], ['tinyqueue']),
  commit: only(['model', 'fleet', 'world', 'store']),
  record: only(['model', 'guard', 'alert', 'wording', 'fleet', 'world', 'store', 'poll', 'commit']),
  act: only(['model', 'guard', 'fleet', 'http', 'mailbox-api', 'world', 'poll', 'record']),
  watch: only([
    'model',
    'wording',
    'fleet',
    'http',
    'mailbox-api',
    'world',
    'repeats',
    'schedule',
    'poll',
    'record',
    'act',
  ]),
  operator: only(
    ['model', 'alert', 'wording', 'fleet', 'world', 'loop', 'replicas', 'store', 'commit', 'record', 'act', 'watch'],
    ['zod', '@hono/node-server', 'node:crypto', 'node:fs', 'node:http', 'node:net', 'node:os'],
  ),
  channels: only(
    ['model', 'alert', 'wording', 'world', 'http', 'recipe-api'],
    ['undici', '@slack/types', 'nodemailer', 'node:crypto', 'node:stream'],
  ),
  notify: only(['model', 'alert', 'wording', 'fleet', 'world', 'loop', 'schedule', 'channels'], ['node:crypto']),
  metrics: only(['model', 'guard', 'wording', 'fleet', 'world'], ['hono', 'prom-client', 'node:zlib']),
  recipes: only(
    ['model', 'guard', 'wording', 'fleet', 'world', 'loop', 'event-loop', 'schedule', 'store', 'config'],
    [
      'zod',
      'node:child_process',
      'node:crypto',
      'node:fs',
      'node:fs/promises',
      'node:path',
      'node:sqlite',
      'node:url',
      'node:readline',
    ],
  ),
  mcp: only(
    ['model', 'wording', 'world', 'recipe-api'],
    ['@modelcontextprotocol/server', 'node:crypto', 'node:stream'],
  ),
  access: only(['model', 'world'], ['hono', 'node:crypto', 'node:net']),
  overview: only(['model', 'guard', 'alert', 'wording', 'fleet'], ['tinyqueue']),
  page: only(['model', 'alert', 'wording', 'fleet', 'overview'], ['hono']),
  serve: only(
    ['model', 'access', 'alert', 'overview', 'page', 'wording', 'fleet', 'world', 'metrics', 'operator'],
    ['hono', '@hono/node-server', 'zod', 'node:crypto', 'node:http', 'node:https', 'node:net'],
  ),
  simulator: only(['world'], ['zod', 'node:http', 'node:crypto', 'node:net', 'node:zlib']),
};

/** A room that is larger than this has a reason below, or comes apart. */
const maxRoomLines = 2_500;
const maxRoomFiles = 25;

/** Rooms that are large, and why each is one room all the same. */
export const largeRooms: Readonly<Record<string, string>> = {
  model: 'a file a word of the domain; most are types alone, and no room could do without them',
  record: 'a file a step from an answer to what is committed of it, behind one recorder that takes turns',
  alert:
    'what conditions become: alerts, incidents, messages; in a folder of their own the rules, a file each, all pure',
  config: 'every key of the file with its meaning, default and check; what several keys share is a few small files',
  commands:
    'a file a command, which knows no other command, and its parts in a folder of its name; in `sources` what commands read from',
  page: 'a file a view, all pure; in folders of their own the parts that views are made of, and what a browser loads',
  serve: 'one server with several faces: what a page is read from, and in folders of their own JSON, commands, recipes',
  simulator: 'a second implementation of the whole API with its faults, which may share nothing with its client',
  store: 'one database behind one gate: the verbs, and in folders of their own SQLite, PostgreSQL and the schema',
};

/** Rooms of `src` that are too large and not among those above: `room: files, lines`. */
export function oversizedRooms(sources: readonly SourceText[]): readonly string[] {
  const rooms = Map.groupBy(sources, ({ file }) => roomOf(relative('src', file)));
  return [...rooms].flatMap(([room, files]) => {
    const lines = files.reduce((sum, { text }) => sum + text.split('\n').length - 1, 0);
    const isSmall = lines <= maxRoomLines && files.length <= maxRoomFiles;
    return isSmall || room in largeRooms ? [] : [`${room}: ${files.length} files, ${lines} lines`];
  });
}

export interface Violation {
  readonly file: string;
  readonly imports: string;
}

/** Every TypeScript file below a folder, relative to it. */
export function sourceFiles(root: string): readonly string[] {
  return readdirSync(root, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .sort();
}

function roomOf(file: string): string {
  const [first = ''] = file.split('/');
  return first.replace(/\.ts$/, '');
}

function packageOf(specifier: string): string {
  if (specifier.startsWith('node:')) return specifier;
  const parts = specifier.split('/');
  return parts.slice(0, specifier.startsWith('@') ? 2 : 1).join('/');
}

const importPattern = /\b(?:from|import)\s*\(?\s*'([^']+)'/g;

/** Imports of one file that the table does not allow. A room that the table does not know may import nothing. */
export function violationsOf(root: string, file: string, text: string): readonly Violation[] {
  const room = roomOf(file);
  const allowed = permissions[room] ?? only([]);
  const violations: Violation[] = [];
  for (const [, specifier = ''] of text.matchAll(importPattern)) {
    const ours = specifier.startsWith('.');
    const target = ours ? roomOf(relative(root, resolve(root, dirname(file), specifier))) : packageOf(specifier);
    const may = ours ? allowed.rooms : allowed.packages;
    if ((ours && target === room) || may.includes('*') || may.includes(target)) continue;
    violations.push({ file, imports: target });
  }
  return violations;
}

/** All violations below `root`, and how many files were read. */
export function checkLayers(root: string): { readonly files: number; readonly violations: readonly Violation[] } {
  const files = sourceFiles(root);
  const violations = files.flatMap((file) => violationsOf(root, file, readFileSync(join(root, file), 'utf8')));
  return { files: files.length, violations };
}

export interface SourceText {
  /** Relative to the folder that all of them stand in. */
  readonly file: string;
  readonly text: string;
}

/** Every TypeScript file below the named folders of `root`. */
export function sourceTexts(root: string, folders: readonly string[]): readonly SourceText[] {
  return folders.flatMap((folder) =>
    sourceFiles(join(root, folder)).map((name) => {
      const file = join(folder, name);
      return { file, text: readFileSync(join(root, file), 'utf8') };
    }),
  );
}

/** Which of the files each of them imports, `import type` included. */
function importGraph(sources: readonly SourceText[]): ReadonlyMap<string, readonly string[]> {
  const known = new Set(sources.map(({ file }) => file));
  const imported = ({ file, text }: SourceText) =>
    [...text.matchAll(importPattern)]
      .filter(([, specifier = '']) => specifier.startsWith('.'))
      .map(([, specifier = '']) => join(dirname(file), specifier))
      .filter((target) => known.has(target));
  return new Map(sources.map((source) => [source.file, imported(source)]));
}

/** One cycle for each place where a search in depth comes back to a file that it stands on: `a.ts -> b.ts -> a.ts`. */
export function importCycles(sources: readonly SourceText[]): readonly string[] {
  const graph = importGraph(sources);
  const cycles: string[] = [];
  const done = new Set<string>();
  const visit = (file: string, path: readonly string[]) => {
    const begins = path.indexOf(file);
    if (begins >= 0) cycles.push([...path.slice(begins), file].join(' -> '));
    if (begins >= 0 || done.has(file)) return;
    for (const target of graph.get(file) ?? []) visit(target, [...path, file]);
    done.add(file);
  };
  for (const { file } of sources) visit(file, []);
  return cycles;
}
