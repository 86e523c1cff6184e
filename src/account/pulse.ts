// Liveness of an account's loops. A stuck loop ends the process: see daemon/watchdog.ts.
import { lookEveryMs } from '../world/loop.ts';
import type { Log } from '../world/world.ts';

/** Loops that have to turn: for requests, for due polls, and for changes by time alone. */
const loopNames = ['request', 'schedule', 'time'] as const;
type LoopName = (typeof loopNames)[number];

/**
 * Number of looks after which a loop without a turn is stuck. A waiting loop turns at least every 30 s, whatever it
 * waits for.
 */
const stuckAfterLooks = 60_000 / lookEveryMs;

export class Pulse {
  readonly #account: string;
  readonly #log: Log;
  /**
   * Looks since the last turn of each loop. Looks are counted instead of time because a suspended process does not look
   * either.
   */
  readonly #quiet: Record<LoopName, number> = { request: 0, schedule: 0, time: 0 };
  readonly #turned = new Set<LoopName>();
  readonly #begun = Promise.withResolvers<void>();
  #broken: LoopName | null = null;

  constructor(account: string, log: Log) {
    this.#account = account;
    this.#log = log;
  }

  /** Resolves when every loop has turned at least once. */
  get begun(): Promise<void> {
    return this.#begun.promise;
  }

  /** Part of a sentence about a loop that ended, or null if none did. */
  get failure(): string | null {
    return this.#broken && `its ${this.#broken} loop ended with an error`;
  }

  /** Called by the watchdog. Returns a part of a sentence about an ended or stuck loop, or null if all loops turn. */
  look(): string | null {
    if (this.failure) return this.failure;
    for (const loop of loopNames) this.#quiet[loop] += 1;
    const stuck = loopNames.find((loop) => this.#quiet[loop] > stuckAfterLooks);
    return stuck ? `its ${stuck} loop has been stuck for a minute` : null;
  }

  /** Runs a loop until the signal aborts. Never rejects: an error is logged and marks the loop as broken. */
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
