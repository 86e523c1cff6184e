// One request to make about an account or a mailbox, as a value, and what waits for its time.
import TinyQueue from 'tinyqueue';
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

// Polls that are due at a later moment: second looks, and failed polls on their way to the next try.

/**
 * usual: in the place that its kind has. soon: before what the cadence made due, behind a first sweep. urgent: somebody
 * waits for it.
 */
const urgencies = ['usual', 'soon', 'urgent'] as const;
export type PollUrgency = (typeof urgencies)[number];

export interface WaitingPoll {
  readonly poll: Poll;
  readonly dueAt: number;
}

interface LaterPoll extends WaitingPoll {
  readonly urgency: PollUrgency;
  /** Order of arrival: the order among equals. */
  readonly number: number;
}

/** A poll is in here once, at its earliest due time. Times are milliseconds of the monotonic clock. */
export class Later {
  readonly #byKey = new Map<string, LaterPoll>();
  /** By due time; what was replaced or taken out stays in it until it comes up. */
  readonly #queue = new TinyQueue<LaterPoll>([], (one, other) => one.dueAt - other.dueAt || one.number - other.number);
  #count = 0;

  /** Puts a poll in. One that is in already keeps its place, or moves forward, and never gets less urgent. */
  add(poll: Poll, dueAt: number, urgency: PollUrgency): void {
    const key = pollKey(poll);
    const known = this.#byKey.get(key);
    const urgenter = known === undefined || urgencies.indexOf(urgency) > urgencies.indexOf(known.urgency);
    if (known && known.dueAt <= dueAt && !urgenter) return;
    const one = {
      poll,
      dueAt: Math.min(dueAt, known?.dueAt ?? dueAt),
      urgency: urgenter ? urgency : known.urgency,
      number: this.#count,
    };
    this.#count += 1;
    this.#byKey.set(key, one);
    this.#queue.push(one);
  }

  delete(poll: Poll): void {
    this.#byKey.delete(pollKey(poll));
  }

  /** When the next one is due; null when there is none. */
  nextAt(): number | null {
    this.#dropReplaced();
    return this.#queue.peek()?.dueAt ?? null;
  }

  /** Takes the next one out when it is due. */
  take(now: number): LaterPoll | undefined {
    this.#dropReplaced();
    const first = this.#queue.peek();
    if (!first || first.dueAt > now) return undefined;
    this.#byKey.delete(pollKey(first.poll));
    this.#queue.pop();
    return first;
  }

  #dropReplaced(): void {
    for (let first = this.#queue.peek(); first && this.#byKey.get(pollKey(first.poll)) !== first; ) {
      this.#queue.pop();
      first = this.#queue.peek();
    }
  }
}

// When the mailbox list may be read before its cadence: it shows the whole fleet in one request, and may be large. Pure.

/** Lists in a row that stirred nothing and still double the time until the next; the cadence ends it long before. */
const maxDoublings = 20;
/** What other polls brought is credit for at most so many lists: a sweep of the fleet is not followed by a burst of them. */
const maxListsOnCredit = 2;

/** Times are milliseconds of the monotonic clock, sizes bytes on the wire. */
export class EarlyLists {
  #calmInARow = 0;
  /** Of the last list; 0 until one was read. */
  #listBytes = 0;
  /** What other polls brought more than lists, since long enough. */
  #creditBytes = 0;

  /** An answer to a poll, or to a list of this account. */
  received(route: string, bytes: number): void {
    const isList = route === 'mailboxes';
    if (isList) this.#listBytes = bytes;
    const most = maxListsOnCredit * this.#listBytes;
    // Lists of the cadence are read in any case: what they take beyond the rest is not made up for later.
    this.#creditBytes = Math.min(most, Math.max(-most, this.#creditBytes + (isList ? -bytes : bytes)));
  }

  /** A list was taken in. `stirred`: an entry gave a reason to read a mailbox soon. */
  listed(stirred: boolean): void {
    this.#calmInARow = stirred ? 0 : this.#calmInARow + 1;
  }

  /** From when on the list may be read early, given when it was asked for last; null: not by these bytes. */
  mayAskFrom(
    askedAt: number,
    { leastMs, cadenceMs }: { readonly leastMs: number; readonly cadenceMs: number },
  ): number | null {
    if (this.#creditBytes < this.#listBytes) return null;
    const spacingMs = leastMs * 2 ** Math.min(this.#calmInARow, maxDoublings);
    return askedAt + Math.max(leastMs, Math.min(spacingMs, cadenceMs));
  }
}

// The polls of an account as a whole, its health and its mailbox list: when each is due, and what has to come between two. Pure.

export const accountRoutes = ['mailboxes', 'health'] as const;
export type AccountRoute = (typeof accountRoutes)[number];

interface AccountPoll {
  dueAt: number | null;
  askedAt: number;
  /** Polls of mailboxes since then. */
  since: number;
}

/**
 * So many polls of mailboxes, if any can be made, come between two of health or of the list. Their spacing in time is wider,
 * unless the API allows far fewer requests than the budget: then they would take every request.
 */
export const betweenAccountPolls = 4;

/** Times are milliseconds of the monotonic clock. */
export class AccountPolls {
  readonly #polls: Readonly<Record<AccountRoute, AccountPoll>> = {
    mailboxes: { dueAt: null, askedAt: Number.NEGATIVE_INFINITY, since: betweenAccountPolls },
    health: { dueAt: null, askedAt: Number.NEGATIVE_INFINITY, since: betweenAccountPolls },
  };

  /** null: it is not. */
  dueAt(route: AccountRoute): number | null {
    return this.#polls[route].dueAt;
  }

  /** When it was made last. */
  askedAt(route: AccountRoute): number {
    return this.#polls[route].askedAt;
  }

  /** A run of the kind makes it due, though not sooner after the last one than this. */
  run(route: AccountRoute, now: number, spacingMs: number): void {
    const one = this.#polls[route];
    one.dueAt ??= Math.max(now, one.askedAt + spacingMs);
  }

  /** It is made at that time, whatever the cadence says. */
  add(route: AccountRoute, dueAt: number): void {
    const one = this.#polls[route];
    one.dueAt = Math.min(one.dueAt ?? Number.POSITIVE_INFINITY, dueAt);
  }

  /** Whether so many polls of mailboxes were made since the last one of the kind. */
  isSpaced(route: AccountRoute, between: number): boolean {
    return this.#polls[route].since >= between;
  }

  taken(route: AccountRoute, now: number): void {
    Object.assign(this.#polls[route], { dueAt: null, askedAt: now, since: 0 });
  }

  /** A poll of a mailbox was made. */
  mailboxPolled(): void {
    for (const route of accountRoutes) this.#polls[route].since += 1;
  }
}
