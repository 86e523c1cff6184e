// The first look at a fleet that nobody remembers: while it goes on, what is found is kept together for one message.
import type { Fleet } from '../fleet/fleet.ts';
import type { MailboxState } from '../model/mailbox.ts';
import { type EpochMs, minuteMs } from '../model/time.ts';
import { type MailboxRoute, mailboxRoutes, type Poll, pollKey } from '../poll/poll.ts';
import type { World } from '../world.ts';

/** What must be seen twice, or is being done, is waited for at most this long. */
const secondLooksMs = 2 * minuteMs;

/** A sweep that takes longer says this often how far it is. */
const progressEveryMs = minuteMs;

interface SweepRooms {
  readonly fleet: Fleet;
  readonly world: World;
  /** Called when it is over: what it found can be told. */
  readonly over: () => void;
}

/** Of one account; begun once a process, by its first mailbox list. */
export class FirstSweep {
  readonly #rooms: SweepRooms;
  readonly #account: string;
  readonly #newcomers = new Set<string>();
  /** Polls of theirs that did not come to their end yet, by key. */
  readonly #open = new Set<string>();
  /** How many polls it takes. */
  #polls = 0;
  #lastEndAt = Number.NEGATIVE_INFINITY;
  #lastSaidAt = Number.NEGATIVE_INFINITY;

  constructor(rooms: SweepRooms, account: string) {
    this.#rooms = rooms;
    this.#account = account;
  }

  /** Mailboxes that were never judged are new to everybody. */
  begin(mailboxes: readonly MailboxState[]): void {
    for (const mailbox of mailboxes.filter(({ memory }) => memory === null)) {
      this.#newcomers.add(mailbox.id);
      for (const key of unanswered(mailbox)) this.#open.add(key);
    }
    this.#polls = this.#open.size;
    this.#lastEndAt = this.#rooms.world.clock.monotonic();
    this.#lastSaidAt = this.#lastEndAt;
    this.show();
  }

  /** A poll came to its end, with an answer or a failure. */
  asked(poll: Poll): void {
    if (this.#open.delete(pollKey(poll))) this.#lastEndAt = this.#rooms.world.clock.monotonic();
    if (this.#open.size === 0) this.show();
    else this.#sayProgress();
  }

  #sayProgress(): void {
    if (this.#lastEndAt - this.#lastSaidAt < progressEveryMs) return;
    this.#lastSaidAt = this.#lastEndAt;
    const progress = { mailboxes: this.#newcomers.size, polls: this.#polls, polls_left: this.#open.size };
    this.#rooms.world.log.info({ account: this.#account, ...progress }, 'first sweep goes on');
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
    if (this.#newcomers.size > 0 && this.#isOver()) {
      this.#newcomers.clear();
      this.#rooms.fleet.putSweep(this.#account, false);
      this.#rooms.over();
    } else this.#rooms.fleet.putSweep(this.#account, this.#newcomers.size > 0);
  }

  /** Its account is guarded no more. */
  end(): void {
    this.#newcomers.clear();
    this.show();
  }

  #isOver(): boolean {
    if (this.#open.size > 0) return false;
    return this.#rooms.world.clock.monotonic() - this.#lastEndAt >= secondLooksMs || !this.#isUnsettled();
  }

  /** Something waits for its second look, or is being done. */
  #isUnsettled(): boolean {
    const { fleet } = this.#rooms;
    for (const alert of fleet.alerts()) {
      if (alert.account === this.#account && alert.status === 'pending' && alert.firesAt === null) return true;
    }
    return [...this.#newcomers].some((id) => {
      const { verdict, action } = fleet.mailbox(this.#account, id) ?? {};
      const doing = action?.state === 'planned' || action?.state === 'open';
      return doing || verdict?.answer.reason === 'first_sight';
    });
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

/** No answer of it was ever judged: new to everybody. */
export function isUnjudged({ memory }: MailboxState): boolean {
  return memory === null;
}
