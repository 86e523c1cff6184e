// How this program was started, so that a command in a message runs as it is printed.
import { realpathSync } from 'node:fs';
import { basename, delimiter, dirname, join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

/** What of a process the name is read from: `process` itself. */
export interface Started {
  readonly argv: readonly string[];
  readonly execPath: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  cwd(): string;
}

/** src/bin.js, from src and from dist alike. */
const bin = fileURLToPath(new URL('../../src/bin.js', import.meta.url));

/**
 * The words that start this program again: `warmwarden` where it is found on the PATH, `npx warmwarden` where npm started
 * it, else the path by which it was started, as in `node src/bin.js`. `warmwarden` where something else started it: a test.
 */
export function commandNameOf({ argv, execPath, env, cwd }: Started): string {
  const path = argv[1] ?? '';
  if (realPath(path) !== realPath(bin)) return 'warmwarden';
  const viaLink = basename(path) === 'warmwarden';
  const installedAside = viaLink && !path.includes(`${sep}node_modules${sep}`);
  // npm puts its folders on the PATH of what it starts, and on no other.
  if (env['npm_lifecycle_event'] !== undefined && !installedAside) return 'npx warmwarden';
  const folders = (env['PATH'] ?? '').split(delimiter);
  if (viaLink && folders.includes(dirname(path))) return 'warmwarden';
  const shown = shellPath(path, cwd());
  if (!viaLink) return `${shellWord(nodeName(execPath, folders))} ${shown}`;
  return shown.includes(sep) ? shown : `.${sep}${shown}`;
}

/** `node` where the PATH leads to the one that runs this, which may be newer than another. */
function nodeName(execPath: string, folders: readonly string[]): string {
  const onPath = folders.map((folder) => realPath(join(folder, 'node'))).find((path) => path !== null);
  return onPath === realPath(execPath) ? 'node' : execPath;
}

function realPath(path: string): string | null {
  try {
    return realpathSync(path);
  } catch {
    return null;
  }
}

/** A path as it is typed in the folder `cwd`: relative below it. */
export function shellPath(path: string, cwd: string): string {
  const below = relative(cwd, path);
  return shellWord(below.startsWith('..') ? path : below);
}

/** What a shell takes for this one word. */
export function shellWord(word: string): string {
  return /^[\w./:@%+,~-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

/** How this process was started. */
export const commandName = commandNameOf(process);
