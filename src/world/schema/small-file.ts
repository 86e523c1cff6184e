// Reads a regular file of bounded size; finds files by a glob.
import { globSync, readFileSync, type Stats, statSync } from 'node:fs';

const mebibyte = 1024 * 1024;
const maxFileBytes = mebibyte;

/** Returns the text or the end of a sentence. A FIFO or a device would block, may never end, or have side effects. */
export function readSmallFile(
  path: string,
  maxBytes = maxFileBytes,
): { readonly text: string } | { readonly failure: string } {
  try {
    const stats = statSync(path);
    const wrong = kindComplaint(stats);
    if (wrong !== null) return { failure: wrong };
    if (stats.size <= maxBytes) return textIn(readFileSync(path));
    return {
      failure: `it is larger than ${maxBytes < mebibyte ? `${maxBytes / 1024} KiB` : `${maxBytes / mebibyte} MiB`}`,
    };
  } catch (error) {
    return { failure: failureOf(error) };
  }
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** UTF-16 would read as UTF-8 full of NULs. */
function textIn(bytes: Buffer): { readonly text: string } | { readonly failure: string } {
  const failure = 'it is not UTF-8 text; save it as UTF-8';
  if (bytes.includes(0)) return { failure };
  try {
    return { text: utf8.decode(bytes) };
  } catch {
    return { failure };
  }
}

function kindComplaint(stats: Stats): string | null {
  if (stats.isFile()) return null;
  if (stats.isDirectory()) return 'it is a folder';
  const kind = stats.isFIFO() ? 'a FIFO' : stats.isSocket() ? 'a socket' : 'a device';
  return `it is ${kind}, not a regular file`;
}

/** Names of files, relative to `folder` unless the pattern is absolute, sorted. Omits names with a leading dot. */
export function filesMatching(pattern: string, folder: string): readonly string[] {
  return globSync(pattern, { cwd: folder }).sort();
}

/** Omits the path that Node repeats in its message. */
export function failureOf(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  const words: Record<string, string> = {
    ENOENT: 'it does not exist',
    EISDIR: 'it is a folder',
    EACCES: 'no permission',
    ENOTDIR: 'a part of its path is not a folder',
    ELOOP: 'its symbolic links form a loop',
  };
  return words[code ?? ''] ?? code ?? message;
}
