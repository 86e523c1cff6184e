// Whether the loops of an account turn. One that has stopped ends the process: see daemon/watchdog.ts.
import { lookEveryMs } from '../world/loop.ts';
import type { Log } from '../world/world.ts';

/** What has to turn: requests start, what becomes due is noticed, and what time changes is noticed. */
const loopNames = ['request', 'schedule', 'time'] as const;
type LoopName = (typeof loopNames)[number];

/** A loop that has not turned for so long is stuck: one that waits, for whatever reason, turns at least each 30 s. */
const stuckAfterLooks = 60_000 / lookEveryMs;

export class Pulse {
  readonly #account: string;
  readonly #log: Log;
  /** Looks since each loop turned last. Looks, and not time: a process that stands still does not look either. */
  readonly #quiet: Record<LoopName, number> = { request: 0, schedule: 0, time: 0 };
  readonly #turned = new Set<LoopName>();
  readonly #begun = Promise.withResolvers<void>();
  #broken: LoopName | null = null;

  constructor(account: string, log: Log) {
    this.#account = account;
    this.#log = log;
  }

  /** Resolves when every loop has turned. */
  get begun(): Promise<void> {
    return this.#begun.promise;
  }

  /** The watchdog's look: a part of a sentence about a loop that has stopped, or null if all turn. */
  look(): string | null {
    if (this.#broken) return `its ${this.#broken} loop ended with an error`;
    for (const loop of loopNames) this.#quiet[loop] += 1;
    const stuck = loopNames.find((loop) => this.#quiet[loop] > stuckAfterLooks);
    return stuck ? `its ${stuck} loop has been stuck for a minute` : null;
  }

  /** Runs a loop that is to turn until the signal aborts. Never rejects: an error is logged, and the loop is broken. */
  async keep(loop: LoopName, signal: AbortSignal, run: (turned: () => void) => Promise<void>): Promise<void> {
    try {
      await run(() => {
        this.#quiet[loop] = 0;
        this.#turned.add(loop);
        if (this.#turned.size === loopNames.length) this.#begun.resolve();
      });
      if (!signal.aborted) throw new Error('it ended unexpectedly');
    } catch (error) {
      this.#broken ??= loop;
      this.#log.error({ account: this.#account, loop, err: error }, 'a loop of an account failed');
    }
  }
}
