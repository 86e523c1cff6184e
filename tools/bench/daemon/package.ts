// The program as users have it: packed, installed into a scratch folder, and started with the settings that image and systemd unit have.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const image = readFileSync(join(root, 'Dockerfile'), 'utf8');

/** Flags of Node.js in the image. */
export const nodeFlags: readonly string[] = /NODE_OPTIONS=(\S+)/.exec(image)?.slice(1) ?? [];

/** What the image tells glibc about memory. */
export const mallocSettings: Readonly<Record<string, string | undefined>> = Object.fromEntries(
  [...image.matchAll(/(MALLOC_\w+)=(\S+)/g)].map(([, name, value]) => [name, value]),
);

let bin: string | undefined;

/** The path of the installed bin.js. The first call of a process packs and installs; its end removes the folder. */
export function installedBin(): string {
  bin ??= install();
  return bin;
}

function install(): string {
  process.stderr.write('bench: npm pack, npm install\n');
  const scratch = mkdtempSync(join(tmpdir(), 'warmwarden-package-'));
  process.once('exit', () => rmSync(scratch, { recursive: true, force: true }));
  const npm = (...args: readonly string[]) =>
    execFileSync('npm', [...args, '--loglevel=error'], { cwd: root, stdio: ['ignore', 'ignore', 'inherit'] });
  npm('pack', '--pack-destination', scratch);
  const [archive = ''] = readdirSync(scratch);
  npm('install', '--prefix', scratch, '--prefer-offline', '--no-audit', '--no-fund', join(scratch, archive));
  return join(scratch, 'node_modules', 'warmwarden', 'src', 'bin.js');
}
