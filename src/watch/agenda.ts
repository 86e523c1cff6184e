// What is to be asked about the mailboxes of an account, and when: what answers, lists and people put into its queue of polls.
import type { Fleet } from '../fleet/fleet.ts';
import type { MailboxState } from '../model/mailbox.ts';
import { minuteMs } from '../model/time.ts';
import { type MailboxRoute, mailboxRoutes } from '../poll/poll.ts';
import type { PollQueue } from '../poll/queue.ts';
import { riskOf } from '../poll/risk.ts';
import type { GuardedAccount } from '../record/guarded-account.ts';
import type { RosterChanges } from '../record/roster.ts';
import { inTurns, type World } from '../world.ts';
import { isUnjudged, readAt } from './first-sweep.ts';
import type { FreshMeasurements } from './fresh-measurements.ts';
import { HeldBreaches, secondLooksDue, wantsSecondLook } from './second-look.ts';

/** What must be seen twice (a breach at first sight, a record that stopped passing) is looked at again after this. */
const secondLookAfterMs = minuteMs;

export interface AgendaParts {
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
