// The WAL of a file that was deleted or replaced, beside another file: SQLite would lay it over that one, and damage it.
import { existsSync, renameSync, statSync } from 'node:fs';
import { stampOf } from './identity.ts';
import { markIn } from './mark.ts';
import { leftBeside } from './outage-note.ts';

/** So many are kept. */
const keptAside = 5;

/**
 * Before the file is opened: where the process that had it open last left word that it was deleted, replaced or cut, and another file
 * is there now, its WAL and index are renamed. A WAL that anything was written to since is left alone. Returns sentences for the log.
 */
export function putOrphanedWalAside(file: string): readonly string[] {
  const { replaced } = leftBeside(file);
  const wal = `${file}-wal`;
  if (replaced === null || replaced.wal === null || stampOf(wal) !== replaced.wal) return [];
  const { marks, stamp } = replaced.file;
  if (marks.includes(markIn(file)) && (stamp === null || stamp === stampOf(file))) return [];
  const aside = asideOf(file);
  for (const ending of ['-shm', '-wal'])
    if (existsSync(`${file}${ending}`)) renameSync(`${file}${ending}`, `${aside}${ending}`);
  return [
    `${file} is not the file that the last process had open. The newest changes of that one are in ${aside}-wal now, because SQLite would apply them to the file that is there. To read them, name the earlier file ${aside}.`,
  ];
}

/** A name that is free, else the one that was used longest ago. */
function asideOf(file: string): string {
  const names = Array.from({ length: keptAside }, (_, index) => `${file}.aside-${index + 1}`);
  const usedAt = (name: string) => statSync(`${name}-wal`, { throwIfNoEntry: false })?.ctimeMs ?? 0;
  return names.reduce((oldest, name) => (usedAt(name) < usedAt(oldest) ? name : oldest));
}
