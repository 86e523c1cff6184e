// Name and version of this program. The name is the one under which it was started, so that a command in a message runs as printed.
import { readFileSync, realpathSync } from 'node:fs';
import { basename, delimiter, dirname, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { shellWord } from '../core/mailbox.ts';

export interface Started {
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  cwd(): string;
}

/** The path is valid from both src and dist. */
const bin = fileURLToPath(new URL('../../src/bin.js', import.meta.url));

/**
 * Returns `warmwarden` if it is on the PATH or something else started it, such as a test, `npx warmwarden` under npm,
 * else the path, as in `node src/bin.js`.
 */
export function commandNameOf({ argv, env, cwd }: Started): string {
  const path = argv[1] ?? '';
  if (realPath(path) !== realPath(bin)) return 'warmwarden';
  const viaLink = basename(path) === 'warmwarden';
  const installedAside = viaLink && !path.includes(`${sep}node_modules${sep}`);
  // npm puts its folders on the PATH only of the programs that it starts.
  if (env['npm_lifecycle_event'] !== undefined && !installedAside) return 'npx warmwarden';
  if (viaLink && (env['PATH'] ?? '').split(delimiter).includes(dirname(path))) return 'warmwarden';
  const shown = shellPath(path, cwd());
  if (!viaLink) return `node ${shown}`;
  return shown.includes(sep) ? shown : `.${sep}${shown}`;
}

function realPath(path: string): string | null {
  try {
    return realpathSync(path);
  } catch {
    return null;
  }
}

/** Returns a relative path if it is below `cwd`. */
function shellPath(path: string, cwd: string): string {
  const below = relative(cwd, path);
  return shellWord(below.startsWith('..') ? path : below);
}

export const commandName = commandNameOf(process);

// Version of this Warmwarden, from package.json.

/** package.json is one folder above both src and dist. */
export const version: string = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')).version;
