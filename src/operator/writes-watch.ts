// Ends an emergency stop when its time is over, and keeps its alert in line with what is off: at each expiry and every 30 s.
import type { EpochMs } from '../model/time.ts';
import { settleWrites, type WritesRooms } from './writes.ts';

const lookEveryMs = 30_000;

export class WritesWatch {
  readonly #rooms: WritesRooms;
  readonly #isMine: () => boolean;
  readonly #stop = new AbortController();
  #running: Promise<void> = Promise.resolve();

  /** `isMine`: of several replicas one notifies people. */
  constructor(rooms: WritesRooms, isMine: () => boolean) {
    this.#rooms = rooms;
    this.#isMine = isMine;
  }

  start(): void {
    this.#running = this.#run();
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { signal } = this.#stop;
    const { clock, log } = this.#rooms.world;
    while (!signal.aborted) {
      try {
        if (this.#isMine()) await settleWrites(this.#rooms);
      } catch (error) {
        log.error({ err: error }, 'the emergency stop could not be checked');
      }
      await clock.sleep(this.#nextLookMs(), signal);
    }
  }

  /** At the next expiry, and regularly: accounts and mailboxes come and go. */
  #nextLookMs(): EpochMs {
    const now = this.#rooms.world.clock.now();
    const ends = this.#rooms.fleet.writesOff(now).flatMap(({ until }) => (until === null ? [] : [until - now]));
    return Math.max(1, Math.min(lookEveryMs, ...ends));
  }
}
