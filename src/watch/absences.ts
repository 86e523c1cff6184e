// Mailboxes that have no warm-up: the API answers 404 for both the warm-up and the statistics of a mailbox that it lists.
import type { EpochMs } from '../model/time.ts';
import type { MailboxRoute } from '../poll/poll.ts';
import { judgedRoutes } from '../poll/sweep.ts';
import type { AskedAt } from '../record/answer-order.ts';

/** A 404: when its request was begun, and when it came. */
export interface Absence {
  readonly askedAt: AskedAt;
  readonly at: EpochMs;
}

export type JudgedRoute = (typeof judgedRoutes)[number];

export class Absences {
  /** The newest 404 of each route that was not answered since, by mailbox. */
  readonly #of = new Map<string, Map<MailboxRoute, Absence>>();
  /** Mailboxes with both, of which a newer one came than was taken. */
  readonly #waiting = new Set<string>();

  /** Both were answered with 404. */
  hasBoth(mailboxId: string): boolean {
    return this.#of.get(mailboxId)?.size === judgedRoutes.length;
  }

  missed(mailboxId: string, route: MailboxRoute, absence: Absence): void {
    if (!isJudged(route)) return;
    const routes = this.#of.get(mailboxId) ?? new Map<MailboxRoute, Absence>();
    this.#of.set(mailboxId, routes.set(route, absence));
    if (this.hasBoth(mailboxId)) this.#waiting.add(mailboxId);
  }

  answered(mailboxId: string, route: MailboxRoute): void {
    if (this.#of.size === 0 || !this.#of.get(mailboxId)?.delete(route)) return;
    this.#waiting.delete(mailboxId);
    if (this.#of.get(mailboxId)?.size === 0) this.#of.delete(mailboxId);
  }

  leave(mailboxId: string): void {
    this.#of.delete(mailboxId);
    this.#waiting.delete(mailboxId);
  }

  /** The mailboxes with both, since this was asked last. */
  take(): readonly { readonly mailboxId: string; readonly routes: ReadonlyMap<MailboxRoute, Absence> }[] {
    const taken = [...this.#waiting].map((mailboxId) => ({ mailboxId, routes: this.#of.get(mailboxId) ?? new Map() }));
    this.#waiting.clear();
    return taken;
  }
}

function isJudged(route: MailboxRoute): route is JudgedRoute {
  return (judgedRoutes as readonly MailboxRoute[]).includes(route);
}
