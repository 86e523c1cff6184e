// Guards what is this replica's to guard, restarts the loops that stop, notifies people, and keeps the store small.
import { GroupCommit } from '../account/commit/group-commit.ts';
import { Turns } from '../account/commit/turns.ts';
import type { RecorderRooms } from '../account/record/guarded-account.ts';
import { secondMs } from '../core/time.ts';
import type { Taking } from '../store/replicas/membership.ts';
import { clockAheadMs, startUpkeep } from '../store/upkeep-loop.ts';
import { type Loop, startLoops, type Teardowns } from '../world/loop.ts';
import { followerOf, scopesOf, type Work } from './following.ts';
import { Foreign } from './foreign.ts';
import { Notifying } from './notifying.ts';
import type { Opened } from './open.ts';
import { Duties, endForgotten } from './reload/duties.ts';
import { Supervisor } from './reload/supervisor.ts';

// Watches the store in a replica, whether or not it sends the messages, and tells the other replicas what is wrong.

const lookEveryMs = 2 * secondMs;
const proveEveryMs = 30 * secondMs;

/** `recovered` is called when the store works again: this replica may guard again. */
function watchingLoops(
  { world, store, fleet, loops }: Opened,
  notifying: Notifying,
  recovered: () => void,
): readonly Loop[] {
  const { membership } = store;
  let elsewhere = false;
  let proveAt = Number.NEGATIVE_INFINITY;
  const look = async () => {
    const failed = fleet.storeFailure !== null;
    membership.report({ storeFailure: notifying.health.look() });
    if (failed && !fleet.storeFailure) recovered();
    const before = elsewhere;
    elsewhere = notifying.failureElsewhere() !== null;
    if (elsewhere !== before) notifying.wakeStoreWatch();
  };
  const prove = async () => {
    const now = world.clock.monotonic();
    // The replica that sends the messages does this anyway. While the store fails, its end has to be seen at once.
    if (!fleet.storeFailure && (notifying.isOn || now < proveAt)) return;
    await store.proveWritable(world.clock.now()).catch(() => {});
    proveAt = now + proveEveryMs;
  };
  // A write may wait for long: the looks do not wait for it.
  return [
    loops.every(lookEveryMs, 'watching the store for the other replicas', look),
    loops.every(lookEveryMs, 'testing whether the store can be written to', prove),
    loops.create('notifying of the store while no replica sends the messages', () => notifying.standIn.step()),
  ];
}

/** Another replica's transition waits no longer than this for the notifier to hear of it. */
const listenEveryMs = secondMs;
/** What was sent is read back before its account is given away (account/act/actor.ts); there is nobody to give it to on SQLite. */
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
