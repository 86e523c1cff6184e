// Polls that are due at a later moment: second looks, and failed polls on their way to the next try.
import { type Poll, pollKey } from './poll.ts';

/**
 * usual: in the place that its kind has. soon: before what the cadence made due, behind a first sweep. urgent: somebody
 * waits for it.
 */
export const urgencies = ['usual', 'soon', 'urgent'] as const;
export type Urgency = (typeof urgencies)[number];

export interface LaterPoll {
  readonly poll: Poll;
  readonly dueAt: number;
  readonly urgency: Urgency;
  /** Order of arrival: the order among equals. */
  readonly number: number;
}

/** A poll is in here once, at its earliest due time. Times are milliseconds of the monotonic clock. */
export class Later {
  readonly #byKey = new Map<string, LaterPoll>();
  /** A binary heap by due time; what was replaced or taken out stays in it until it comes up. */
  readonly #heap: LaterPoll[] = [];
  #count = 0;

  /** Puts a poll in. One that is in already keeps its place, or moves forward, and never gets less urgent. */
  add(poll: Poll, dueAt: number, urgency: Urgency): void {
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
    this.#push(one);
  }

  delete(poll: Poll): void {
    this.#byKey.delete(pollKey(poll));
  }

  /** When the next one is due; null when there is none. */
  nextAt(): number | null {
    this.#dropReplaced();
    return this.#heap[0]?.dueAt ?? null;
  }

  /** Takes the next one out when it is due. */
  take(now: number): LaterPoll | undefined {
    this.#dropReplaced();
    const [first] = this.#heap;
    if (!first || first.dueAt > now) return undefined;
    this.#byKey.delete(pollKey(first.poll));
    this.#pop();
    return first;
  }

  #dropReplaced(): void {
    for (let [first] = this.#heap; first && this.#byKey.get(pollKey(first.poll)) !== first; [first] = this.#heap)
      this.#pop();
  }

  #push(one: LaterPoll): void {
    let at = this.#heap.push(one) - 1;
    while (at > 0) {
      const above = (at - 1) >> 1;
      if (!this.#isBefore(at, above)) return;
      this.#swap(at, above);
      at = above;
    }
  }

  #pop(): void {
    const last = this.#heap.pop();
    if (last === undefined || this.#heap.length === 0) return;
    this.#heap[0] = last;
    for (let at = 0; ; ) {
      const left = 2 * at + 1;
      const child = this.#isBefore(left + 1, left) ? left + 1 : left;
      if (!this.#isBefore(child, at)) return;
      this.#swap(at, child);
      at = child;
    }
  }

  #isBefore(a: number, b: number): boolean {
    const [one, other] = [this.#heap[a], this.#heap[b]];
    if (!one || !other) return one !== undefined;
    return one.dueAt < other.dueAt || (one.dueAt === other.dueAt && one.number < other.number);
  }

  #swap(a: number, b: number): void {
    const [one, other] = [this.#heap[a], this.#heap[b]];
    if (!one || !other) return;
    this.#heap[a] = other;
    this.#heap[b] = one;
  }
}
