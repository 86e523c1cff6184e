// What was started, in order, and how it ends: last in, first out, each within a bounded time.
import type { Log } from './world.ts';
import { systemClock } from './world.ts';

/** A part that does not end within this is left behind, with a line in the log. Real time: sockets are slow in it. */
const stopDeadlineMs = 12_000;

export class Teardowns {
  readonly #log: Log;
  readonly #parts: { readonly name: string; readonly stop: () => Promise<void> }[] = [];

  constructor(log: Log) {
    this.#log = log;
  }

  add(name: string, stop: () => Promise<void>): void {
    this.#parts.push({ name, stop });
  }

  /** Ends all that was added and not ended yet. Never rejects. */
  async takeDown(): Promise<void> {
    for (let part = this.#parts.pop(); part; part = this.#parts.pop()) {
      const waiting = new AbortController();
      const late = systemClock()
        .sleep(stopDeadlineMs, waiting.signal)
        .then(() => 'late');
      const ended = part.stop().then(
        () => 'ended',
        (error: unknown) => `failed: ${error instanceof Error ? error.message : String(error)}`,
      );
      const outcome = await Promise.race([ended, late]);
      waiting.abort();
      if (outcome !== 'ended') this.#log.warn({ part: part.name, outcome }, 'a part did not stop as it should');
    }
  }
}
