// What operator commands work with, around a fleet and a store of a test.

import { Turns } from '../../src/commit/turns.ts';
import type { Fleet } from '../../src/fleet/fleet.ts';
import { defaultRuleSettings } from '../../src/model/rule-settings.ts';
import type { Audited } from '../../src/operator/audit.ts';
import type { ReplicaRooms } from '../../src/operator/command-rooms.ts';
import type { Store } from '../../src/store/store.ts';
import type { World } from '../../src/world.ts';
import type { Duty } from '../watch/duty.ts';

export function roomsOf(fleet: Fleet, store: Store, world: World): ReplicaRooms {
  const rules = () => defaultRuleSettings;
  const guards = () => true;
  return { fleet, store, world, turns: new Turns(world.clock), onTransitions: () => {}, rules, guards, pageUrl: null };
}

export function commandRooms(duty: Duty, world: World): ReplicaRooms {
  return roomsOf(duty.fleet(), duty.store(), world);
}

/** Where there is no store, nothing is written down. */
export const unaudited: Audited = (_requester, _what, work) => work();
