// The commands that docs/operating.md gives for a restore: they move what belongs to the database, and leave the note beside it, by
// which the next start notifies people that the store works again, and the lock.

import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { newFolder } from '../support/new-folder.ts';

const page = readFileSync(new URL('../../docs/operating.md', import.meta.url), 'utf8');
const [, restore = ''] = page.split('## Backup and restore\n');
const lines = restore.split('\n').filter((line) => line.startsWith('cd /var/lib/warmwarden && '));

const beside = ['warmwarden.db.failing', 'warmwarden.db.lock', 'warmwarden.db.sock', 'warmwarden.db.aside-wal'];

test.each([[['warmwarden.db']], [['warmwarden.db', 'warmwarden.db-shm', 'warmwarden.db-wal']]])(
  'of a store with %j they move all of that and nothing else',
  (database) => {
    const folder = newFolder();
    for (const name of [...database, ...beside]) writeFileSync(join(folder, name), name);
    expect(lines).toHaveLength(1);
    for (const line of lines)
      execFileSync('sh', ['-euc', line.replace('/var/lib/warmwarden', folder)], {
        stdio: ['ignore', 'ignore', 'pipe'],
      });
    const aside = readdirSync(folder).filter((name) => name.startsWith('damaged-'));
    expect(readdirSync(join(folder, ...aside)).sort()).toEqual(database);
    expect(readdirSync(folder).sort()).toEqual([...beside, ...aside].sort());
  },
);
