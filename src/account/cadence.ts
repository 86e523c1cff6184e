// Cadence of an account: asks the schedules, at each of their steps, which kinds of answers have become due.
import type { Route } from '../core/answers.ts';
import { type EpochMs, minuteMs } from '../core/time.ts';
import { turnEveryMs } from '../core/write-scope.ts';
import type { Schedule } from '../world/schedule.ts';
import { type Clock, nextTurn } from '../world/world.ts';

/** Number of due polls without an answer after which each kind of answer is stale. */
export const staleRuns = { stats: 3, warmup: 3, dns: 4, blacklist: 4 } as const;
type Staling = keyof typeof staleRuns;
const stalingRoutes = Object.keys(staleRuns) as readonly Staling[];

export class Cadence {
  readonly #schedules: Readonly<Record<Route, Schedule>>;
  readonly #clock: Clock;
  /** Due times of the last polls since the start, oldest first. */
  readonly #runs: Record<Staling, readonly EpochMs[]> = { stats: [], warmup: [], dns: [], blacklist: [] };
  /** Last time that the clock showed. */
  #seenAt: EpochMs = Number.NEGATIVE_INFINITY;

  constructor(schedules: Readonly<Record<Route, Schedule>>, clock: Clock) {
    this.#schedules = schedules;
    this.#clock = clock;
  }

  /** True if statistics were due at least once. */
  get statsWereDue(): boolean {
    return this.#runs.stats.length > 0;
  }

  /**
   * Returns the time before which answers are stale, by the number of due polls since, or -Infinity if there were too
   * few.
   */
  staleFrom(route: Staling): EpochMs {
    this.#now();
    return this.#runs[route].at(-staleRuns[route]) ?? Number.NEGATIVE_INFINITY;
  }

  /**
   * Reports the routes that have become due, step by step, until the signal aborts. Each turn of the loop calls
   * `turned`.
   */
  async keep(due: (routes: readonly Route[]) => void, signal: AbortSignal, turned: () => void): Promise<void> {
    const routes = Object.keys(this.#schedules) as Route[];
    const stepMs = Math.min(...Object.values(this.#schedules).map((schedule) => schedule.stepMs));
    let asked = this.#now();
    while (!signal.aborted) {
      turned();
      await this.#clock.sleep(Math.min(stepMs - (this.#clock.now() % stepMs), turnEveryMs), signal);
      const now = this.#now();
      if (Math.floor(now / stepMs) === Math.floor(asked / stepMs)) continue;
      // The same minute begins for all accounts of a daemon.
      await this.#clock.busy(() => nextTurn());
      const ran = routes.filter((route) => this.#schedules[route].dueBetween(asked, now));
      for (const route of stalingRoutes)
        if (ran.includes(route)) this.#runs[route] = [...this.#runs[route], now].slice(-staleRuns[route]);
      due(ran);
      asked = now;
    }
  }

  /**
   * Returns the time. If the clock was set back, polls that were due later than now count as due a minute ago: any
   * answer from now on would otherwise seem older than they are.
   */
  #now(): EpochMs {
    const now = this.#clock.now();
    if (now < this.#seenAt)
      for (const route of stalingRoutes)
        this.#runs[route] = this.#runs[route].map((at) => Math.min(at, now - minuteMs));
    this.#seenAt = now;
    return now;
  }
}
