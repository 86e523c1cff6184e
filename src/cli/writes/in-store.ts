// `warmwarden writes off|on` without a daemon: the switch is written into the store, where the next daemon finds it.
import { Turns } from '../../account/commit/turns.ts';
import { loadConfig } from '../../config/load.ts';
import type { CommandOutcome, WritesRequest } from '../../core/operator-command.ts';
import { defaultRuleSettings } from '../../core/rule-settings.ts';
import { nameOf, pathOf, type StorePlace } from '../../core/store-failure.ts';
import { fleetOf } from '../../daemon/reload/shown.ts';
import { auditing } from '../../operations/audit.ts';
import { failed } from '../../operations/plan.ts';
import { socketPathOf } from '../../operations/socket.ts';
import { writesCommand } from '../../operations/writes.ts';
import { HeldStoreError } from '../../store/failure.ts';
import { absenceOf } from '../../store/file/place.ts';
import { Store } from '../../store/store.ts';
import { systemClock, worldOn } from '../../world/world.ts';
import { findPlaces } from '../sources/loading.ts';

const later =
  'No daemon is running on this store: the switch is in force from the next start, which notifies the channels.';

/** Rejects with a sentence when the store can't be written. A running daemon keeps it to itself. */
export async function switchInStore(file: string, request: WritesRequest): Promise<CommandOutcome> {
  const { store: place, accountNames } = findPlaces(file);
  const absence = typeof place === 'string' ? absenceOf(place) : null;
  if (absence !== null) return failed(absence);
  const world = worldOn(systemClock(), { level: 'silent', format: 'json' });
  const store = await openAlone(place, world.clock.now());
  if ('result' in store) return store;
  try {
    const picture = await store.loadPicture();
    const fleet = fleetOf(
      picture,
      accountNames.map((name) => ({ name, baseUrl: name })),
    );
    const rooms = {
      ...{ fleet, store, world, turns: new Turns(world.clock), onTransitions: () => {}, pageUrl: null },
      rules: () => rulesOf(file),
      knows: (name: string) => accountNames.includes(name),
      judgeAgain: async () => {},
    };
    const outcome = await writesCommand(rooms, auditing(rooms))(request);
    const { result, messages } = outcome;
    // The next start will not find again what this one did.
    const found = typeof place === 'string' ? store.warnings : [];
    return { ...outcome, messages: [...found, ...messages, ...(result === 'done' ? [later] : [])] };
  } finally {
    await store.close();
  }
}

/** The store, or why it can't be had. */
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

/** As configured; what the file says wrong about other things must not keep the stop from being announced. */
function rulesOf(file: string) {
  const loaded = loadConfig(file, process.env);
  return loaded.ok ? loaded.config.alerts.rules : defaultRuleSettings;
}
