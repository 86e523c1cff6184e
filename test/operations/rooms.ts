// Operator commands, around a fleet and a store of a test.

import type { AccountWatch } from '../../src/account/account-watch.ts';
import { Turns } from '../../src/account/commit/group-commit.ts';
import type { Fleet } from '../../src/core/fleet/fleet.ts';
import type { CommandOutcome, Operate } from '../../src/core/operator-command.ts';
import { defaultRuleSettings } from '../../src/core/rule-settings.ts';
import { type Audited, auditing, type CommandRooms } from '../../src/operations/audit.ts';
import { type OperationRequest, operating, runCommand } from '../../src/operations/command-requests.ts';
import { createOperatorCommands, resendCommand } from '../../src/operations/commands.ts';
import { failed } from '../../src/operations/plan.ts';
import type { Store } from '../../src/store/store.ts';
import type { World } from '../../src/world/world.ts';

export function roomsOf(fleet: Fleet, store: Store, world: World): CommandRooms {
  const rules = () => defaultRuleSettings;
  return { fleet, store, world, turns: new Turns(world.clock), onTransitions: () => {}, rules };
}

/** The door of a daemon that has these loops, no channels, and nothing to reload. */
export function operateOn(rooms: CommandRooms, watches: readonly AccountWatch[] = []): Operate {
  const undelivered = { channels: () => [], find: async () => [], resend: async () => [] };
  const commands = createOperatorCommands(watches, rooms, { undelivered, reload: async () => failed() });
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
