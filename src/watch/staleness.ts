// Since when the statistics of an account are stale, and whether what an earlier process read was asked for again.
import { type EpochMs, minuteMs } from '../model/time.ts';
import type { Clock } from '../world.ts';
import { type Cadence, staleRuns } from './cadence.ts';

export interface StalenessParts {
  readonly clock: Clock;
  readonly cadence: Cadence;
  /** How many mailboxes the account has. */
  readonly mailboxes: () => number;
  /** Requests a minute that the budget allows. */
  readonly allowedPerMinute: () => number;
}

export class Staleness {
  readonly #parts: StalenessParts;
  readonly #startedAt: number;

  constructor(parts: StalenessParts) {
    this.#parts = parts;
    this.#startedAt = parts.clock.monotonic();
  }

  /** Statistics from before this are stale: three due polls brought nothing, and the budget had time for three rounds. */
  before(): EpochMs {
    const { cadence, clock } = this.#parts;
    return Math.min(cadence.staleFrom, clock.now() - staleRuns * this.#roundMs());
  }

  /** Whether statistics were due since the start, and the budget had time for a round. */
  seenAgain(): boolean {
    const { cadence, clock } = this.#parts;
    return cadence.statsWereDue && clock.monotonic() - this.#startedAt > this.#roundMs();
  }

  /** How long the budget takes for one round of warm-up and stats, at least a minute. */
  #roundMs(): number {
    const { mailboxes, allowedPerMinute } = this.#parts;
    return Math.max(minuteMs, (2 * mailboxes() * minuteMs) / allowedPerMinute());
  }
}
