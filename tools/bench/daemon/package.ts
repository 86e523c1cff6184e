// The program as users have it: compiled and bundled as the package is, and started with the settings that the image has.
import { execFileSync } from 'node:child_process';
import { copyFileSync, cpSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../../', import.meta.url));
/** Below the packages, which it needs. */
const folder = join(root, 'node_modules', '.cache', 'warmwarden-bench');

const image = readFileSync(join(root, 'Dockerfile'), 'utf8');

/** As the image has them. */
export const nodeFlags: readonly string[] = /NODE_OPTIONS=(\S+)/.exec(image)?.slice(1) ?? [];

/** What the image tells glibc about memory. */
export const mallocSettings: Readonly<Record<string, string | undefined>> = Object.fromEntries(
  [...image.matchAll(/(MALLOC_\w+)=(\S+)/g)].map(([, name, value]) => [name, value]),
);

let bin: string | undefined;

/** Its bin.js. Compiled when a process asks for the first time. */
export function packagedBin(): string {
  bin ??= compiled();
  return bin;
}

function compiled(): string {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(join(folder, 'src', 'recipes'), { recursive: true });
  const tsc = join(root, 'node_modules', '.bin', 'tsc');
  const dist = join(folder, 'dist');
  execFileSync(tsc, ['-p', join(root, 'tsconfig.build.json'), '--outDir', dist]);
  execFileSync(process.execPath, [join(root, 'tools', 'release', 'bundle.ts'), dist]);
  for (const file of ['package.json', 'src/bin.js']) copyFileSync(join(root, file), join(folder, file));
  const recipes = join('src', 'recipes', 'built-in');
  cpSync(join(root, recipes), join(folder, recipes), { recursive: true });
  return join(folder, 'src', 'bin.js');
}
