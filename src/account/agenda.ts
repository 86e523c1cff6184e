// Agenda of an account: the polls that answers, lists and people put into its queue, and their times.

import { judgedRoutes, type MailboxRoute, mailboxRoutes } from '../api/poll/poll.ts';
import type { PollQueue } from '../api/poll/queue.ts';
import { riskOf } from '../api/poll/risk.ts';
import type { MeasuredRoute, StaleMeasurement } from '../core/answers.ts';
import type { Fleet } from '../core/fleet/fleet.ts';
import type { MailboxState } from '../core/mailbox.ts';
import { type EpochMs, hourMs, minuteMs } from '../core/time.ts';
import { type Clock, inTurns, type World } from '../world/world.ts';
import { type Cadence, staleRuns } from './cadence.ts';
import { isUnjudged, readAt } from './first-sweep.ts';
import type { FreshMeasurements } from './fresh-measurements.ts';
import type { GuardedAccount } from './record/guarded-account.ts';
import type { RosterChanges } from './record/roster.ts';
import { HeldBreaches, secondLooksDue, wantsSecondLook } from './second-look.ts';

/** Wait before a second look, for example at a breach at first sight or at a record that stopped passing. */
const secondLookAfterMs = minuteMs;

interface AgendaParts {
  readonly world: World;
  readonly fleet: Fleet;
  readonly queue: PollQueue;
  readonly fresh: FreshMeasurements;
  readonly policyFor: GuardedAccount['policyFor'];
}

export class Agenda {
  readonly #parts: AgendaParts;
  readonly #heldBreaches = new HeldBreaches();

  constructor(parts: AgendaParts) {
    this.#parts = parts;
  }

  /**
   * Queues mailboxes. A mailbox that was never judged is read first. An answer of an earlier process is read again by
   * the cadence, or soon if an alert waits for a second look.
   */
  async join(mailboxes: readonly MailboxState[], signal: AbortSignal): Promise<void> {
    const [first] = mailboxes;
    if (!first) return;
    const again = secondLooksDue(this.#parts.fleet.alertsOf(first.account));
    const [unjudged, judged] = [mailboxes.filter(isUnjudged), mailboxes.filter((one) => !isUnjudged(one))];
    await inTurns([...unjudged, ...judged], (piece) => this.#join(piece, again), { signal });
  }

  #join(mailboxes: readonly MailboxState[], again: ReturnType<typeof secondLooksDue>): void {
    const { queue, world } = this.#parts;
    const now = world.clock.monotonic();
    const aheadMs = now - world.clock.now();
    for (const mailbox of mailboxes) {
      const lastRead = mailboxRoutes.flatMap((route) => {
        const at = readAt(mailbox, route);
        return at === null ? [] : [[route, at + aheadMs] as const];
      });
      queue.join(mailbox.id, Object.fromEntries(lastRead), now);
      for (const route of again(mailbox)) this.#lookAgain(mailbox, route, now);
      this.#weigh(mailbox);
    }
  }

  leave(mailboxes: readonly MailboxState[]): void {
    for (const { id } of mailboxes) this.#parts.queue.leave(id);
  }

  /** Queues polls that changed entries of the list ask for. */
  stir(stirred: RosterChanges['stirred']): void {
    const { queue, world } = this.#parts;
    const now = world.clock.monotonic();
    for (const { id, routes } of stirred) for (const route of routes) queue.add({ route, mailboxId: id }, now, 'soon');
  }

  /** Updates the queue after an answer about a mailbox: its risk may have changed, or it needs a second look. */
  answered(mailbox: MailboxState, route: MailboxRoute): void {
    const { fleet, fresh, queue, world } = this.#parts;
    const { id: mailboxId } = mailbox;
    this.#weigh(mailbox);
    const now = world.clock.monotonic();
    const poll = { route, mailboxId };
    if (fresh.isWanted(poll)) queue.add(poll, fresh.mayAskFrom(poll));
    if (this.#heldBreaches.isFirst(mailbox)) queue.add({ route: 'stats', mailboxId }, now + secondLookAfterMs);
    if (wantsSecondLook(mailbox, route, (fingerprint) => fleet.alert(fingerprint)))
      this.#lookAgain(mailbox, route, now);
  }

  /**
   * Queues a second look. It waits until a fresh measurement is allowed, as an earlier look would show the same one.
   */
  #lookAgain({ id: mailboxId }: MailboxState, route: MailboxRoute, now: number): void {
    const { fresh, queue } = this.#parts;
    const poll = { route, mailboxId };
    queue.add(poll, Math.max(now + secondLookAfterMs, fresh.mayAskFrom(poll)), 'soon');
  }

  /** Queues polls of a mailbox as soon as the budget allows. */
  ask(mailboxId: string, routes: readonly MailboxRoute[]): void {
    const now = this.#parts.world.clock.monotonic();
    for (const route of routes) this.#parts.queue.add({ route, mailboxId }, now);
  }

  #weigh(mailbox: MailboxState): void {
    const { policyFor, queue, world } = this.#parts;
    const risk = riskOf(mailbox, policyFor(mailbox).minBounces, world.clock.now());
    if (risk) queue.weigh(mailbox.id, risk);
  }
}

// Staleness of an account's data: from when answers are stale, and whether those of an earlier process were requested
// again.

interface StalenessParts {
  readonly clock: Clock;
  readonly cadence: Cadence;
  /** Number of mailboxes of the account. */
  readonly mailboxes: () => number;
  /** Maximum number of requests a minute. */
  readonly pacePerMinute: () => number;
  /** Longest gap between two scheduled runs of a kind, milliseconds. */
  readonly gapMs: (route: MeasuredRoute) => number;
}

/**
 * Minimum age of a stale measurement. A fresh one is requested at most once an hour, so a younger one may only be
 * waiting.
 */
const leastStaleMs = 2 * hourMs;

export class Staleness {
  readonly #parts: StalenessParts;
  readonly #startedAt: number;

  constructor(parts: StalenessParts) {
    this.#parts = parts;
    this.#startedAt = parts.clock.monotonic();
  }

  /**
   * Returns the time before which answers of the route are stale: since then three polls were due in vain, and the
   * budget had time for three rounds.
   */
  before(route: 'stats' | 'warmup'): EpochMs {
    const { cadence, clock } = this.#parts;
    return Math.min(cadence.staleFrom(route), clock.now() - staleRuns[route] * this.#roundMs(judgedRoutes.length));
  }

  /**
   * Returns the age at which measurements of DNS or blacklists are stale, and the time since when no poll was answered.
   */
  measurement(route: MeasuredRoute): StaleMeasurement {
    const { cadence, clock, gapMs } = this.#parts;
    const runs = staleRuns[route];
    const unreadSince = Math.min(cadence.staleFrom(route), clock.now() - runs * this.#roundMs(mailboxRoutes.length));
    return { olderThanMs: Math.max(runs * gapMs(route), leastStaleMs), unreadSince };
  }

  /** Returns true if statistics were due since the start, and the budget had time for a round. */
  seenAgain(): boolean {
    const { cadence, clock } = this.#parts;
    return cadence.statsWereDue && clock.monotonic() - this.#startedAt > this.#roundMs(judgedRoutes.length);
  }

  /** Returns the time that one round of this many kinds of answers takes, at least a minute. */
  #roundMs(kinds: number): number {
    const { mailboxes, pacePerMinute } = this.#parts;
    return Math.max(minuteMs, (kinds * mailboxes() * minuteMs) / pacePerMinute());
  }
}
