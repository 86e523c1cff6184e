// When the API is asked to measure DNS and blacklists now instead of answering from its cache (refresh=true).

import { type Poll, pollKey } from '../api/poll/poll.ts';
import { measuredRoutes } from '../core/answers.ts';
import type { Fleet } from '../core/fleet/fleet.ts';
import { hourMs } from '../core/time.ts';
import { mayDecide } from './second-look.ts';

/** Of one mailbox and kind at most one fresh measurement in this time: it costs the API lookups. */
const atMostEveryMs = hourMs;

export class FreshMeasurements {
  readonly #account: string;
  readonly #fleet: Fleet;
  /** By pollKey: a person wants it. */
  readonly #wanted = new Set<string>();
  /** By pollKey: when it was asked for, on the monotonic clock. */
  readonly #askedAt = new Map<string, number>();

  constructor(account: string, fleet: Fleet) {
    this.#account = account;
    this.#fleet = fleet;
  }

  /** A person asked for all data of the mailbox again: so it stays until the API was asked for a fresh measurement. */
  want(mailboxId: string): void {
    for (const route of measuredRoutes) this.#wanted.add(pollKey({ route, mailboxId }));
  }

  isWanted(poll: Poll): boolean {
    return this.#wanted.has(pollKey(poll));
  }

  /** When the poll may ask for a fresh measurement at the earliest, on the monotonic clock. */
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
   * Whether the poll that is about to be made asks for a fresh measurement: a person wants it, or its answer may fire or
   * resolve an alert. It then counts as asked for. `now`: of the monotonic clock.
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
