// Guards the accounts, restarts the loops that stop, notifies people, and keeps the store small.
import { GroupCommit } from '../account/commit/group-commit.ts';
import { Turns } from '../account/commit/turns.ts';
import type { RecorderRooms } from '../account/record/guarded-account.ts';
import { clockAheadMs, startUpkeep } from '../store/upkeep-loop.ts';
import type { Teardowns } from '../world/loop.ts';
import { Notifying } from './notifying.ts';
import type { Opened } from './open.ts';
import { Duties } from './reload/duties.ts';
import { Supervisor } from './reload/supervisor.ts';

export interface Guarded {
  readonly rooms: RecorderRooms;
  readonly duties: Duties;
  readonly notifying: Notifying;
}

export async function guard(opened: Opened, pageUrl: string, teardowns: Teardowns): Promise<Guarded> {
  const { world, live, store, fleet, metrics, scheduleRecipes } = opened;
  const notifying = new Notifying(opened, pageUrl);
  teardowns.add('notifier', () => notifying.end());
  const turns = new Turns(world.clock);
  const group = new GroupCommit({ world, store, fleet, turns });
  teardowns.add('calm answers', () => group.stop());
  const rooms = { world, store, fleet, tally: metrics.tally, turns, group, onTransitions: () => notifying.wake() };
  const duties = new Duties(live, rooms, pageUrl);
  teardowns.add('accounts', () => duties.stop());
  const supervisor = new Supervisor({ live, duties, rooms });
  await duties.withdrawUnguarded().catch((error: unknown) => {
    world.log.error({ err: error }, 'the state of the circuit breaker could not be recorded');
  });
  notifying.begin();
  await duties.begin(live.config.accounts);
  const retention = () => live.config.retention;
  const channels = () => live.config.alerts.channels.map(({ name }) => name);
  const aheadMs = () => clockAheadMs(fleet.accounts());
  const upkeep = startUpkeep({ world, store, retention, channels, aheadMs });
  teardowns.add('upkeep', () => upkeep.stop());
  const schedules = scheduleRecipes();
  teardowns.add('scheduled recipes', () => schedules.stop());
  supervisor.start();
  teardowns.add('supervisor', () => supervisor.stop());
  return { rooms, duties, notifying };
}
