// Fresh measurements: the API measures DNS and blacklists now, instead of answering from its cache (refresh=true).

import { type Poll, pollKey } from '../api/poll/poll.ts';
import { measuredRoutes } from '../core/answers.ts';
import type { Fleet } from '../core/fleet/fleet.ts';
import { hourMs } from '../core/time.ts';
import { mayDecide } from './second-look.ts';

/** Minimum interval of fresh measurements of one mailbox and kind. Each costs the API lookups. */
const atMostEveryMs = hourMs;

export class FreshMeasurements {
  readonly #account: string;
  readonly #fleet: Fleet;
  /** Measurements that a person wants, by pollKey. */
  readonly #wanted = new Set<string>();
  /** Times of the last fresh measurements on the monotonic clock, by pollKey. */
  readonly #askedAt = new Map<string, number>();

  constructor(account: string, fleet: Fleet) {
    this.#account = account;
    this.#fleet = fleet;
  }

  /**
   * Marks the measurements of a mailbox as wanted by a person. The mark stays until a fresh measurement is requested.
   */
  want(mailboxId: string): void {
    for (const route of measuredRoutes) this.#wanted.add(pollKey({ route, mailboxId }));
  }

  isWanted(poll: Poll): boolean {
    return this.#wanted.has(pollKey(poll));
  }

  /** Returns the earliest time, on the monotonic clock, at which the poll may request a fresh measurement. */
  mayAskFrom(poll: Poll): number {
    return (this.#askedAt.get(pollKey(poll)) ?? Number.NEGATIVE_INFINITY) + atMostEveryMs;
  }

  leave(mailboxId: string): void {
    for (const route of measuredRoutes) {
      this.#wanted.delete(pollKey({ route, mailboxId }));
      this.#askedAt.delete(pollKey({ route, mailboxId }));
    }
  }

  /**
   * Returns true if the next poll should request a fresh measurement, and records the request: a person wants it, or
   * the answer may fire or resolve an alert. `now` is on the monotonic clock.
   */
  take(poll: Poll, now: number): boolean {
    const key = pollKey(poll);
    const mailbox = this.#fleet.mailbox(this.#account, poll.mailboxId ?? '');
    if (!mailbox || now < this.mayAskFrom(poll)) return false;
    const wanted = this.#wanted.delete(key);
    if (!wanted && !mayDecide(mailbox, poll.route, (fingerprint) => this.#fleet.alert(fingerprint))) return false;
    this.#askedAt.set(key, now);
    return true;
  }
}
