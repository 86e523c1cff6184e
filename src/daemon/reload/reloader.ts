// Reloads: validate and compare first, then stop and start the parts that differ.
import type { Config } from '../../config/config.ts';
import type { LoadedConfig, ValidConfig } from '../../config/load.ts';
import type { LiveConfig } from '../../config/mailbox-rules.ts';
import { changesBetween, type SettingChange } from '../../config/settings.ts';
import { errorText } from '../../core/nearest.ts';
import { type CommandOutcome, failed, invalid, noChange, type ReloadRequest } from '../../core/operator-command.ts';
import { hourMs } from '../../core/time.ts';
import { stopsAt } from '../../operations/command-requests.ts';
import type { AccountMove } from '../../store/writes.ts';
import type { Loop, Loops } from '../../world/loop.ts';
import { formatProblem } from '../../world/schema/problem.ts';
import { readSmallFile } from '../../world/schema/small-file.ts';
import type { World } from '../../world/world.ts';
import type { Guarded } from '../guard.ts';
import { showAccounts } from '../picture.ts';
import {
  type Impact,
  impactOf,
  isMovedBy,
  lastChannelsGone,
  mistakesIn,
  moveMailboxes,
  movesOf,
  movesText,
  needingRestart,
  nobodyNotified,
  previewOf,
  unmutedText,
} from './changes.ts';
import type { Retired } from './duties.ts';

export interface ConfigSource {
  readonly file: string;
  readonly started: ValidConfig;
  readonly load: () => LoadedConfig | Promise<LoadedConfig>;
}

export interface ReloadParts extends Guarded {
  readonly source: ConfigSource;
  readonly live: LiveConfig;
  readonly accepted: (inForce: ValidConfig) => void;
  readonly refused: () => void;
  /** A reload failed halfway, and the next process starts with the new configuration. */
  readonly crash: (why: string, error: unknown) => void;
}

interface Consequences {
  readonly impact: Impact;
  readonly moves: readonly AccountMove[];
}

/** Carries out reloads one after the other. */
export class Reloader {
  readonly #parts: ReloadParts;
  #inForce: ValidConfig;
  /** Reloads that have not begun, by their requests. */
  readonly #waiting = new Map<string, Promise<CommandOutcome>>();
  #last: Promise<unknown> = Promise.resolve();
  #stopped = false;

  constructor(parts: ReloadParts) {
    this.#parts = parts;
    this.#inForce = parts.source.started;
  }

  /**
   * Loads the configuration again, and never rejects: a refused one changes nothing. Equal requests that wait become
   * one.
   */
  reload(request: ReloadRequest): Promise<CommandOutcome> {
    const key = JSON.stringify(request);
    const same = this.#waiting.get(key);
    if (same) return same;
    const outcome = this.#last.then(() => {
      this.#waiting.delete(key);
      return this.#carryOut(request).catch((error: unknown) => this.#failed(error, request));
    });
    this.#waiting.set(key, outcome);
    this.#last = outcome;
    return outcome;
  }

  /** Resolves when the reload in progress is over. */
  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#last;
  }

  async #carryOut(request: ReloadRequest): Promise<CommandOutcome> {
    if (this.#stopped) return failed('The daemon is stopping, so it does not reload the configuration.');
    const { force, by } = request;
    const { source, live, accepted, rooms, alerts } = this.#parts;
    const { fleet, world } = rooms;
    const loaded = await source.load();
    if (!loaded.ok) {
      const problems = loaded.problems.map((problem) => formatProblem(source.file, problem));
      return this.#refuse(problems, request);
    }
    const { config } = loaded;
    const moves = movesOf(live.config, config, fleet);
    const change = { before: live.config, after: config, moves };
    const mistakes = force ? [] : mistakesIn(change, fleet);
    if (mistakes.length > 0) {
      const remedy = 'If you intend that, run `warmwarden reload --force`.';
      return this.#refuse(
        mistakes.map((mistake) => `${source.file} ${mistake}. ${remedy}`),
        request,
      );
    }
    const consequences = { impact: impactOf(live.config, config), moves };
    const said = this.#describe(loaded, consequences);
    const preview = previewOf(change, fleet);
    const effect = said.length + preview.length === 0 ? [nothingNew(source.file)] : [...said, ...preview];
    const stopped = stopsAt({ effect, about: effect }, request);
    if (stopped) return stopped;
    await this.#showAdded(config, consequences.impact.added);
    const troubles = await this.#swap(loaded, consequences, by);
    if (troubles === null)
      return failed('The reload failed halfway: Warmwarden restarts, and begins with the new configuration.');
    const about = { file: source.file, by, ...consequences.impact, changes: said, problems: troubles };
    world.log.info(about, 'configuration reloaded');
    accepted(loaded);
    await alerts.show([]);
    if (said.length + preview.length + troubles.length === 0) return noChange(`Reloaded: ${nothingNew(source.file)}`);
    const partly = troubles.length === 0 ? '' : ', but not all of it yet';
    return { result: 'done', messages: [`Reloaded: ${source.file} is in force${partly}.`, ...effect, ...troubles] };
  }

  /** Outcome of a reload that failed before it changed anything, because the store can't be read, for example. */
  async #failed(error: unknown, request: ReloadRequest): Promise<CommandOutcome> {
    this.#parts.rooms.world.log.error({ err: error }, 'a reload failed before it changed anything');
    const refused = await this.#refuse([`The reload failed: ${errorText(error)}`], request);
    return { ...refused, result: 'failed', worthRetrying: true };
  }

  async #refuse(problems: readonly string[], { dry_run: isDry = false, by }: ReloadRequest): Promise<CommandOutcome> {
    const { source, rooms, refused, alerts } = this.#parts;
    if (!isDry) {
      const about = { file: source.file, by, problems };
      rooms.world.log.error(about, 'configuration refused: the previous one stays in force');
      refused();
      await alerts.show(problems);
    }
    return invalid(...problems, 'Not reloaded: the previous configuration stays in force.');
  }

  #describe(loaded: ValidConfig, { impact, moves }: Consequences): readonly string[] {
    const { source, rooms, notifying } = this.#parts;
    const changes = changesBetween(this.#inForce.settings(), loaded.settings());
    const waiting = needingRestart(source.started.settings(), loaded.settings());
    const late = new Set(waiting.map(({ name }) => name));
    const renamed = new Set(moves.flatMap(({ from, to, ids }) => (ids === null ? [from, to] : [])));
    const accounts = (what: string, names: readonly string[]) => names.map((name) => `account ${name} ${what}`);
    const notRenamed = (names: readonly string[]) => names.filter((name) => !renamed.has(name));
    return [
      ...changes.filter(({ name }) => !late.has(name)).map(changeText),
      ...waiting.map((change) => `${changeText(change)} (needs a restart)`),
      ...movesText(moves, rooms.fleet, rooms.world.clock.now()),
      ...accounts('is now guarded', notRenamed(impact.added)),
      ...accounts('is no longer guarded', notRenamed(impact.removed)),
      ...accounts('restarts its polling', impact.restarted),
      ...accounts('continues with new settings', impact.changed),
      ...unmutedText(notifying.waiting(), loaded.config),
      ...(lastChannelsGone(this.#inForce.config, loaded.config).length > 0 ? [nobodyNotified] : []),
    ];
  }

  /** Comes before all other changes, because the store may refuse it, and then the reload has changed nothing. */
  async #showAdded({ accounts }: Config, added: readonly string[]): Promise<void> {
    const { fleet, store, turns } = this.#parts.rooms;
    if (added.length === 0) return;
    const news = accounts.filter(({ name }) => added.includes(name));
    await turns.take(async () => showAccounts(fleet, await store.loadPicture(added), news));
  }

  /** Resolves to sentences about what could not be recorded, or to null if the process ends because it failed. */
  async #swap(loaded: ValidConfig, { impact, moves }: Consequences, by: string): Promise<readonly string[] | null> {
    const { live, duties, notifying, rooms, alerts, source, crash } = this.#parts;
    const { turns, world } = rooms;
    const { config } = loaded;
    const before = live.config;
    const removed = this.#removedBy(impact, moves);
    const troubles: string[] = [];
    const attempt = async (what: string, work: () => unknown) => {
      try {
        await work();
      } catch (error) {
        world.log.error({ err: error }, `during the reload: ${what}`);
        troubles.push(`${what}: ${errorText(error)}`);
      }
    };
    try {
      const retired = await duties.retire([...impact.restarted, ...impact.removed]);
      troubles.push(...retired.map(endedText));
      await attempt('mailboxes could not be moved to the accounts that guard them now', () =>
        moveMailboxes(rooms, { moves, accounts: config.accounts }, duties),
      );
      // The configuration is replaced in a turn of its own, so that no tick sees half of each.
      await turns.take(async () => live.replace(loaded.config));
      this.#inForce = loaded;
      duties.begin(config.accounts.filter(({ name }) => !duties.watchOf(name)));
    } catch (error) {
      crash('a reload failed halfway', error);
      return null;
    }
    for (const name of impact.removed)
      await attempt(`the end of the alerts of ${name} could not be recorded`, () => duties.forget(name));
    await attempt('the state of the circuit breaker could not be recorded', () => duties.withdrawUnguarded());
    world.log.level = config.log.level;
    const reloaded = { before, after: config, removed, file: source.file, by, at: world.clock.now() };
    await attempt('the channels could not be changed', () => notifying.reconfigure(config.alerts));
    await alerts.reloaded(reloaded);
    for (const watch of duties.watches) watch.tryForbiddenAgain();
    // Mailboxes that the configuration no longer selects leave with the next list.
    for (const name of impact.changed) duties.watchOf(name)?.askList();
    return troubles;
  }

  /** Omits mailboxes that go on under another account. */
  #removedBy({ removed }: Impact, moves: readonly AccountMove[]) {
    const { fleet } = this.#parts.rooms;
    const isMoved = isMovedBy(moves);
    return removed
      .map((account) => {
        const left = [...fleet.mailboxesOf(account)].filter((mailbox) => !isMoved(mailbox));
        return { account, mailboxes: left.length };
      })
      .filter(({ account, mailboxes }) => mailboxes > 0 || moves.every(({ from }) => from !== account));
  }
}

function nothingNew(file: string): string {
  return `${file} is in force already, so nothing changes.`;
}

function changeText({ name, before, after }: SettingChange): string {
  if (before === null) return `${name}: ${after} (new)`;
  if (after === null) return `${name}: ${before} (removed)`;
  return before === after ? `${name}: changed` : `${name}: ${before} -> ${after}`;
}

function endedText({ name, failure }: Retired): string {
  return `account ${name}: its earlier polling loop ended with an error (${failure}). Warmwarden now checks whether the changes that it had sent took effect.`;
}

// Reloads when a secret was replaced in its file, or when the file stays away.

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
  #lastSeen: Contents = new Map();
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
    if (!isSame(contents, this.#lastSeen)) [this.#lastSeen, this.#steadySince] = [contents, now];
    // A file of which a reload said that it is missing delays no other.
    const isAway = this.#files.some((file) => this.#known.has(file) && !contents.has(file));
    const waitMs = isAway ? awayMs : lookEveryMs;
    if (isSame(contents, this.#known) || now - this.#steadySince < waitMs) return lookEveryMs;
    // Refused content is not retried, but a failed reload is. `follow` replaces what is known when a reload succeeds.
    const known = this.#known;
    this.#known = contents;
    const outcome = await reload({ by: 'a secret that changed in its file', force: false, dry_run: false });
    if (outcome.worthRetrying) this.#known = known;
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
