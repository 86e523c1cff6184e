// Whether the loops of an account turn: how often each has so far, and whether one has broken.
import type { Log } from '../world/world.ts';

/** What has to turn: requests start, what becomes due is noticed, and what time changes is noticed. */
export const loopNames = ['request', 'schedule', 'time'] as const;
export type LoopName = (typeof loopNames)[number];

export class Pulse {
  readonly #account: string;
  readonly #log: Log;
  readonly #turns: Record<LoopName, number> = { request: 0, schedule: 0, time: 0 };
  readonly #begun = Promise.withResolvers<void>();
  #broken: LoopName | null = null;

  constructor(account: string, log: Log) {
    this.#account = account;
    this.#log = log;
  }

  /** How often a loop has turned. */
  turnsOf(loop: LoopName): number {
    return this.#turns[loop];
  }

  /** Resolves when every loop has turned. */
  get begun(): Promise<void> {
    return this.#begun.promise;
  }

  /** The loop that broke first: it turns no more. */
  get broken(): LoopName | null {
    return this.#broken;
  }

  /**
   * Runs a loop that is to turn until the signal aborts. Never rejects: a loop that ends before, by an error or by
   * itself, is broken, and its error is in the log.
   */
  async keep(loop: LoopName, signal: AbortSignal, run: (turned: () => void) => Promise<void>): Promise<void> {
    try {
      await run(() => {
        this.#turns[loop] += 1;
        if (this.#turns[loop] === 1 && loopNames.every((one) => this.#turns[one] > 0)) this.#begun.resolve();
      });
      if (!signal.aborted) throw new Error('it ended unexpectedly');
    } catch (error) {
      this.#broken ??= loop;
      this.#log.error({ account: this.#account, loop, err: error }, 'a loop of an account failed');
    }
  }
}
