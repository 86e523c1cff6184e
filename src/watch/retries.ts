// When a poll that failed, or whose answer could not be recorded, is made again: soon at first, then later and later,
// each time after a random wait. What the store did not take is asked again once the store works.
import type { Failure } from '../http/failure.ts';
import type { StoreTrouble } from '../model/store-failure.ts';
import { hourMs, minuteMs, secondMs } from '../model/time.ts';
import { type Poll, pollKey } from '../poll/poll.ts';
import type { PollQueue } from '../poll/queue.ts';
import type { World } from '../world.ts';

/** A failed poll is tried again after a random time below base x 2^failures, capped. */
const retryBaseMs = 5 * secondMs;
const retryCapMs = 5 * minuteMs;
/** What is read a few times a day may fail for good: it costs a request an hour at most, not one in minutes. */
const rareRetryCapMs = hourMs;
const rareRoutes: ReadonlySet<Poll['route']> = new Set(['mailbox', 'dns', 'blacklist']);

/** Once the store works again, what it did not take is asked again within this. */
const afterOutageMs = 10 * secondMs;

export class Retries {
  readonly #queue: PollQueue;
  readonly #world: World;
  readonly #store: { readonly trouble: StoreTrouble };
  /** Failures in a row, by pollKey. */
  readonly #failures = new Map<string, number>();
  /** Their answers came, and the store did not take them; by pollKey. */
  readonly #unrecorded = new Map<string, Poll>();

  constructor(queue: PollQueue, world: World, store: { readonly trouble: StoreTrouble }) {
    this.#store = store;
    this.#queue = queue;
    this.#world = world;
  }

  answered(poll: Poll): void {
    if (this.#failures.size + this.#unrecorded.size === 0) return;
    this.#failures.delete(pollKey(poll));
    this.#unrecorded.delete(pollKey(poll));
    this.#askUnrecorded();
  }

  failed(poll: Poll, { kind, retryAfterMs }: Failure): void {
    if (kind === 'missing' && poll.mailboxId !== null) {
      // Whether the mailbox is gone, the list shows.
      this.#queue.run('mailboxes', this.#world.clock.monotonic());
      return;
    }
    // After a 429 the whole account waits already.
    if (kind !== 'refused') this.#again(poll, kind === 'unavailable' ? (retryAfterMs ?? 0) : 0);
  }

  /** The answer came and could not be recorded: until it is, nothing is decided on it. */
  unrecorded(poll: Poll): void {
    this.#unrecorded.set(pollKey(poll), poll);
    this.#again(poll);
  }

  /** A row that the store refuses for good does not come this way: what failed has not succeeded then. */
  #askUnrecorded(): void {
    const { newest, isOver } = this.#store.trouble;
    if (this.#unrecorded.size === 0 || newest === null || !isOver) return;
    const { clock, random } = this.#world;
    const now = clock.monotonic();
    for (const poll of this.#unrecorded.values()) this.#queue.retry(poll, now + random() * afterOutageMs);
    this.#unrecorded.clear();
  }

  /** `leastMs`: the API wants to be left alone for so long. */
  #again(poll: Poll, leastMs = 0): void {
    const { clock, random } = this.#world;
    const now = clock.monotonic();
    const key = pollKey(poll);
    const failures = (this.#failures.get(key) ?? 0) + 1;
    this.#failures.set(key, failures);
    const longestMs = rareRoutes.has(poll.route) ? rareRetryCapMs : retryCapMs;
    const cap = Math.min(retryBaseMs * 2 ** Math.min(failures, 20), longestMs);
    this.#queue.retry(poll, now + Math.max(leastMs, secondMs) + random() * cap);
  }
}
