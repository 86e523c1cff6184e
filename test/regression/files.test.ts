// Files that are none: a FIFO blocked the daemon for ever, a device filled the memory, 20 MB were parsed. docs/faults.md O5.
import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { readFiles } from '../../src/daemon/reload/reloader.ts';
import { readCatalogue } from '../../src/recipes/catalogue.ts';
import { Running, Workplace } from '../support/process.ts';

const key = 'sk_live_regular_file';

/** A folder with one of each kind; `fifo` has no writer. */
function workplace(): Workplace {
  const place = new Workplace();
  execFileSync('/bin/sh', ['-c', 'mkfifo "$0"', place.path('fifo')]);
  symlinkSync('fifo', place.path('link-to-fifo'));
  symlinkSync('/dev/zero', place.path('link-to-device'));
  writeFileSync(place.path('key'), `${key}\n`);
  symlinkSync('key', place.path('link-to-key'));
  writeFileSync(place.path('large'), key);
  truncateSync(place.path('large'), 20 * 1024 * 1024);
  mkdirSync(place.path('folder'));
  return place;
}

async function check(place: Workplace, config: string) {
  await using running = new Running(['check', '--config', config]);
  const { code } = await running.ended;
  return { code, output: running.output.replaceAll(`${place.folder}/`, '') };
}

test('a secret is read from a regular file of bounded size only, at once', async () => {
  using place = workplace();
  const names = ['fifo', 'link-to-fifo', '/dev/zero', 'large', 'folder', 'key'];
  const accounts = names.map((file, index) => {
    return { name: `a${index}`, base_url: `https://${index}.example`, api_key_file: file };
  });
  const { code, output } = await check(place, place.configure({ accounts }));
  expect(code).toBe(2);
  const said = output.split('\n').flatMap((line) => /api_key_file: (.*)$/.exec(line)?.[1] ?? []);
  expect(said).toEqual([
    "the file can't be read: it is a FIFO, not a regular file",
    "the file can't be read: it is a FIFO, not a regular file",
    "the file can't be read: it is a device, not a regular file",
    "the file can't be read: it is larger than 64 KiB",
    "the file can't be read: it is a folder",
  ]);
});

const notUtf8 = 'it is not UTF-8 text; save it as UTF-8';
test.each([
  ['fifo', 'it is a FIFO, not a regular file'],
  ['link-to-device', 'it is a device, not a regular file'],
  ['large', 'it is larger than 1 MiB'],
  ['folder', 'it is a folder'],
  ['utf-16', notUtf8],
  ['latin-1', notUtf8],
])('a configuration that is %s is refused in one sentence', async (name, why) => {
  using place = workplace();
  writeFileSync(place.path('utf-16'), Buffer.from('\ufeffaccounts: []\n', 'utf16le'), { mode: 0o600 });
  writeFileSync(place.path('latin-1'), Buffer.from('# M\u00fcnchen\n', 'latin1'), { mode: 0o600 });
  const { code, output } = await check(place, place.path(name));
  expect([code, output.trim()]).toEqual([2, `${name}:1:1 the file can't be read: ${why}`]);
});

test('a configuration behind a symlink is read, as Kubernetes mounts it', async () => {
  using place = workplace();
  const accounts = [{ name: 'acme', base_url: 'https://mailboxes.example', api_key_file: 'link-to-key' }];
  symlinkSync(place.configure({ accounts }, 'real.yaml'), place.path('link.yaml'));
  expect((await check(place, place.path('link.yaml'))).code).toBe(0);
});

test('a recipe that is a FIFO, a device or too large hides no other', async () => {
  using place = workplace();
  mkdirSync(place.path('recipes'));
  for (const name of ['fifo', 'link-to-device', 'large', 'folder']) {
    symlinkSync(`../${name}`, place.path(`recipes/${name}.yaml`));
  }
  writeFileSync(place.path('recipes/own.yaml'), 'id: own\ntitle: t\ndescription: d\nselect: SELECT 1 AS one\n');
  const { definitions, broken } = await readCatalogue(place.path('recipes'));
  expect(definitions.has('own')).toBe(true);
  expect(broken.map(({ problems }) => problems[0]?.replace(/^.*\/recipes\//, ''))).toEqual([
    "fifo.yaml: can't be read: it is a FIFO, not a regular file",
    "folder.yaml: can't be read: it is a folder",
    "large.yaml: can't be read: it is larger than 64 KiB",
    "link-to-device.yaml: can't be read: it is a device, not a regular file",
  ]);
});

test('a secret file that becomes a FIFO while it runs is left out', () => {
  using place = workplace();
  expect([...readFiles([place.path('fifo'), place.path('key')])]).toEqual([[place.path('key'), `${key}\n`]]);
});
