// Polls that are due at a later moment: second looks, and failed polls on their way to the next try.
import TinyQueue from 'tinyqueue';
import { type Poll, pollKey } from './poll.ts';

/**
 * usual: in the place that its kind has. soon: before what the cadence made due, behind a first sweep. urgent: somebody
 * waits for it.
 */
export const urgencies = ['usual', 'soon', 'urgent'] as const;
export type Urgency = (typeof urgencies)[number];

export interface WaitingPoll {
  readonly poll: Poll;
  readonly dueAt: number;
}

export interface LaterPoll extends WaitingPoll {
  readonly urgency: Urgency;
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
