// Since when what is known of an account's mailboxes is stale, and whether what an earlier process read was asked for again.
import type { MeasuredRoute, StaleMeasurement } from '../model/measurement.ts';
import { type EpochMs, hourMs, minuteMs } from '../model/time.ts';
import { mailboxRoutes } from '../poll/poll.ts';
import { judgedRoutes } from '../poll/sweep.ts';
import type { Clock } from '../world.ts';
import { type Cadence, staleRuns } from './cadence.ts';

export interface StalenessParts {
  readonly clock: Clock;
  readonly cadence: Cadence;
  /** How many mailboxes the account has. */
  readonly mailboxes: () => number;
  /** Requests a minute that are made at most. */
  readonly pacePerMinute: () => number;
  /** How far apart the runs of a kind are at most, milliseconds. */
  readonly gapMs: (route: MeasuredRoute) => number;
}

/** A fresh measurement is asked for at most once an hour: what is younger than two may only wait for that. */
const leastStaleMs = 2 * hourMs;

export class Staleness {
  readonly #parts: StalenessParts;
  readonly #startedAt: number;

  constructor(parts: StalenessParts) {
    this.#parts = parts;
    this.#startedAt = parts.clock.monotonic();
  }

  /** What was read of a route before this is stale: three due polls brought nothing, and the budget had time for three rounds. */
  before(route: 'stats' | 'warmup'): EpochMs {
    const { cadence, clock } = this.#parts;
    return Math.min(cadence.staleFrom(route), clock.now() - staleRuns[route] * this.#roundMs(judgedRoutes.length));
  }

  /** When DNS and blacklists count as measured too long ago, and since when no poll brought an answer. */
  measurement(route: MeasuredRoute): StaleMeasurement {
    const { cadence, clock, gapMs } = this.#parts;
    const runs = staleRuns[route];
    const unreadSince = Math.min(cadence.staleFrom(route), clock.now() - runs * this.#roundMs(mailboxRoutes.length));
    return { olderThanMs: Math.max(runs * gapMs(route), leastStaleMs), unreadSince };
  }

  /** Whether statistics were due since the start, and the budget had time for a round. */
  seenAgain(): boolean {
    const { cadence, clock } = this.#parts;
    return cadence.statsWereDue && clock.monotonic() - this.#startedAt > this.#roundMs(judgedRoutes.length);
  }

  /** How long the budget takes for one round of so many kinds of answers, at least a minute. */
  #roundMs(kinds: number): number {
    const { mailboxes, pacePerMinute } = this.#parts;
    return Math.max(minuteMs, (kinds * mailboxes() * minuteMs) / pacePerMinute());
  }
}
