// Ends the process if a loop has stopped: every step is proven against kill -9, so a restart repairs any cause.
import { atOnce, tune } from '../alerts/condition.ts';
import { type Crash, crashed, crashFingerprint } from '../alerts/rules/daemon-rules.ts';
import { errorText } from '../core/nearest.ts';
import { hourMs, minuteMs } from '../core/time.ts';
import { recordConditions } from '../outbox/outbox-store.ts';
import { systemClock } from '../world/world.ts';
import type { DaemonRooms } from './open.ts';
import type { Duties } from './reload/duties.ts';

const steadyAfterMs = 5 * minuteMs;

/** Age of a process at which it ends for an account that stopped again after a crash, so that the others are guarded. */
const againAfterMs = hourMs;

const lastMomentMs = 1_000;

type Rooms = Pick<DaemonRooms, 'world' | 'live' | 'fleet' | 'store'>;
type Watched = Pick<DaemonRooms, 'loops'> & Rooms;

export class Watchdog {
  readonly #opened: Watched;
  readonly #duties: Duties;
  readonly #crash: (why: string) => void;
  readonly #startedAt: number;

  constructor(opened: Watched, duties: Duties, crash: (why: string) => void) {
    this.#opened = opened;
    this.#duties = duties;
    this.#crash = crash;
    this.#startedAt = opened.world.clock.monotonic();
  }

  /** Ends the process if a loop is still stopped after a last moment, or if it cannot look. */
  async watch(): Promise<void> {
    try {
      if (this.#look() === null) return;
      // Steps in progress get a last moment of real time, in which a moved clock does not move.
      await this.#opened.world.clock.busy(() => systemClock().sleep(lastMomentMs));
      const why = this.#look();
      if (why !== null) this.#crash(why);
    } catch (error) {
      this.#crash(`the loops cannot be watched: ${errorText(error)}`);
    }
  }

  /**
   * Returns null if none stopped. A loop that waits for a failing store does not count, but one that ended on a damaged
   * store does, and a store that lost writes: only a restart ends that failure.
   */
  #look(): string | null {
    const { fleet, loops } = this.#opened;
    const { storeFailure } = fleet;
    if (storeFailure?.endsProcess) return storeFailure.said;
    if (storeFailure && !storeFailure.lasting) return null;
    const stopped = this.#duties.watches.flatMap(({ account, pulse }) => {
      const ailment = storeFailure ? pulse.failure : pulse.look();
      return ailment ? [{ account, why: `account ${account}: ${ailment}` }] : [];
    });
    if (stopped[0] && this.#mayEndFor(stopped.length)) return stopped[0].why;
    this.#duties.showStopped(stopped.map(({ account }) => account));
    if (storeFailure) return null;
    const task = loops.look();
    return task && `${task} has failed for minutes`;
  }

  /** A restart right after a crash is not worth its minute for some accounts: the others would be unguarded. */
  #mayEndFor(accounts: number): boolean {
    const { fleet, world } = this.#opened;
    const isOld = world.clock.monotonic() - this.#startedAt >= againAfterMs;
    return isOld || accounts === this.#duties.watches.length || fleet.alert(crashFingerprint) === undefined;
  }
}

/** The next process sends the message. Rejects if the store can't be written. */
export function recordCrash(rooms: Rooms, crash: Crash | null): Promise<void> {
  const { fleet, live, store, world } = rooms;
  const { rules } = live.config.alerts;
  // The alert starts at once, whatever `for` says: no process looks at it while it waits.
  const conditions = tune([crashed(crash, rules.timeZone)], rules).map((one) => ({ ...one, ...atOnce }));
  return recordConditions({ fleet, store, recorded: () => {} }, conditions, world.clock.now());
}

/** Ends the alert about a crash when this process, which started at `startedAt`, is steady. */
export async function getOverCrash(rooms: Rooms, startedAt: number): Promise<void> {
  const { fleet, world } = rooms;
  const isSteady =
    world.clock.monotonic() - startedAt >= steadyAfterMs &&
    fleet.guarding().every(({ startingSince }) => startingSince === null);
  if (isSteady && fleet.alert(crashFingerprint)) await recordCrash(rooms, null);
}
