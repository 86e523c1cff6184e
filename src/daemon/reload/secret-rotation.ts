// Reloads the configuration when a secret was replaced in its file, or when the file stays away.
import type { CommandOutcome, ReloadRequest } from '../../core/operator-command.ts';
import { readSmallFile } from '../../world/schema/small-file.ts';
import type { World } from '../../world/world.ts';

type Reload = (request: ReloadRequest) => Promise<CommandOutcome>;
type Contents = ReadonlyMap<string, string>;

/** A rotation takes several steps in the folder: contents count once two looks in a row find them. */
const lookEveryMs = 5_000;
/** A missing file is not being replaced after this; the reload reports it before a restart fails because of it. */
const awayMs = 60_000;

export class SecretRotation {
  readonly #world: World;
  readonly #stop = new AbortController();
  #files: readonly string[] = [];
  #known: Contents = new Map();
  #running: Promise<void> = Promise.resolve();

  constructor(world: World) {
    this.#world = world;
  }

  start(files: readonly string[], reload: Reload): void {
    this.follow(files);
    this.#running = this.#run(reload);
  }

  /** The present contents count as known. */
  follow(files: readonly string[]): void {
    this.#files = files;
    this.#known = readFiles(files);
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  async #run(reload: Reload): Promise<void> {
    const { clock } = this.#world;
    const { signal } = this.#stop;
    let before = this.#known;
    let steadySince = clock.monotonic();
    while (!signal.aborted) {
      await clock.sleep(lookEveryMs, signal);
      if (signal.aborted) return;
      const contents = readFiles(this.#files);
      const now = clock.monotonic();
      if (!isSame(contents, before)) [before, steadySince] = [contents, now];
      const isAway = this.#files.some((file) => !contents.has(file));
      const waitMs = isAway ? awayMs : lookEveryMs;
      if (isSame(contents, this.#known) || now - steadySince < waitMs) continue;
      const outcome = await reload({ by: 'a secret that changed in its file', force: false, dry_run: false });
      // Refused content is not retried; a failed reload is, and so is a file that was replaced during the reload.
      if (!outcome.worthRetrying) this.#known = contents;
    }
  }
}

function isSame(one: Contents, other: Contents): boolean {
  return one.size === other.size && [...one].every(([file, content]) => other.get(file) === content);
}

/** Omits unreadable files. */
export function readFiles(files: readonly string[]): Contents {
  const read = files.map((file) => [file, readSmallFile(file)] as const);
  return new Map(read.flatMap(([file, found]) => ('text' in found ? [[file, found.text]] : [])));
}
