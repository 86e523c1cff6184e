// Reloads the configuration when a secret was replaced in its file, or when the file stays away.
import type { CommandOutcome, ReloadRequest } from '../../core/operator-command.ts';
import { hourMs } from '../../core/time.ts';
import type { Loop, Loops } from '../../world/loop.ts';
import { readSmallFile } from '../../world/schema/small-file.ts';
import type { World } from '../../world/world.ts';

type Reload = (request: ReloadRequest) => Promise<CommandOutcome>;
type Contents = ReadonlyMap<string, string>;

/** A rotation takes several steps in the folder: contents count once two looks in a row find them. */
const lookEveryMs = 5_000;
/** A missing file is not being replaced after this; the reload reports it before a restart fails because of it. */
const awayMs = 60_000;

/** A reload may wait until writes were read back. */
const reloadWithinMs = hourMs;

export class SecretRotation {
  readonly #clock: World['clock'];
  #files: readonly string[] = [];
  #known: Contents = new Map();
  #before: Contents = new Map();
  #steadySince = 0;

  constructor({ clock }: Pick<World, 'clock'>) {
    this.#clock = clock;
  }

  /** Takes the contents that the configuration in force was read from: a file may have changed since. */
  follow(read: Contents): void {
    this.#files = [...read.keys()];
    this.#known = read;
  }

  loop(loops: Loops, reload: Reload): Loop {
    return loops.create('watching the files of secrets', () => this.#look(reload), reloadWithinMs);
  }

  /** Returns the wait until the next look. */
  async #look(reload: Reload): Promise<number> {
    const contents = readFiles(this.#files);
    const now = this.#clock.monotonic();
    if (!isSame(contents, this.#before)) [this.#before, this.#steadySince] = [contents, now];
    // A file of which a reload said that it is missing delays no other.
    const isAway = this.#files.some((file) => this.#known.has(file) && !contents.has(file));
    const waitMs = isAway ? awayMs : lookEveryMs;
    if (isSame(contents, this.#known) || now - this.#steadySince < waitMs) return lookEveryMs;
    // Refused content is not retried, but a failed reload is. `follow` replaces what is known when a reload succeeds.
    const before = this.#known;
    this.#known = contents;
    const outcome = await reload({ by: 'a secret that changed in its file', force: false, dry_run: false });
    if (outcome.worthRetrying) this.#known = before;
    return lookEveryMs;
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
