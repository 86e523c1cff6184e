// A change of configuration while the daemon runs: parse and validate first, compare, then swap only what differs.

import type { RecorderRooms } from '../../account/record/guarded-account.ts';
import type { AccountConfig, Config } from '../../config/config.ts';
import type { LiveConfig } from '../../config/live.ts';
import type { LoadedConfig, ValidConfig } from '../../config/load.ts';
import { changesBetween, type SettingChange } from '../../config/settings.ts';
import { errorText } from '../../core/nearest.ts';
import type { CommandOutcome, ReloadRequest } from '../../core/operator-command.ts';
import { counted, listText } from '../../core/wording/phrases.ts';
import { failed, invalid, noChange, stopsAt } from '../../operations/plan.ts';
import { formatProblem } from '../../schema/problem.ts';
import type { AccountMove } from '../../store/records.ts';
import { createPacer, type Pacer } from '../../world/world.ts';
import { recordChannelsGone, recordDisarming } from './disarming.ts';
import type { Duties } from './duties.ts';
import {
  droppedBy,
  type Impact,
  impactOf,
  isReruled,
  lastChannelsGone,
  looksLikeAMistake,
  needingRestart,
} from './impact.ts';
import { isMoved, moveMailboxes, movesOf, movesText, swappedAccounts } from './moves.ts';
import { previewOf } from './preview.ts';
import { OneWaiting, Recording, recordReloadAlert } from './recording.ts';
import { showAccounts } from './shown.ts';

/** A reload looks at every mailbox; after so long the event loop gets a turn. */
const sliceMs = 4;
/** Mailboxes that are judged again one after the other, and committed together. */
const judgedTogether = 50;

/** Where the configuration comes from: the file, as the command line named it, and a way to read it again. */
export interface ConfigSource {
  readonly file: string;
  /** What the process was started with. */
  readonly started: ValidConfig;
  readonly load: () => LoadedConfig | Promise<LoadedConfig>;
}

export interface ReloadParts {
  readonly source: ConfigSource;
  readonly live: LiveConfig;
  readonly duties: Duties;
  readonly notifying: { reconfigure(alerts: Config['alerts']): Promise<void> };
  readonly rooms: RecorderRooms;
  /** This configuration is in force from now on. */
  readonly taken: (inForce: ValidConfig) => void;
  /** A configuration was refused, for these reasons. */
  readonly refused: (problems: readonly string[]) => void;
}

/** Takes reloads one after the other. */
export class Reloader {
  readonly #parts: ReloadParts;
  #inForce: ValidConfig;
  readonly #reloads = new OneWaiting((request: ReloadRequest) =>
    this.#take(request).catch((error: unknown) => this.#failed(error, request)),
  );
  readonly #recording: Recording;
  #stopped = false;

  constructor(parts: ReloadParts) {
    this.#parts = parts;
    this.#inForce = parts.source.started;
    this.#recording = new Recording(parts.rooms);
  }

  /** The configuration of the start is in force: an alert about one that an earlier process refused ends. */
  async begin(): Promise<void> {
    const { rooms, live } = this.#parts;
    await this.#showProblems([]);
    const nothing = { before: live.config, after: live.config, removed: [], by: '', at: rooms.world.clock.now() };
    await this.#recording.record(() => recordDisarming(rooms, nothing));
  }

  /** The alert about a configuration that was refused; none: it ends. */
  #showProblems(problems: readonly string[]): Promise<void> {
    const { rooms, live } = this.#parts;
    return this.#recording.record(() => recordReloadAlert(rooms, problems, live.config.alerts.rules));
  }

  /** Never rejects; what is refused changes nothing. Each reads the file when it begins, so equal ones that wait are one. */
  reload(request: ReloadRequest): Promise<CommandOutcome> {
    return this.#reloads.ask(request);
  }

  /** The store, say, can't be read: nothing was changed yet. */
  async #failed(error: unknown, request: ReloadRequest): Promise<CommandOutcome> {
    this.#parts.rooms.world.log.error({ err: error }, 'a reload failed before it changed anything');
    const refused = await this.#refuse([`The reload failed: ${errorText(error)}`], request);
    return { ...refused, result: 'failed', worthRetrying: true };
  }

  /** Takes no further reload; resolves when the one under way is over. */
  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#reloads.idle();
    await this.#recording.stop();
  }

  /** The files whose change means a reload. */
  get secretFiles(): readonly string[] {
    return this.#inForce.secretFiles;
  }

  async #take(request: ReloadRequest): Promise<CommandOutcome> {
    if (this.#stopped) return failed('The daemon is stopping, so it does not reload the configuration.');
    const { force, by } = request;
    const { source, live, taken } = this.#parts;
    const { fleet, world } = this.#parts.rooms;
    const loaded = await source.load();
    const pacer = createPacer(sliceMs, 'patient');
    if (!loaded.ok) {
      const problems = loaded.problems.map((problem) => formatProblem(source.file, problem));
      return this.#refuse(problems, request);
    }
    const moves = movesOf(live.config, loaded.config, fleet);
    const mistakes = force ? [] : await this.#mistakesIn(loaded.config, moves, pacer);
    if (mistakes.length > 0) return this.#refuse(mistakes, request);
    if (pacer.due()) await pacer.turn();
    const impact = impactOf(live.config, loaded.config);
    if (pacer.due()) await pacer.turn();
    const waiting = needingRestart(source.started.settings, loaded.settings);
    if (pacer.due()) await pacer.turn();
    const said = this.#describe(loaded, { impact, moves }, waiting);
    if (pacer.due()) await pacer.turn();
    const change = { before: live.config, after: loaded.config, moves };
    const { sentences: preview, counts } = await previewOf(change, fleet, world.clock.now(), pacer);
    const effect = said.length + preview.length === 0 ? [nothingNew(source.file)] : [...said, ...preview];
    const stopped = stopsAt({ effect, about: effect, counts }, request);
    if (stopped) return stopped;
    const troubles = await this.#swap(loaded, { impact, moves }, by);
    world.log.info({ file: source.file, by, ...impact, changes: said, problems: troubles }, 'configuration reloaded');
    taken(loaded);
    await this.#showProblems([]);
    if (said.length + preview.length + troubles.length === 0) return noChange(`Reloaded: ${nothingNew(source.file)}`);
    return { result: 'done', messages: [reloadedText(source.file, troubles), ...effect, ...troubles] };
  }

  /** What the configuration takes away that is more likely to be a mistake, in sentences. */
  async #mistakesIn(config: Config, moves: readonly AccountMove[], pacer: Pacer): Promise<readonly string[]> {
    const { source, live } = this.#parts;
    const { fleet, world } = this.#parts.rooms;
    const dropped = (await droppedBy(config, fleet.mailboxes(), moves, pacer)).length;
    const swapped = swappedAccounts(live.config, config);
    const channels = lastChannelsGone(live.config, config);
    const removed = `the ${channels.length === 1 ? 'channel' : 'channels'} ${channels.join(', ')}`;
    const mailboxes = counted(fleet.mailboxCount(), 'guarded mailbox', 'guarded mailboxes');
    return [
      ...(looksLikeAMistake(dropped, fleet.mailboxCount()) ? [`removes ${dropped} of ${mailboxes}`] : []),
      ...(swapped.length > 0 ? [`swaps the base_url of the accounts ${listText(swapped)}`] : []),
      ...(channels.length > 0 ? [`removes ${removed}, and ${nobodyNotified}`] : []),
    ].map((mistake) => `${source.file} ${mistake}. If you intend that, run \`${world.command} reload --force\`.`);
  }

  async #refuse(problems: readonly string[], request: ReloadRequest): Promise<CommandOutcome> {
    const { dryRun = false, by } = request;
    const { source, rooms, refused } = this.#parts;
    if (!dryRun) {
      rooms.world.log.error(
        { file: source.file, by, problems },
        'configuration refused: the previous one stays in force',
      );
      refused(problems);
      await this.#showProblems(problems);
    }
    return invalid(...problems, notReloaded);
  }

  /** `waiting`: what takes effect after a restart only. */
  #describe(
    loaded: ValidConfig,
    { impact, moves }: Consequences,
    waiting: readonly SettingChange[],
  ): readonly string[] {
    const { fleet, world } = this.#parts.rooms;
    const changes = changesBetween(this.#inForce.settings, loaded.settings);
    const late = new Set(waiting.map(({ name }) => name));
    return [
      ...changes.filter(({ name }) => !late.has(name)).map(changeText),
      ...waiting.map((change) => `${changeText(change)} (needs a restart)`),
      ...movesText(moves, fleet, world.clock.now()),
      ...accountText('is now guarded', notRenamed(impact.added, moves)),
      ...accountText('is no longer guarded', notRenamed(impact.removed, moves)),
      ...accountText('restarts its polling', impact.restarted),
      ...accountText('continues with new settings', impact.changed),
      ...(lastChannelsGone(this.#inForce.config, loaded.config).length > 0 ? [nobodyNotified] : []),
    ];
  }

  /** Resolves to what failed on the way, in sentences: none of it leaves a configured account without its loop. */
  async #swap(loaded: ValidConfig, { impact, moves }: Consequences, by: string): Promise<readonly string[]> {
    const { live, duties, notifying } = this.#parts;
    const { store, fleet, turns, world } = this.#parts.rooms;
    const before = live.config;
    const { config } = loaded;
    const unguarded = (account: string) => [...fleet.mailboxesOf(account)].filter((one) => !isMoved(moves, one)).length;
    const removed = impact.removed
      .map((account) => ({ account, mailboxes: unguarded(account) }))
      .filter(({ account, mailboxes }) => mailboxes > 0 || moves.every(({ from }) => from !== account));
    const named = (names: readonly string[]) => config.accounts.filter(({ name }) => names.includes(name));
    const added = named(impact.added);
    // What can fail as a whole comes first: until here nothing was changed.
    if (added.length > 0)
      await turns.take(async () => showAccounts(fleet, await store.loadPicture(impact.added), added));
    const troubles: string[] = [];
    const attempt = async (what: string, work: () => unknown) => {
      try {
        await work();
      } catch (error) {
        world.log.error({ err: error }, `during the reload: ${what}`);
        troubles.push(`${what}: ${errorText(error)}`);
      }
    };
    const retired = await duties.retire([...impact.restarted, ...impact.removed]);
    troubles.push(...retired.flatMap(({ name, failure }) => endedBadly(name, failure)));
    const ended = retired.map(({ name }) => name);
    await attempt('mailboxes could not be moved to the accounts that guard them now', () =>
      moveMailboxes(this.#parts.rooms, { moves, accounts: config.accounts }, duties),
    );
    // In a turn of its own: no tick sees half of each.
    await turns.take(async () => live.replace(loaded));
    this.#inForce = loaded;
    for (const account of [...named(impact.restarted.filter((name) => ended.includes(name))), ...added])
      await attempt(`account ${account.name} could not be started`, () => duties.begin([account]));
    for (const name of impact.removed)
      await attempt(`the end of the alerts of ${name} could not be recorded`, () => duties.forget(name));
    await attempt('the state of the circuit breaker could not be recorded', () => duties.withdrawUnguarded());
    if (config.log.level !== before.log.level) world.log.level = config.log.level;
    const disarming = { before, after: config, removed, by, at: world.clock.now() };
    const gone = lastChannelsGone(before, config);
    const { file } = this.#parts.source;
    const { rooms } = this.#parts;
    if (gone.length > 0) await this.#recording.record(() => recordChannelsGone(rooms, gone, { ...disarming, file }));
    await attempt('the channels could not be changed', () => notifying.reconfigure(config.alerts));
    if (gone.length === 0) await this.#recording.record(() => recordDisarming(rooms, disarming));
    for (const watch of duties.watches) watch.tryForbiddenAgain();
    const pacer = createPacer(sliceMs, 'patient');
    for (const account of named(impact.changed))
      await attempt(`account ${account.name} applies the new settings only with its next answers`, () =>
        this.#rerule(account, before, pacer),
      );
    return troubles;
  }

  /** A loop that goes on under other rules judges again those for whom they differ. Its next list shows who is selected now. */
  async #rerule(account: AccountConfig, before: Config, pacer: Pacer): Promise<void> {
    const was = before.accounts.find(({ name }) => name === account.name);
    if (!was) return;
    const watch = this.#parts.duties.watchOf(account.name);
    const reruled: string[] = [];
    for (const mailbox of [...this.#parts.rooms.fleet.mailboxesOf(account.name)]) {
      if (pacer.due()) await pacer.turn();
      if (isReruled(was, account, mailbox)) reruled.push(mailbox.id);
    }
    while (reruled.length > 0) await Promise.all(reruled.splice(0, judgedTogether).map((id) => watch?.judgeAgain(id)));
  }
}

/** Consequences of a new configuration for accounts and mailboxes. */
interface Consequences {
  readonly impact: Impact;
  readonly moves: readonly AccountMove[];
}

function notRenamed(names: readonly string[], moves: readonly AccountMove[]): readonly string[] {
  return names.filter((name) => !moves.some(({ from, to, ids }) => ids === null && (from === name || to === name)));
}

const notReloaded = 'Not reloaded: the previous configuration stays in force.';

const nobodyNotified = 'no channel is left that can notify you';

function nothingNew(file: string): string {
  return `${file} is in force already, so nothing changes.`;
}

function reloadedText(file: string, troubles: readonly string[]): string {
  return troubles.length === 0
    ? `Reloaded: ${file} is in force.`
    : `Reloaded: ${file} is in force, but not all of it yet.`;
}

function changeText({ name, before, after }: SettingChange): string {
  if (before === null) return `${name}: ${after} (new)`;
  if (after === null) return `${name}: ${before} (removed)`;
  return before === after ? `${name}: changed` : `${name}: ${before} -> ${after}`;
}

function accountText(what: string, names: readonly string[]): readonly string[] {
  return names.map((name) => `account ${name} ${what}`);
}

function endedBadly(name: string, failure: string | null): readonly string[] {
  if (failure === null) return [];
  return [
    `account ${name}: its earlier polling loop ended with an error (${failure}). Warmwarden now checks whether the changes that it had sent took effect.`,
  ];
}
