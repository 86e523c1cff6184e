// The command starts on the Node.js that runs the tests, and says so on one that is too old. The one that the checkout brings (tools/runtime)
// starts on a minimal machine. `npm run proofs` calls this on the oldest one, too.
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { expect, it } from 'vitest';
import { newFolder } from './support/new-folder.ts';

const root = join(import.meta.dirname, '..');

function warmwarden(...args: string[]) {
  return spawnSync(process.execPath, ['src/bin.js', ...args], { cwd: root, encoding: 'utf8' });
}

it('says its version without a word on stderr', () => {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const { stdout, stderr, status } = warmwarden('--version');
  expect({ stdout, stderr, status }).toEqual({ stdout: `${version}\n`, stderr: '', status: 0 });
});

/** As if this Node.js were another version, and no other were bundled: the check is all that is run. */
function startedOn(version: string, cwd = root): string {
  const script = `Object.defineProperty(process.versions, 'node', { value: '${version}' });
    process.argv[1] = 'warmwarden'; process.argv[2] = '--version'; await import('./src/bin.js')`;
  const args = ['--input-type=module', '-e', script, 'warmwarden', '--version'];
  const { stdout, stderr, status } = spawnSync(process.execPath, args, { cwd, encoding: 'utf8' });
  return `${status} ${stdout}${stderr}`;
}

it.each(['18.20.8', '20.20.2', '24.14.1', '25.9.0'])('says what it needs on Node.js %s', (version) => {
  const alone = newFolder();
  cpSync(join(root, 'src/bin.js'), join(alone, 'src/bin.js'));
  writeFileSync(join(alone, 'package.json'), '{"type": "module"}');
  expect(startedOn(version, alone)).toMatch(
    new RegExp(`^2 warmwarden needs Node.js 24.15 or newer .*; this is ${version} `),
  );
});

it.each(['24.15.0', '26.0.0'])('starts on Node.js %s', (version) => {
  expect(startedOn(version)).toMatch(/^0 \d/);
});

it('names the same versions in package.json', () => {
  const { engines } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  expect(engines).toEqual({ node: '^24.15.0 || >=26.0.0' });
});

const bundled = execFileSync(process.execPath, [join(import.meta.dirname, '../tools/runtime/node.cjs')], {
  encoding: 'utf8',
});
const listSharedObjects =
  'process.report.excludeNetwork = true; console.log(JSON.stringify(process.report.getReport().sharedObjects))';

it.runIf(process.platform === 'linux')('loads only libraries that every Debian has: no libatomic', () => {
  const loaded: string[] = JSON.parse(execFileSync(bundled, ['-e', listSharedObjects], { encoding: 'utf8' }));
  const names = new Set(loaded.map((path) => basename(path).replace(/\.so\b.*/, '')));
  const everywhere = [
    'linux-vdso',
    'ld-linux-x86-64',
    'ld-linux-aarch64',
    'libc',
    'libm',
    'libdl',
    'libpthread',
    'libgcc_s',
    'libstdc++',
  ];
  expect(names).toContain('libc');
  expect([...names].filter((name) => !everywhere.includes(name))).toEqual([]);
});
