// A sleep that a wake ends, also a wake that came before the sleep began.
import type { Clock } from '../world.ts';

export class Nap {
  readonly #clock: Clock;
  #woken = false;
  #sleeping: AbortController | null = null;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Ends the sleep under way, or the next one. */
  wake(): void {
    this.#woken = true;
    this.#sleeping?.abort();
  }

  /** Sleeps for `ms`, or until woken. */
  async sleep(ms: number): Promise<void> {
    if (!this.#woken) {
      this.#sleeping = new AbortController();
      await this.#clock.sleep(ms, this.#sleeping.signal);
      this.#sleeping = null;
    }
    this.#woken = false;
  }
}
