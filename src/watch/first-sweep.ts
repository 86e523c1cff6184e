// The first look at a fleet that nobody remembers: while it goes on, what is found is kept together for one message.
import type { Fleet } from '../fleet/fleet.ts';
import type { MailboxState } from '../model/mailbox.ts';
import { type EpochMs, minuteMs } from '../model/time.ts';
import type { Clock } from '../world.ts';
import { type MailboxRoute, mailboxRoutes, type Poll, pollKey } from './poll.ts';

/** What must be seen twice is looked at again within this. */
const secondLooksMs = 2 * minuteMs;

/** Of one account; begun once a process, by its first mailbox list. */
export class FirstSweep {
  readonly #rooms: { readonly fleet: Fleet; readonly clock: Clock };
  readonly #account: string;
  readonly #newcomers = new Set<string>();
  /** Polls of theirs that did not come to their end yet, by key. */
  readonly #open = new Set<string>();
  #lastEndAt = Number.NEGATIVE_INFINITY;

  constructor(rooms: { readonly fleet: Fleet; readonly clock: Clock }, account: string) {
    this.#rooms = rooms;
    this.#account = account;
  }

  /** Mailboxes that were never judged are new to everybody. */
  begin(mailboxes: readonly MailboxState[]): void {
    for (const mailbox of mailboxes.filter(({ memory }) => memory === null)) {
      this.#newcomers.add(mailbox.id);
      for (const key of unanswered(mailbox)) this.#open.add(key);
    }
    this.#lastEndAt = this.#rooms.clock.monotonic();
    this.show();
  }

  /** A poll came to its end, with an answer or a failure. */
  asked(poll: Poll): void {
    if (this.#open.delete(pollKey(poll))) this.#lastEndAt = this.#rooms.clock.monotonic();
  }

  /** A mailbox left: nothing more is asked about it. */
  leave(mailbox: MailboxState): void {
    this.#newcomers.delete(mailbox.id);
    for (const route of mailboxRoutes) this.#open.delete(pollKey({ route, mailboxId: mailbox.id }));
  }

  /** Whether it goes on, and looks at the mailbox. */
  includes(mailboxId: string): boolean {
    return this.#newcomers.has(mailboxId) && !this.#isOver();
  }

  /** Puts into the picture whether it goes on. */
  show(): void {
    this.#rooms.fleet.putSweep(this.#account, this.#newcomers.size > 0 && !this.#isOver());
  }

  /** Its account is guarded no more. */
  end(): void {
    this.#newcomers.clear();
    this.show();
  }

  #isOver(): boolean {
    return this.#open.size === 0 && this.#rooms.clock.monotonic() - this.#lastEndAt >= secondLooksMs;
  }
}

/** What a first sweep asks about a mailbox, by key: the judged kinds, and what was never answered. */
function unanswered(mailbox: MailboxState): readonly string[] {
  const judged = (route: MailboxRoute) => route === 'warmup' || route === 'stats';
  const asked = mailboxRoutes.filter((route) => judged(route) || readAt(mailbox, route) === null);
  return asked.map((route) => pollKey({ route, mailboxId: mailbox.id }));
}

/** When that kind of answer was read last; null when it never was. */
export function readAt(mailbox: MailboxState, route: MailboxRoute): EpochMs | null {
  return (route === 'mailbox' ? mailbox.detail : mailbox[route])?.at ?? null;
}
