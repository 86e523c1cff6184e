// `warmwarden writes off|on`: the write stop. Without a daemon it is written into the store, where the next daemon
// finds it.
import { Argument, Command } from 'commander';
import { Turns } from '../account/commit/group-commit.ts';
import { loadConfig } from '../config/load.ts';
import { defaultRuleSettings } from '../core/alert-rules.ts';
import { type CommandOutcome, failed } from '../core/operator-command.ts';
import { nameOf, pathOf, type StorePlace } from '../core/store-failure.ts';
import { secondMs } from '../core/time.ts';
import type { WritesOff } from '../core/write-scope.ts';
import { fleetOf } from '../daemon/picture.ts';
import { auditing } from '../operations/audit.ts';
import { type OperationRequest, runCommand } from '../operations/command-requests.ts';
import { socketPathOf } from '../operations/socket.ts';
import { writesCommand as switchWrites } from '../operations/writes.ts';
import { HeldStoreError } from '../store/failure.ts';
import { absenceOf } from '../store/file/place.ts';
import { Store } from '../store/store.ts';
import { systemClock, worldOn } from '../world/world.ts';
import { findPlaces } from './configuration.ts';
import { askDaemon, daemonListens, isHttp } from './daemon.ts';
import { CommandError } from './errors.ts';
import { type ChangeOptions, change, withChangeOptions } from './operations.ts';
import { duration } from './options.ts';

interface WritesOptions extends ChangeOptions {
  readonly account?: string;
  readonly mailbox?: string;
  readonly for?: number;
}

export function writesCommand(): Command {
  return withChangeOptions(new Command('writes'))
    .description('switch changes to mailboxes off, your commands too, or on again; survives restarts')
    .addArgument(new Argument('<switch>', 'off needs --reason').choices(['off', 'on']))
    .option('--account <name>', 'only this account')
    .option('--mailbox <name>', 'only this mailbox')
    .option('--for <duration>', 'allow changes again after this time, for example 24h', duration)
    .action((position: string, options: WritesOptions, command: Command) => {
      const { account = null, mailbox = null, for: forMs = null } = options;
      const off = position === 'off';
      if (off && options.reason.trim() === '')
        command.error('error: writes off needs --reason TEXT: others will want to know why');
      if (!off && forMs !== null) command.error('error: --for is for writes off only');
      const wanted = { off, account, mailbox, for_seconds: forMs === null ? null : forMs / secondMs };
      // A write stop waits neither for a half-written file nor for a daemon.
      return change({ ...options, mayBeUsual: off }, async (daemon, carried) => {
        const request = { ...carried, ...wanted };
        const listens = isHttp(daemon) || (await daemonListens(daemon));
        return listens ? askDaemon(daemon, 'writes', request) : switchInStore(options.config, request);
      });
    });
}

const later =
  'No daemon is running on this store: the switch is in force from the next start, which notifies the channels.';

/** Switches writes in the store. Rejects with a sentence if the store can't be written. */
export async function switchInStore(file: string, request: OperationRequest<'writes'>): Promise<CommandOutcome> {
  const { store: place, accountNames } = findPlaces(file);
  const absence = typeof place === 'string' ? absenceOf(place) : null;
  if (absence !== null) return failed(absence);
  const world = worldOn(systemClock(), { level: 'silent', format: 'json' });
  const store = await openAlone(place, world.clock.now());
  if ('result' in store) return store;
  try {
    const accounts = accountNames.map((name) => ({ name, baseUrl: name }));
    const fleet = fleetOf(await store.loadPicture(), accounts);
    // Other mistakes in the file must not prevent the announcement of the stop.
    const loaded = loadConfig(file, process.env);
    const rules = loaded.ok ? loaded.config.alerts.rules : defaultRuleSettings;
    const rooms = {
      ...{ fleet, store, world, turns: new Turns(world.clock), onTransitions: () => {} },
      rules: () => rules,
      knows: (name: string) => accountNames.includes(name),
      judgeAgain: async () => {},
    };
    const outcome = await runCommand('writes', switchWrites(rooms), request, auditing(rooms));
    // The next start will not report again what this one repaired.
    const found = typeof place === 'string' ? store.warnings : [];
    return { ...outcome, messages: [...found, ...outcome.messages, ...(outcome.result === 'done' ? [later] : [])] };
  } finally {
    await store.close();
  }
}

/** Write stops in a store without a daemon. Throws a CommandError if another process holds the store. */
export async function storedStops(place: StorePlace, now: number): Promise<readonly WritesOff[]> {
  if (typeof place === 'string' && absenceOf(place) !== null) return [];
  const store = await openAlone(place, now);
  if ('result' in store) throw new CommandError('failed', store.messages.join(' '));
  try {
    return await store.writesOff();
  } finally {
    await store.close();
  }
}

/** Opens the store, or returns an outcome if another process holds it. */
async function openAlone(place: StorePlace, now: number): Promise<Store | CommandOutcome> {
  try {
    return await Store.open(place, now);
  } catch (error) {
    if (!(error instanceof HeldStoreError)) throw error;
    const where = `${error.holder} holds the store ${nameOf(place)}, but does not answer at ${socketPathOf(pathOf(place))}.`;
    const instead = typeof place === 'string' ? 'stop that process and run this again' : 'run this where it runs';
    return failed(`Nothing was changed. ${where} Use --url with a token if it serves HTTP, or ${instead}.`);
  }
}
