// The files that secrets are read from, while the daemon runs: rotation replaces them, often by a rename.
import { type FSWatcher, watch } from 'node:fs';
import { dirname } from 'node:path';
import { readSmallFile } from './small-file.ts';

/** What stands in the files now, by path; a file that can't be read is left out. */
export function readFiles(files: readonly string[]): ReadonlyMap<string, string> {
  const contents = new Map<string, string>();
  for (const file of files) {
    const read = readSmallFile(file);
    // It may be replaced at this moment: the next look finds it.
    if ('text' in read) contents.set(file, read.text);
  }
  return contents;
}

/**
 * Watches the folders of these files, because a watch on a file goes blind after the first rename over it. `changed` is
 * called for anything that happens there, so it may be called in vain. A folder that can't be watched is named to
 * `blind`. Returns what ends the watch.
 */
export function watchFolders(
  files: readonly string[],
  changed: () => void,
  blind: (folder: string) => void,
): () => void {
  const watchers: FSWatcher[] = [];
  for (const folder of new Set(files.map((file) => dirname(file)))) {
    try {
      const watcher = watch(folder, { persistent: false }, changed);
      watcher.on('error', () => blind(folder));
      watchers.push(watcher);
    } catch {
      blind(folder);
    }
  }
  return () => watchers.forEach((watcher) => void watcher.close());
}
