// What is to be asked about the mailboxes of an account, and when: what answers, lists and people put into its queue of polls.

import { type MailboxRoute, mailboxRoutes } from '../api/poll/poll.ts';
import type { PollQueue } from '../api/poll/queue.ts';
import { riskOf } from '../api/poll/risk.ts';
import { judgedRoutes } from '../api/poll/sweep.ts';
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

/** What must be seen twice (a breach at first sight, a record that stopped passing) is looked at again after this. */
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
   * Mailboxes never judged are read first; what an earlier process read is due when the cadence says so, or soon when an
   * alert waits for a second look that the earlier process did not come to.
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

  /** An entry of the list gives a reason to ask soon. */
  stir(stirred: RosterChanges['stirred']): void {
    const { queue, world } = this.#parts;
    queue.listed(stirred.length > 0);
    const now = world.clock.monotonic();
    for (const { id, routes } of stirred) for (const route of routes) queue.add({ route, mailboxId: id }, now, 'soon');
  }

  /** An answer about a mailbox was taken in: its risk may be another one, or it has to be seen twice. */
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

  /** Before a fresh measurement may be asked for, another look would show the one that is known. */
  #lookAgain({ id: mailboxId }: MailboxState, route: MailboxRoute, now: number): void {
    const { fresh, queue } = this.#parts;
    const poll = { route, mailboxId };
    queue.add(poll, Math.max(now + secondLookAfterMs, fresh.mayAskFrom(poll)), 'soon');
  }

  /** As soon as the budget allows. */
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

// Since when what is known of an account's mailboxes is stale, and whether what an earlier process read was asked for again.

interface StalenessParts {
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
