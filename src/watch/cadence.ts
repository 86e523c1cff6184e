// The cadence of an account: asks the schedules at every step of theirs which kinds of answers have become due.
import type { Route } from '../model/answers.ts';
import { turnEveryMs } from '../model/guarding.ts';
import type { EpochMs } from '../model/time.ts';
import type { Schedule } from '../schedule.ts';
import type { Clock } from '../world.ts';

/** Statistics are stale when this many polls of theirs were due in vain. */
export const staleRuns = 3;

export class Cadence {
  readonly #schedules: Readonly<Record<Route, Schedule>>;
  readonly #clock: Clock;
  /** When stats polls were due since the start, the last few, oldest first. */
  #statsRuns: readonly EpochMs[] = [];

  constructor(schedules: Readonly<Record<Route, Schedule>>, clock: Clock) {
    this.#schedules = schedules;
    this.#clock = clock;
  }

  /** Whether statistics were due at least once. */
  get statsWereDue(): boolean {
    return this.#statsRuns.length > 0;
  }

  /** When statistics were due for the third last time; -Infinity before that. */
  get staleFrom(): EpochMs {
    return this.#statsRuns.at(-staleRuns) ?? Number.NEGATIVE_INFINITY;
  }

  /** Names what has become due, step by step, until the signal aborts. Each turn of the loop calls `turned`. */
  async keep(due: (routes: readonly Route[]) => void, signal: AbortSignal, turned: () => void): Promise<void> {
    const routes = Object.keys(this.#schedules) as Route[];
    const stepMs = Math.min(...Object.values(this.#schedules).map((schedule) => schedule.stepMs));
    let asked = this.#clock.now();
    while (!signal.aborted) {
      turned();
      await this.#clock.sleep(Math.min(stepMs - (this.#clock.now() % stepMs), turnEveryMs), signal);
      const now = this.#clock.now();
      if (Math.floor(now / stepMs) === Math.floor(asked / stepMs)) continue;
      const ran = routes.filter((route) => this.#schedules[route].dueBetween(asked, now));
      if (ran.includes('stats')) this.#statsRuns = [...this.#statsRuns, now].slice(-staleRuns);
      due(ran);
      asked = now;
    }
  }
}
