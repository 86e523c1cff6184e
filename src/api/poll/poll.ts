// A request about an account or a mailbox as a value, and the polls that wait for their time.
import TinyQueue from 'tinyqueue';
import type { Route } from '../../core/answers.ts';

/** A poll. The routes health and mailboxes have no mailbox. */
export interface Poll {
  readonly route: Route;
  readonly mailboxId: string | null;
}

/** Returns the identity of a poll: the same route of the same mailbox is one poll. */
export function pollKey(poll: Poll): string {
  return `${poll.route} ${poll.mailboxId ?? ''}`;
}

/** Kinds of answers about one mailbox, in the order of their importance to the guard. */
export const mailboxRoutes = ['stats', 'warmup', 'mailbox', 'dns', 'blacklist'] as const;
export type MailboxRoute = (typeof mailboxRoutes)[number];

/** Time of the last reading of each kind on the monotonic clock. A kind that was never read is absent. */
export type LastRead = Readonly<Partial<Record<MailboxRoute, number>>>;

// Polls that are due later: second looks and retries.

/**
 * usual: in the place of its kind. soon: before due polls of the cadence, after a first sweep. urgent: a person or a
 * breach waits for it.
 */
const urgencies = ['usual', 'soon', 'urgent'] as const;
export type PollUrgency = (typeof urgencies)[number];

export interface WaitingPoll {
  readonly poll: Poll;
  readonly dueAt: number;
}

interface LaterPoll extends WaitingPoll {
  readonly urgency: PollUrgency;
  /** Order of arrival, which decides among equals. */
  readonly number: number;
}

/** Queue that holds each poll once, at its earliest due time. Times are milliseconds of the monotonic clock. */
export class Later {
  readonly #byKey = new Map<string, LaterPoll>();
  /** Polls by due time. Replaced and removed polls stay in it until they come up. */
  readonly #queue = new TinyQueue<LaterPoll>([], (one, other) => one.dueAt - other.dueAt || one.number - other.number);
  #count = 0;

  /** Adds a poll. A known poll keeps its place or moves forward, and never becomes less urgent. */
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

  /** Returns the due time of the next poll, or null if there is none. */
  nextAt(): number | null {
    this.#dropReplaced();
    return this.#queue.peek()?.dueAt ?? null;
  }

  /** Removes and returns the next poll if it is due. */
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

// Early reads of the mailbox list, before its cadence. The list shows the whole fleet in one request, and may be large.
// Pure.

/**
 * Maximum number of unchanged lists in a row that double the time until the next list. The cadence ends the doubling
 * long before.
 */
const maxDoublings = 20;
/** Maximum credit for the bytes of other polls, in lists, so that no burst of lists follows a sweep of the fleet. */
const maxListsOnCredit = 2;

/** Times are milliseconds of the monotonic clock, sizes are bytes on the wire. */
export class EarlyLists {
  #calmInARow = 0;
  /** Size of the last list, or 0 until one was read. */
  #listBytes = 0;
  /** Bytes of other polls, less the bytes of lists, within bounds. */
  #creditBytes = 0;

  /** Counts the bytes of an answer to a poll, or of a list of this account. */
  received(route: string, bytes: number): void {
    const isList = route === 'mailboxes';
    if (isList) this.#listBytes = bytes;
    const most = maxListsOnCredit * this.#listBytes;
    // Lists of the cadence are read in any case. Their excess bytes are not made up for later.
    this.#creditBytes = Math.min(most, Math.max(-most, this.#creditBytes + (isList ? -bytes : bytes)));
  }

  /** Records a list. `stirred`: an entry gave a reason to read a mailbox soon. */
  listed(stirred: boolean): void {
    this.#calmInARow = stirred ? 0 : this.#calmInARow + 1;
  }

  /**
   * Returns the time from which the list may be read early, by the time of its last request, or null if the bytes do
   * not allow it.
   */
  mayAskFrom(
    askedAt: number,
    { leastMs, cadenceMs }: { readonly leastMs: number; readonly cadenceMs: number },
  ): number | null {
    if (this.#creditBytes < this.#listBytes) return null;
    const spacingMs = leastMs * 2 ** Math.min(this.#calmInARow, maxDoublings);
    return askedAt + Math.max(leastMs, Math.min(spacingMs, cadenceMs));
  }
}

// Polls of the account as a whole, its health and its mailbox list: their due times and the spacing between them. Pure.

export const accountRoutes = ['mailboxes', 'health'] as const;
export type AccountRoute = (typeof accountRoutes)[number];

interface AccountPoll {
  dueAt: number | null;
  askedAt: number;
  /** Number of mailbox polls since then. */
  since: number;
}

/**
 * Minimum number of mailbox polls, if any are possible, between two polls of health or of the list. Their spacing in
 * time is wider, unless the API allows far fewer requests than the budget: then they would take every request.
 */
export const betweenAccountPolls = 4;

/** Times are milliseconds of the monotonic clock. */
export class AccountPolls {
  readonly #polls: Readonly<Record<AccountRoute, AccountPoll>> = {
    mailboxes: { dueAt: null, askedAt: Number.NEGATIVE_INFINITY, since: betweenAccountPolls },
    health: { dueAt: null, askedAt: Number.NEGATIVE_INFINITY, since: betweenAccountPolls },
  };

  /** Returns the due time of a poll, or null if it is not due. */
  dueAt(route: AccountRoute): number | null {
    return this.#polls[route].dueAt;
  }

  /** Returns the time of the last poll. */
  askedAt(route: AccountRoute): number {
    return this.#polls[route].askedAt;
  }

  /** Makes a poll due by its schedule, at least `spacingMs` after the last one. */
  run(route: AccountRoute, now: number, spacingMs: number): void {
    const one = this.#polls[route];
    one.dueAt ??= Math.max(now, one.askedAt + spacingMs);
  }

  /** Makes a poll due at that time, regardless of the cadence. */
  add(route: AccountRoute, dueAt: number): void {
    const one = this.#polls[route];
    one.dueAt = Math.min(one.dueAt ?? Number.POSITIVE_INFINITY, dueAt);
  }

  /** True if at least `between` mailbox polls were made since the last poll of the route. */
  isSpaced(route: AccountRoute, between: number): boolean {
    return this.#polls[route].since >= between;
  }

  taken(route: AccountRoute, now: number): void {
    Object.assign(this.#polls[route], { dueAt: null, askedAt: now, since: 0 });
  }

  /** Counts a poll of a mailbox. */
  mailboxPolled(): void {
    for (const route of accountRoutes) this.#polls[route].since += 1;
  }
}
