// docs/ARCHITECTURE.md, read by machine: the files and functions that it names, and its table of who may import whom.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const mentions = /`(?:src\/)?([a-z-]+(?:\/[a-z-]+)*\.ts)`|`(#?\w+)\(\)`/g;

/** What a text names that is not there: files of src or of `root`, and functions that the file named before has not got. */
export function missingMentions(text: string, root: string): readonly string[] {
  let file = '';
  return [...text.matchAll(mentions)].flatMap(([, path, name]) => {
    if (path === undefined) return declares(file, name ?? '') ? [] : [`${name}() in ${file}`];
    file = [`src/${path}`, path].map((one) => join(root, one)).find((one) => existsSync(one)) ?? '';
    return file === '' ? [path] : [];
  });
}

/** A function of that name, or a method: not a mere call. */
function declares(file: string, name: string): boolean {
  if (file === '') return false;
  return new RegExp(`function ${name}\\b|^  (?:async )?${name}[(<]`, 'm').test(readFileSync(file, 'utf8'));
}

/** The table: each room with what it may import, in alphabetical order. */
export function tableOf(page: string): Readonly<Record<string, readonly string[]>> {
  const rows = [...page.matchAll(/^\| (`[^|]+) \|[^|]+\| ([^|]+) \|$/gm)];
  return Object.fromEntries(
    rows.flatMap(([, rooms = '', allowed = '']) =>
      [...rooms.matchAll(/`([\w-]+)`/g)].map(([, room = '']) => [room, importsOf(allowed.trim())] as const),
    ),
  );
}

function importsOf(text: string): readonly string[] {
  if (text.startsWith('nothing')) return [];
  return text === 'everything' ? ['*'] : text.split(', ').toSorted();
}
