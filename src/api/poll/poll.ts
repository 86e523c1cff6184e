// A request about an account or a mailbox as a value.
import type { Route } from '../../core/answers.ts';

/** The routes health and mailboxes have no mailbox. */
export interface Poll {
  readonly route: Route;
  readonly mailboxId: string | null;
}

export function pollKey(poll: Poll): string {
  return `${poll.route} ${poll.mailboxId ?? ''}`;
}

/** Routes of a mailbox, sorted by their importance to the guard. */
export const mailboxRoutes = ['stats', 'warmup', 'mailbox', 'dns', 'blacklist'] as const;
export type MailboxRoute = (typeof mailboxRoutes)[number];

/** Kinds by which the guard judges, in the order of their requests. */
export const judgedRoutes = ['warmup', 'stats'] as const satisfies readonly MailboxRoute[];

export function isJudgedRoute(route: Route): route is (typeof judgedRoutes)[number] {
  return (judgedRoutes as readonly Route[]).includes(route);
}

/** Times on the monotonic clock. A kind that was never read is absent. */
export type LastRead = Readonly<Partial<Record<MailboxRoute, number>>>;
