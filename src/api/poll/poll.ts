// One request to make about an account or a mailbox, as a value.
import type { Route } from '../../core/answers.ts';

/** health and mailboxes have no mailbox. */
export interface Poll {
  readonly route: Route;
  readonly mailboxId: string | null;
}

/** What tells two polls apart: the same question about the same mailbox is one. */
export function pollKey(poll: Poll): string {
  return `${poll.route} ${poll.mailboxId ?? ''}`;
}

/** The kinds of answer that every mailbox has of its own, in the order in which they matter to the guard. */
export const mailboxRoutes = ['stats', 'warmup', 'mailbox', 'dns', 'blacklist'] as const;
export type MailboxRoute = (typeof mailboxRoutes)[number];

/** When each kind was read last, on the monotonic clock; a kind that is absent never was. */
export type LastRead = Readonly<Partial<Record<MailboxRoute, number>>>;
