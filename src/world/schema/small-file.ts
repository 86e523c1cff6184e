// Reads a regular file of bounded size, without ever waiting for a writer; finds files by a glob.
import { closeSync, constants, fstatSync, globSync, openSync, readSync, type Stats, statSync } from 'node:fs';

const mebibyte = 1024 * 1024;
const maxFileBytes = mebibyte;

/** Returns the text or the end of a sentence. A FIFO or a device would block, may never end, or have side effects. */
export function readSmallFile(
  path: string,
  maxBytes = maxFileBytes,
): { readonly text: string } | { readonly failure: string } {
  try {
    const wrong = kindComplaint(statSync(path));
    if (wrong !== null) return { failure: wrong };
    // O_NONBLOCK avoids waiting for a writer if the file has just become a FIFO.
    const file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      return contentOf(file, maxBytes);
    } finally {
      closeSync(file);
    }
  } catch (error) {
    return { failure: failureOf(error) };
  }
}

function contentOf(file: number, maxBytes: number): { readonly text: string } | { readonly failure: string } {
  const stats = fstatSync(file);
  const wrong = kindComplaint(stats);
  if (wrong !== null) return { failure: wrong };
  const tooLarge = {
    failure: `it is larger than ${maxBytes < mebibyte ? `${maxBytes / 1024} KiB` : `${maxBytes / mebibyte} MiB`}`,
  };
  if (stats.size > maxBytes) return tooLarge;
  // The reported size may be wrong or change during the read. One extra byte reveals a file that is too large.
  const bytes = Buffer.allocUnsafe(maxBytes + 1);
  let length = 0;
  for (let read = -1; read !== 0 && length < bytes.length; length += read) {
    read = readSync(file, bytes, length, bytes.length - length, null);
  }
  return length > maxBytes ? tooLarge : textIn(bytes.subarray(0, length));
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
