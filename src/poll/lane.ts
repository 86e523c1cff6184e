// The one lane through which all requests of an account start: evenly spaced, actions before polls, several in flight.
import type { Budget } from '../mailbox-api/budget.ts';
import { type Bell, type Clock, createBell } from '../world.ts';
import type { Poll } from './poll.ts';
import type { PollQueue } from './queue.ts';

/** Polls that may be under way at a time; a slow answer must not stop the others. */
const maxPollsInFlight = 8;
/** An idle lane looks again at least this often. */
const idleMs = 60_000;

export interface LaneOptions {
  readonly clock: Clock;
  readonly budget: Budget;
  readonly queue: PollQueue;
  /** Makes a poll; never rejects. */
  readonly poll: (poll: Poll) => Promise<void>;
  /** What may be polled at present. account: health and the list. Actions go on in any case. */
  readonly mayAsk: () => 'everything' | 'account' | 'nothing';
}

export class Lane {
  readonly #options: LaneOptions;
  readonly #bell: Bell;
  readonly #waitingPosts: (() => void)[] = [];
  readonly #waitingLooks: (() => void)[] = [];
  readonly #inFlight = new Set<Promise<void>>();

  constructor(options: LaneOptions) {
    this.#options = options;
    this.#bell = createBell(options.clock);
  }

  /** Something new may be due. */
  wake(): void {
    this.#bell.ring();
  }

  /**
   * Resolves when the caller may start one request of an action: the very next slot, ahead of every poll. A POST goes
   * before a look: when many mailboxes are acted upon at once, each is done with before the next is begun.
   */
  actionSlot(signal: AbortSignal, step: 'look' | 'post' = 'look'): Promise<void> {
    return new Promise((resolve) => {
      if (signal.aborted) return resolve();
      const go = () => {
        signal.removeEventListener('abort', go);
        resolve();
      };
      signal.addEventListener('abort', go, { once: true });
      (step === 'post' ? this.#waitingPosts : this.#waitingLooks).push(go);
      this.#bell.ring();
    });
  }

  /** Serves until the signal aborts, then waits for the polls under way. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, budget } = this.#options;
    while (!signal.aborted) {
      const now = clock.monotonic();
      const wait = budget.nextStartAt(now) - now;
      if (wait > 0) await clock.sleep(wait, signal);
      else if (this.#serveAction() || this.#servePoll()) continue;
      else await this.#bell.sleep(this.#idleFor(), signal);
    }
    await Promise.all(this.#inFlight);
  }

  #serveAction(): boolean {
    const next = this.#waitingPosts.shift() ?? this.#waitingLooks.shift();
    if (!next) return false;
    this.#options.budget.started(this.#options.clock.monotonic());
    next();
    return true;
  }

  #servePoll(): boolean {
    const { clock, budget, queue, poll, mayAsk } = this.#options;
    const scope = mayAsk();
    if (scope === 'nothing' || this.#inFlight.size >= maxPollsInFlight) return false;
    const next = queue.take(clock.monotonic(), scope === 'account');
    if (!next) return false;
    budget.started(clock.monotonic());
    const done = poll(next).finally(() => {
      this.#inFlight.delete(done);
      queue.done(next);
      this.#bell.ring();
    });
    this.#inFlight.add(done);
    return true;
  }

  /** A full lane, or one that may not poll, waits for the next ring. */
  #idleFor(): number {
    const now = this.#options.clock.monotonic();
    const dueAt = this.#options.queue.nextDueAt(now);
    return dueAt === null ? idleMs : Math.min(idleMs, dueAt - now);
  }
}
