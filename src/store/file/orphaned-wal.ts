// The WAL of a file that was deleted or replaced, beside another file: SQLite would lay it over that one, and damage it.
import { existsSync, renameSync, statSync } from 'node:fs';
import { sizeOf, stampOf } from './identity.ts';
import { markIn } from './mark.ts';
import { leftBeside } from './outage-note.ts';

/** So many are kept. */
const keptAside = 5;

/**
 * Before the file is opened: where the process that had it open last left word that it was deleted, replaced or cut, and another file
 * is there now, or none, its WAL and index are renamed. A WAL that anything was written to since is left alone. Returns sentences
 * for the log.
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
  // Of a file that is not there any more: SQLite would delete it.
  if (sizeOf(file) === 0) return true;
  const { replaced } = leftBeside(file);
  if (replaced === null || replaced.wal === null || stampOf(`${file}-wal`) !== replaced.wal) return false;
  const { marks, stamp } = replaced.file;
  return !marks.includes(markIn(file)) || (stamp !== null && stamp !== stampOf(file));
}

/** A name that is free, else the one that was used longest ago. */
function asideOf(file: string): string {
  const names = Array.from({ length: keptAside }, (_, index) => `${file}.aside-${index + 1}`);
  // Whoever gave an earlier file the name has a WAL of its own there.
  const unused = names.filter((name) => !existsSync(name));
  const usedAt = (name: string) => statSync(`${name}-wal`, { throwIfNoEntry: false })?.ctimeMs ?? 0;
  return (unused.length > 0 ? unused : names).reduce((oldest, name) => (usedAt(name) < usedAt(oldest) ? name : oldest));
}
