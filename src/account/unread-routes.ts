// Judged routes that no mailbox was answered for, and whether the account can be judged at all.

import type { Failure } from '../api/http/failure.ts';
import { isJudgedRoute } from '../api/poll/poll.ts';
import type { Route } from '../core/answers.ts';
import type { Fleet } from '../core/fleet/fleet.ts';
import type { ReadFailure } from '../core/mailbox.ts';
import { elapsedMs, minuteMs } from '../core/time.ts';
import type { Clock } from '../world/world.ts';

/** Time without an answer of a judged route for any mailbox after which the account counts as unjudged. */
const blindAfterMs = 30 * minuteMs;

export interface UnreadRoutesParts {
  readonly account: string;
  readonly fleet: Fleet;
  readonly clock: Clock;
}

interface UnreadRoute extends ReadFailure {
  /** Addresses of the mailboxes whose requests failed. */
  readonly mailboxes: Set<string>;
  readonly isRefusal: boolean;
  /** True if the newest answer was a 429. The route is then polled rarely, and the answer concerns no mailbox. */
  readonly isThrottled: boolean;
  readonly times: number;
}

export class UnreadRoutes {
  readonly #parts: UnreadRoutesParts;
  readonly #of = new Map<Route, UnreadRoute>();
  readonly #read = new Set<Route>();

  constructor(parts: UnreadRoutesParts) {
    this.#parts = parts;
  }

  /** Records an answer. Returns true if the route was unread before. */
  answered(route: Route): boolean {
    this.#read.add(route);
    return this.#of.delete(route);
  }

  failed({ kind, detail }: Failure, route: Route, mailbox: string | null): void {
    if (!isJudgedRoute(route)) return;
    const before = this.#of.get(route);
    const { since = this.#parts.clock.now(), times = 0, mailboxes = new Set<string>() } = before ?? {};
    if (mailbox !== null) mailboxes.add(mailbox);
    const isThrottled = kind === 'throttled';
    const isRefusal = kind !== 'unavailable' && !isThrottled;
    this.#of.set(route, { since, detail, mailboxes, isRefusal, isThrottled, times: times + 1 });
  }

  /** Removes a mailbox without a warm-up, which says nothing about the others. */
  withoutWarmup(mailbox: string): void {
    for (const [route, { mailboxes }] of this.#of)
      if (mailboxes.delete(mailbox) && mailboxes.size === 0) this.#of.delete(route);
  }

  /**
   * A refusal of a route that never answered counts at once, any other failure after half an hour. If the route
   * answered before, every mailbox must have failed, or the failure is a 429.
   */
  failure(): ReadFailure | null {
    const now = this.#parts.clock.now();
    for (const [route, failure] of this.#of) {
      const lasts = failure.times > 1 && elapsedMs(failure.since, now) >= blindAfterMs;
      if (!this.#read.has(route) && (failure.isRefusal || lasts)) return failure;
      if (lasts && (failure.isThrottled || this.#isForAll(failure))) return failure;
    }
    return null;
  }

  /** With polls hours apart, one mailbox may fail for long before another is polled. */
  #isForAll({ mailboxes }: UnreadRoute): boolean {
    for (const { email, verdict } of this.#parts.fleet.mailboxesOf(this.#parts.account))
      if (!mailboxes.has(email) && verdict?.answer.reason !== 'no_warmup') return false;
    return true;
  }
}
