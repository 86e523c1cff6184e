// What operator commands work with, around a fleet and a store of a test.

import { Turns } from '../../src/account/commit/turns.ts';
import type { Fleet } from '../../src/core/fleet/fleet.ts';
import { defaultRuleSettings } from '../../src/core/rule-settings.ts';
import type { Audited, CommandRooms } from '../../src/operations/audit.ts';
import type { Store } from '../../src/store/store.ts';
import type { World } from '../../src/world/world.ts';
import type { Duty } from '../account/duty.ts';

export function roomsOf(fleet: Fleet, store: Store, world: World): CommandRooms {
  const rules = () => defaultRuleSettings;
  return { fleet, store, world, turns: new Turns(world.clock), onTransitions: () => {}, rules, pageUrl: null };
}

export function commandRooms(duty: Duty, world: World): CommandRooms {
  return roomsOf(duty.fleet(), duty.store(), world);
}

/** Where there is no store, nothing is written down. */
export const unaudited: Audited = (_requester, _what, work) => work();
