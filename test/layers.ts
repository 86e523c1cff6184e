// Who may import whom: the table of docs/ARCHITECTURE.md, executed; the files and functions that the page names; cycles between files.
// A room is a folder of src.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';

const page = readFileSync(join(import.meta.dirname, '../docs/ARCHITECTURE.md'), 'utf8');

const node = (...modules: readonly string[]) => modules.map((name) => `node:${name}`);

/** Packages that each room may load (`node:` modules count as packages). `*` is everything. */
const packages: Readonly<Record<string, readonly string[]>> = {
  cli: ['*'],
  daemon: ['*'],
  web: ['hono', '@hono/node-server', 'zod', ...node('crypto', 'http', 'https', 'net')],
  outbox: node('crypto'),
  channels: ['zod', 'undici', '@slack/types', 'nodemailer', 'mustache', ...node('crypto', 'fs', 'stream', 'url')],
  operations: ['zod', '@hono/node-server', ...node('crypto', 'fs', 'http', 'os')],
  account: [],
  recipes: [
    ...['undici', 'zod', '@modelcontextprotocol/server'],
    ...node('child_process', 'crypto', 'fs', 'fs/promises', 'path', 'readline', 'sqlite', 'stream', 'url'),
  ],
  alerts: [],
  api: ['undici', ...node('crypto', 'http', 'https', 'net', 'tls', 'util', 'worker_threads', 'zlib')],
  config: ['zod', ...node('path', 'tls', 'util')],
  metrics: ['hono', 'prom-client', ...node('zlib')],
  store: ['kysely', 'pg', ...node('sqlite', 'crypto', 'fs', 'path', 'os', 'timers/promises', 'worker_threads')],
  core: node('crypto'),
  world: [
    ...['node-cron', 'pino', 'pino-pretty', 'yaml', 'zod'],
    ...node('crypto', 'fs', 'module', 'net', 'path', 'timers', 'timers/promises', 'tls', 'url'),
  ],
};

/** What a room may import: other rooms, as the page says, and packages. */
interface Permission {
  readonly rooms: readonly string[];
  readonly packages: readonly string[];
}

const table = tableOf(page);
export const permissions: Readonly<Record<string, Permission>> = Object.fromEntries(
  Object.entries(table).map(([room, rooms]) => [room, { rooms, packages: packages[room] ?? [] }]),
);

/** A folder that holds more, not counting what stands in folders of its own, comes apart. */
const maxFolderLines = 5_000;
const maxFolderFiles = 35;

/** Folders of `src` that are too large: `folder: files, lines`. */
export function oversizedFolders(sources: readonly SourceText[]): readonly string[] {
  const folders = Map.groupBy(sources, ({ file }) => relative('src', dirname(file)));
  return [...folders].flatMap(([folder, files]) => {
    const lines = files.reduce((sum, { text }) => sum + text.split('\n').length - 1, 0);
    const isSmall = lines <= maxFolderLines && files.length <= maxFolderFiles;
    return isSmall ? [] : [`${folder}: ${files.length} files, ${lines} lines`];
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
  const allowed = permissions[room] ?? { rooms: [], packages: [] };
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

const mentions = /`(?:src\/)?([a-z-]+(?:\/[a-z-]+)*\.ts)`|`(#?\w+)\(\)`/g;

/** What a text names that is not there: files of src or of `root`, and functions that the file named before has not got. */
export function missingMentions(text: string, root: string): readonly string[] {
  let file = '';
  return [...text.matchAll(mentions)].flatMap(([, path, name]) => {
    if (path === undefined) return declares(file, name ?? '') ? [] : [`${name}() in ${file}`];
    file = [`src/${path}`, path].map((one) => join(root, one)).find((one) => existsSync(one)) ?? '';
    return file === '' ? [path] : [];
  });
}

/** A function of that name, or a method: not a mere call. */
function declares(file: string, name: string): boolean {
  if (file === '') return false;
  return new RegExp(`function ${name}\\b|^  (?:async )?${name}[(<]`, 'm').test(readFileSync(file, 'utf8'));
}

/** The table of the page: each room with what it may import. */
function tableOf(page: string): Readonly<Record<string, readonly string[]>> {
  const rows = [...page.matchAll(/^\| (`[^|]+) \|[^|]+\| ([^|]+) \|$/gm)];
  return Object.fromEntries(
    rows.flatMap(([, rooms = '', allowed = '']) =>
      [...rooms.matchAll(/`([\w-]+)`/g)].map(([, room = '']) => [room, importsOf(allowed.trim())] as const),
    ),
  );
}

function importsOf(text: string): readonly string[] {
  if (text.startsWith('nothing')) return [];
  return text === 'everything' ? ['*'] : text.split(', ');
}
