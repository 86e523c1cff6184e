// The WAL of a file that was deleted or replaced, beside another file: SQLite would lay it over that one, and damage it.
import { existsSync, renameSync, statSync } from 'node:fs';
import { identityOf, stampOf } from './identity.ts';
import { markIn } from './mark.ts';
import { leftBeside } from './outage-note.ts';

/** So many are kept. */
const keptAside = 5;

/**
 * Before the file is opened: where it is not the file that the last process had open, and the WAL is, that and its index are renamed.
 * Where that process noticed that the file was deleted, replaced or cut, a WAL that anything was written to since is left alone.
 * Returns sentences for the log.
 */
export function putOrphanedWalAside(file: string): readonly string[] {
  if (!existsSync(`${file}-wal`) || !isOrphaned(file)) return [];
  const aside = asideOf(file);
  for (const ending of ['-shm', '-wal'])
    if (existsSync(`${file}${ending}`)) renameSync(`${file}${ending}`, `${aside}${ending}`);
  return [
    `${file} is not the file that the last process had open. Warmwarden moved the newest changes of the earlier file to ${aside}-wal, so that SQLite does not apply them to this file. If you have the earlier file and want to read it with these changes, rename it to ${aside}.`,
  ];
}

function isOrphaned(file: string): boolean {
  const { open, replaced } = leftBeside(file);
  const wal = `${file}-wal`;
  const mark = markIn(file);
  if (replaced === null) {
    if (open?.wal !== identityOf(wal)) return false;
    return open.file !== identityOf(file) || !open.marks.includes(mark);
  }
  if (replaced.wal === null || stampOf(wal) !== replaced.wal) return false;
  const { stamp } = replaced.file;
  return !replaced.file.marks.includes(mark) || (stamp !== null && stamp !== stampOf(file));
}

/** A name that is free, else the one that was used longest ago. */
function asideOf(file: string): string {
  const names = Array.from({ length: keptAside }, (_, index) => `${file}.aside-${index + 1}`);
  const usedAt = (name: string) => statSync(`${name}-wal`, { throwIfNoEntry: false })?.ctimeMs ?? 0;
  return names.reduce((oldest, name) => (usedAt(name) < usedAt(oldest) ? name : oldest));
}
