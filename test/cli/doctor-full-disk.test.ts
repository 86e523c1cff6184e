// `warmwarden doctor` on a full disk: it says that, and that Warmwarden does not start, however the last process ended.
import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, cpSync, mkdirSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { shapes } from '../../src/cli/shapes/shapes.ts';
import { storeError } from '../../src/store/file/connection.ts';
import { Store } from '../../src/store/store.ts';
import { now } from '../store/records.ts';
import { commandLine } from '../support/command-line.ts';
import { newFolder } from '../support/new-folder.ts';
import { hasProc, Workplace } from '../support/process.ts';

/** Root may mount a small disk, to fill it, unless it is root of a container. `umount` needs /proc. */
const canMount = (() => {
  if (!hasProc) return false;
  using place = new Workplace();
  const isMounted = spawnSync('mount', ['-t', 'tmpfs', 'tmpfs', place.folder]).status === 0;
  if (isMounted) spawnSync('umount', ['--lazy', place.folder]);
  return isMounted;
})();

/** What doctor says of the store on a disk with so much free space; `meanwhile`: on that disk, before it is filled. */
async function examined(freeBytes: number, meanwhile: (path: string) => Promise<void>) {
  using workplace = new Workplace();
  const folder = workplace.path('data');
  mkdirSync(folder, { mode: 0o700 });
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=2m,mode=700', 'tmpfs', folder]);
  try {
    const account = { name: 'acme', base_url: 'http://127.0.0.1:1', api_key: 'sk_live_x' };
    const file = workplace.configure({ accounts: [account], store: { url: 'sqlite:./data/warmwarden.db' } });
    chmodSync(file, 0o600);
    await meanwhile(join(folder, 'warmwarden.db'));
    const { bavail, bsize } = statfsSync(folder);
    writeFileSync(join(folder, 'filler'), Buffer.alloc(bavail * bsize - freeBytes));
    const { code, stdout } = await commandLine(['doctor', '--config', file, '--json']);
    const { checks } = shapes.doctor.parse(JSON.parse(stdout));
    const said = checks.filter(({ part }) => part === 'store').map(({ result, message }) => `${result}: ${message}`);
    return { code, said };
  } finally {
    spawnSync('umount', ['--lazy', folder]);
  }
}

const orderly = async (path: string) => (await Store.open(path, now)).close();
const killed = async (path: string) => {
  const other = join(newFolder(), 'warmwarden.db');
  const store = await Store.open(other, now);
  for (const ending of ['', '-wal', '-shm']) cpSync(`${other}${ending}`, `${path}${ending}`);
  await store.close();
};
const ends = [['an orderly end', orderly] as const, ['kill -9', killed] as const];

test.runIf(canMount).each(ends)(
  'after %s, the full disk is the problem, and what to do is to free up space',
  async (_end, leave) => {
    const { code, said } = await examined(0, leave);
    expect(code).toBe(1);
    expect(said).toContainEqual(
      'problem: The disk of the store is full (0 B free): Warmwarden cannot record anything, and may not start. Free up space on that disk.',
    );
    expect(said.join()).not.toContain('writable folder');
    const roomy = await examined(256 * 1024, leave);
    expect(roomy.said.filter((one) => one.startsWith('problem'))).toEqual([]);
  },
);

test('an index that has no room on the disk is a full disk, not a folder that can not be written', () => {
  const error = Object.assign(new Error('disk I/O error'), { errcode: 4874 });
  expect(storeError('/data/w.db', error).message).toBe(
    "The store /data/w.db can't be opened: its disk is full. Free up space on that disk.",
  );
});
