// Guards what is this replica's to guard, restarts the loops that stop, notifies people, and keeps the store small.

import { GroupCommit } from '../commit/group-commit.ts';
import { Turns } from '../commit/turns.ts';
import { startLoops } from '../loop.ts';
import { secondMs } from '../model/time.ts';
import type { RecorderRooms } from '../record/guarded-account.ts';
import { Duties, endForgotten } from '../reload/duties.ts';
import { Supervisor } from '../reload/supervisor.ts';
import type { Taking } from '../replicas/membership.ts';
import type { Teardowns } from '../teardowns.ts';
import { clockAheadMs } from '../upkeep/clock-ahead.ts';
import { startUpkeep } from '../upkeep/upkeep.ts';
import { followerOf, scopesOf, type Work } from './following.ts';
import { Foreign } from './foreign.ts';
import { Notifying } from './notifying.ts';
import type { Opened } from './open.ts';
import { watchingLoops } from './watching.ts';

/** Another replica's transition waits no longer than this for the notifier to hear of it. */
const listenEveryMs = secondMs;
/** What was sent is read back before its account is given away (act/actor.ts); there is nobody to give it to on SQLite. */
export const handoverMs = 130_000;

export interface Guarded {
  readonly rooms: RecorderRooms;
  readonly duties: Duties;
  readonly notifying: Notifying;
  /** See ReloadParts. */
  readonly wantWork: () => Promise<void>;
}

export async function guard(opened: Opened, pageUrl: string, teardowns: Teardowns): Promise<Guarded> {
  const { world, live, store, fleet, metrics } = opened;
  const { membership } = store;
  const notifying = new Notifying(opened, pageUrl);
  teardowns.add('notifier', () => notifying.end());
  const turns = new Turns(world.clock);
  const group = new GroupCommit({ world, store, fleet, turns });
  teardowns.add('calm answers', () => group.stop());
  const rooms = { world, store, fleet, tally: metrics.tally, turns, group, onTransitions: () => notifying.wake() };
  const duties = new Duties(live, rooms, pageUrl);
  teardowns.add('accounts', () => duties.stop());
  const supervisor = new Supervisor({ live, duties, rooms });
  const clock = clockWork(opened, duties);
  teardowns.add('upkeep', () => clock.end());
  const notify = { begin: () => notifying.begin(), end: () => notifying.end(), abandon: () => notifying.end() };
  const account = (name: string) => ({
    begin: (how: Taking) => duties.take(name, how).finally(() => supervisor.ring()),
    end: () => duties.release(name),
    abandon: () => duties.abandon([name]),
  });
  membership.follow(followerOf({ account, abandonAccounts: () => duties.abandon(null), notify, clock }, world.log));
  const wantWork = () => membership.want(scopesOf(live));
  await duties.withdrawUnguarded().catch((error: unknown) => {
    world.log.error({ err: error }, 'the state of the circuit breaker could not be recorded');
  });
  await wantWork();
  teardowns.add('leases', () => membership.stop(), handoverMs);
  if (membership.self !== null) {
    const foreign = new Foreign(opened, rooms, notifying);
    const reading = opened.loops.every(listenEveryMs, 'reading what other replicas recorded', () => foreign.look());
    startLoops([...watchingLoops(opened, notifying, () => supervisor.ring()), reading], teardowns);
  }
  supervisor.start();
  teardowns.add('supervisor', () => supervisor.stop());
  return { rooms, duties, notifying, wantWork };
}

/** What happens at its time, for all accounts: scheduled runs of recipes, and the end of what is kept no longer. */
function clockWork({ world, store, live, fleet, scheduleRecipes }: Opened, duties: Duties): Work {
  let running: readonly { stop(): Promise<void> }[] = [];
  const end = async () => {
    const ending = running;
    running = [];
    await Promise.all(ending.map((one) => one.stop()));
  };
  const begin = async () => {
    if (running.length > 0) return;
    const retention = () => live.config.retention;
    const channels = () => live.config.alerts.channels.map(({ name }) => name);
    const aheadMs = () => clockAheadMs(fleet.accounts());
    running = [startUpkeep({ world, store, retention, channels, aheadMs }), scheduleRecipes()];
    if (store.membership.self === null) return;
    await endForgotten(store, await store.loadPicture([]), { accounts: live.config.accounts, now: world.clock.now() });
    await duties.withdrawUnguarded();
  };
  return { begin, end, abandon: end };
}
