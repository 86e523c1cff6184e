// Operator commands, around a fleet and a store of a test.

import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { Turns } from '../../src/account/commit/group-commit.ts';
import { defaultRuleSettings } from '../../src/core/alert-rules.ts';
import { Fleet } from '../../src/core/fleet/fleet.ts';
import { type CommandOutcome, failed, type Operate } from '../../src/core/operator-command.ts';
import { type Audited, auditing, type CommandRooms } from '../../src/operations/audit.ts';
import { type OperationRequest, operating, runCommand } from '../../src/operations/command-requests.ts';
import { createOperatorCommands, resendCommand } from '../../src/operations/commands.ts';
import { Store } from '../../src/store/store.ts';
import type { World } from '../../src/world/world.ts';
import { movedClock } from '../../tools/simulator/moved-clock.ts';
import { now } from '../store/records.ts';
import { newFolder } from '../support/new-folder.ts';
import { silentWorld } from '../support/silent-world.ts';

/** A store in a folder of its own, an empty fleet and a moved clock, until the test is over. */
export async function openRooms() {
  const clock = movedClock(now);
  const fleet = new Fleet();
  const path = join(newFolder(), 'w.db');
  const store = await Store.open(path, now, { clock });
  const opened = { clock, fleet, path, store, rooms: roomsOf(fleet, store, silentWorld(clock)) };
  onTestFinished(() => opened.store.close());
  return opened;
}

export function roomsOf(fleet: Fleet, store: Store, world: World): CommandRooms {
  const rules = () => defaultRuleSettings;
  return { fleet, store, world, turns: new Turns(world.clock), onTransitions: () => {}, rules };
}

/** The door of a daemon that has no loops, no channels, and nothing to reload. */
export function operateOn(rooms: CommandRooms): Operate {
  const undelivered = { channels: () => [], find: async () => [], resend: async () => [] };
  const commands = createOperatorCommands(() => undefined, rooms, { undelivered, reload: async () => failed() });
  return operating(commands, auditing(rooms));
}

/** `channels resend` where there is no store, so nothing is written down. */
export function resend(
  undelivered: Parameters<typeof resendCommand>[0],
  request: Partial<OperationRequest<'channels-resend'>>,
): Promise<CommandOutcome> {
  const usual = { by: 'jo', reason: '', dry_run: false, plan: null, channel: null, delivery: null };
  const unaudited: Audited = (_requester, _what, work) => work();
  return runCommand('channels-resend', resendCommand(undelivered), { ...usual, ...request }, unaudited);
}
