// What was started, in order, and how it ends: last in, first out, each within a bounded time.
import type { Log } from './world.ts';
import { systemClock } from './world.ts';

/** A part that does not end within this is left behind, with a line in the log. Real time: sockets are slow in it. */
const stopDeadlineMs = 12_000;

export class Teardowns {
  readonly #log: Log;
  readonly #parts: (() => Promise<void>)[] = [];

  constructor(log: Log) {
    this.#log = log;
  }

  /** `deadlineMs`: of real time; only for a part that has good reason to take longer than the others. */
  add(name: string, stop: () => Promise<void>, deadlineMs = stopDeadlineMs): void {
    this.#parts.push(() => this.#end(name, stop, deadlineMs));
  }

  /** Starts what ends as one. When its start fails, what it had started by then has ended when this rejects. */
  async scope<Value>(start: (teardowns: Teardowns) => Promise<Value>): Promise<Value> {
    const own = new Teardowns(this.#log);
    try {
      const value = await start(own);
      this.#parts.push(() => own.takeDown());
      return value;
    } catch (error) {
      await own.takeDown();
      throw error;
    }
  }

  /** Ends all that was added and not ended yet. Never rejects. */
  async takeDown(): Promise<void> {
    for (let end = this.#parts.pop(); end; end = this.#parts.pop()) await end();
  }

  async #end(part: string, stop: () => Promise<void>, deadlineMs: number): Promise<void> {
    const waiting = new AbortController();
    const late = systemClock()
      .sleep(deadlineMs, waiting.signal)
      .then(() => 'late');
    const ended = stop().then(
      () => 'ended',
      (error: unknown) => `failed: ${error instanceof Error ? error.message : String(error)}`,
    );
    const outcome = await Promise.race([ended, late]);
    waiting.abort();
    if (outcome !== 'ended') this.#log.warn({ part, outcome }, 'a part did not stop in time');
  }
}
