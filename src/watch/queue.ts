// The polls of one account that are due, in the order in which the budget serves them. DESIGN.md section 6.
import type { Route } from '../model/answers.ts';
import { minuteMs } from '../model/time.ts';

/** One request to make. health and mailboxes have no mailbox. */
export interface Poll {
  readonly route: Route;
  readonly mailboxId: string | null;
}

interface Entry {
  readonly poll: Poll;
  readonly dueAt: number;
  /** Due time plus patience: the order of serving. */
  readonly rank: number;
  /** Serves as order of arrival among equals. */
  readonly number: number;
  stale: boolean;
}

/**
 * How much later than its due time a poll may be served when everything competes. Adding it to the due time makes an
 * order with ageing: a DNS poll that has waited ten minutes goes before a stats poll that is due now.
 */
export const patienceMs: Readonly<Record<Route, number>> = {
  health: 0,
  mailboxes: 0,
  stats: minuteMs,
  warmup: 3 * minuteMs,
  mailbox: 10 * minuteMs,
  dns: 10 * minuteMs,
  blacklist: 10 * minuteMs,
};

/** Times are milliseconds of the monotonic clock. */
export class PollQueue {
  /** By due time: what is not due yet. */
  readonly #waiting = new Heap((a, b) => a.dueAt - b.dueAt || a.number - b.number);
  /** By due time plus patience: what is due. */
  readonly #ready = new Heap((a, b) => a.rank - b.rank || a.number - b.number);
  readonly #entries = new Map<string, Entry>();
  #count = 0;

  /** Puts a poll in, with its route's patience or another one, milliseconds. One that is already queued keeps its place, or moves forward when it is due earlier now. */
  add(poll: Poll, dueAt: number, patience: number = patienceMs[poll.route]): void {
    const key = pollKey(poll);
    const known = this.#entries.get(key);
    if (known && known.dueAt <= dueAt) return;
    if (known) known.stale = true;
    this.#count += 1;
    const entry = { poll, dueAt, rank: dueAt + patience, number: this.#count, stale: false };
    this.#entries.set(key, entry);
    this.#waiting.push(entry);
  }

  /** The poll to make now; undefined when none is due. With `accept`, the first that it accepts. */
  take(now: number, accept: (poll: Poll) => boolean = () => true): Poll | undefined {
    this.#ripen(now);
    const refused: Entry[] = [];
    let taken: Entry | undefined;
    for (let entry = this.#ready.pop(); entry; entry = this.#ready.pop()) {
      if (entry.stale) continue;
      if (accept(entry.poll)) {
        taken = entry;
        break;
      }
      refused.push(entry);
    }
    for (const entry of refused) this.#ready.push(entry);
    if (taken) this.#entries.delete(pollKey(taken.poll));
    return taken?.poll;
  }

  /** When a poll is due next, in the past when one is due now; null when the queue is empty. */
  nextDueAt(now: number): number | null {
    this.#ripen(now);
    const next = this.#ready.peek() ?? this.#waiting.peek();
    return next?.dueAt ?? null;
  }

  /** Takes out all polls of a mailbox. */
  remove(mailboxId: string): void {
    for (const [key, entry] of this.#entries) {
      if (entry.poll.mailboxId !== mailboxId) continue;
      entry.stale = true;
      this.#entries.delete(key);
    }
  }

  /** Polls that are due, and since when the oldest is. */
  backlog(now: number): { readonly length: number; readonly oldestDueAt: number | null } {
    let length = 0;
    let oldestDueAt: number | null = null;
    for (const { dueAt } of this.#entries.values()) {
      if (dueAt > now) continue;
      length += 1;
      if (oldestDueAt === null || dueAt < oldestDueAt) oldestDueAt = dueAt;
    }
    return { length, oldestDueAt };
  }

  #ripen(now: number): void {
    for (let next = this.#waiting.peek(); next && (next.stale || next.dueAt <= now); next = this.#waiting.peek()) {
      this.#waiting.pop();
      if (!next.stale) this.#ready.push(next);
    }
    for (let next = this.#ready.peek(); next?.stale; next = this.#ready.peek()) this.#ready.pop();
  }
}

/** What tells two polls apart: the same question about the same mailbox is one. */
export function pollKey(poll: Poll): string {
  return `${poll.route} ${poll.mailboxId ?? ''}`;
}

/** A binary heap: the smallest on top. */
class Heap {
  readonly #compare: (a: Entry, b: Entry) => number;
  readonly #items: Entry[] = [];

  constructor(compare: (a: Entry, b: Entry) => number) {
    this.#compare = compare;
  }

  peek(): Entry | undefined {
    return this.#items[0];
  }

  push(entry: Entry): void {
    const items = this.#items;
    let at = items.push(entry) - 1;
    while (at > 0) {
      const above = (at - 1) >> 1;
      if (this.#isBefore(above, at)) break;
      this.#swap(above, at);
      at = above;
    }
  }

  pop(): Entry | undefined {
    const items = this.#items;
    const top = items[0];
    const last = items.pop();
    if (top === undefined || last === undefined || items.length === 0) return top;
    items[0] = last;
    for (let at = 0; ; ) {
      const left = 2 * at + 1;
      if (left >= items.length) return top;
      const right = left + 1;
      const child = right < items.length && this.#isBefore(right, left) ? right : left;
      if (this.#isBefore(at, child)) return top;
      this.#swap(at, child);
      at = child;
    }
  }

  #isBefore(a: number, b: number): boolean {
    const [one, other] = [this.#items[a], this.#items[b]];
    return one !== undefined && other !== undefined && this.#compare(one, other) <= 0;
  }

  #swap(a: number, b: number): void {
    const [one, other] = [this.#items[a], this.#items[b]];
    if (one === undefined || other === undefined) return;
    this.#items[a] = other;
    this.#items[b] = one;
  }
}
