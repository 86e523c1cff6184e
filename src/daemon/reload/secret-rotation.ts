// Reloads the configuration if a secret was replaced in its file, once the folder is quiet, or if the file stays away.
import { type FSWatcher, watch } from 'node:fs';
import { dirname } from 'node:path';
import type { CommandOutcome, ReloadRequest } from '../../core/operator-command.ts';
import { readSmallFile } from '../../world/schema/small-file.ts';
import { type Bell, createBell, type World } from '../../world/world.ts';

type Reload = (request: ReloadRequest) => Promise<CommandOutcome>;

/**
 * Quiet time before a file is read: a rotation takes several steps in the folder, and a read between them would find
 * half a secret.
 */
const quietMs = 2_000;
/** Interval of the looks at files in a folder that can't be watched, such as a network share. */
const lookEveryMs = 60_000;
/**
 * Time after which a missing file is not being replaced: the reload reports it before a restart fails because of it.
 */
const awayMs = 60_000;

/** Watches the files of the configuration in force, from `start` until `stop`. */
export class SecretRotation {
  readonly #world: World;
  readonly #bell: Bell;
  readonly #stop = new AbortController();
  #files: readonly string[] = [];
  #known: ReadonlyMap<string, string> = new Map();
  /** Monotonic time since which a file is missing, or null if none is. */
  #awaySince: number | null = null;
  #endWatch: () => void = () => {};
  #running: Promise<void> = Promise.resolve();

  constructor(world: World) {
    this.#world = world;
    this.#bell = createBell(world.clock);
  }

  start(files: readonly string[], reload: Reload): void {
    this.follow(files);
    this.#running = this.#run(reload);
  }

  /** Follows the files of another configuration, whose present contents count as known from now on. */
  follow(files: readonly string[]): void {
    this.#files = files;
    this.#known = readFiles(this.#files);
    this.#endWatch();
    this.#endWatch = watchFolders(
      this.#files,
      () => this.#bell.ring(),
      (folder) =>
        this.#world.log.warn(
          { folder },
          'the folder of a secret file cannot be watched: Warmwarden checks the file every minute',
        ),
    );
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    this.#endWatch();
    await this.#running;
  }

  async #run(reload: Reload): Promise<void> {
    const { signal } = this.#stop;
    const { clock } = this.#world;
    while (!signal.aborted) {
      await this.#bell.sleep(lookEveryMs, signal);
      if (signal.aborted || !this.#rotated()) continue;
      await clock.sleep(quietMs, signal);
      if (signal.aborted) return;
      const contents = readFiles(this.#files);
      const outcome = await reload({
        by: 'a secret that changed in its file',
        force: false,
        dry_run: false,
      });
      // Refused content is not retried; a failed reload is, and so is a file that was replaced during the reload.
      if (!outcome.worthRetrying) this.#known = contents;
    }
  }

  /** True if a file has other content, or stays away. */
  #rotated(): boolean {
    const contents = readFiles(this.#files);
    const now = this.#world.clock.monotonic();
    const isAway = [...this.#known.keys()].some((file) => !contents.has(file));
    this.#awaySince = isAway ? (this.#awaySince ?? now) : null;
    if (this.#awaySince !== null && now - this.#awaySince >= awayMs) return true;
    return [...contents].some(([file, content]) => content !== this.#known.get(file));
  }
}

/** Contents of the files by path, without unreadable files. */
export function readFiles(files: readonly string[]): ReadonlyMap<string, string> {
  const contents = new Map<string, string>();
  for (const file of files) {
    const read = readSmallFile(file);
    // A file may be in the middle of a replacement: the next look finds it.
    if ('text' in read) contents.set(file, read.text);
  }
  return contents;
}

/**
 * Watches the folders of these files, because a watch on a file is lost after the first rename over it. Calls `changed`
 * for any event there, even without a change of the files. Calls `blind` for a folder that can't be watched. Returns a
 * function that ends the watch.
 */
function watchFolders(files: readonly string[], changed: () => void, blind: (folder: string) => void): () => void {
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
