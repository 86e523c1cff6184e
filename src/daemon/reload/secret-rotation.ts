// Reloads the configuration when a secret was replaced in its file, once the folder is quiet, and when the file stays away.
import { type FSWatcher, watch } from 'node:fs';
import { dirname } from 'node:path';
import type { CommandOutcome, ReloadRequest } from '../../core/operator-command.ts';
import { readSmallFile } from '../../schema/small-file.ts';
import { type Bell, createBell, type World } from '../../world/world.ts';

type Reload = (request: ReloadRequest) => Promise<CommandOutcome>;

/** A rotation takes several steps in the folder; reading in the middle of it would find half a secret. */
const quietMs = 2_000;
/** Where a folder can't be watched (a network share, say), the files are looked at this often. */
const lookEveryMs = 60_000;
/** A file that is gone for longer is not being replaced: the reload says so, before a restart fails for want of it. */
const awayMs = 60_000;

/** Watches the files of the configuration in force, from `start` until `stop`. */
export class SecretRotation {
  readonly #world: World;
  readonly #bell: Bell;
  readonly #stop = new AbortController();
  #files: readonly string[] = [];
  #known: ReadonlyMap<string, string> = new Map();
  /** Since when a file that was read is gone, on the monotonic clock; null: none is. */
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

  /** Another configuration is in force: the secrets in its files are the known ones from now on. */
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
        dryRun: false,
      });
      // Refused content is not tried again; what failed is, and so is a file that was replaced during the reload.
      if (!outcome.worthRetrying) this.#known = contents;
    }
  }

  /** Another content, or a file that does not come back. */
  #rotated(): boolean {
    const contents = readFiles(this.#files);
    const now = this.#world.clock.monotonic();
    const isAway = [...this.#known.keys()].some((file) => !contents.has(file));
    this.#awaySince = isAway ? (this.#awaySince ?? now) : null;
    if (this.#awaySince !== null && now - this.#awaySince >= awayMs) return true;
    return [...contents].some(([file, content]) => content !== this.#known.get(file));
  }
}

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
