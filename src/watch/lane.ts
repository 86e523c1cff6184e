// The one lane through which all requests of an account start: evenly spaced, actions before polls, several in flight.
import type { Budget } from '../mailbox-api/budget.ts';
import { type Bell, type Clock, createBell } from '../world.ts';
import { type Poll, type PollQueue, pollKey } from './queue.ts';

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
  /** false keeps a poll queued (a rejected key only asks for the mailbox list). */
  readonly accept: (poll: Poll) => boolean;
}

export class Lane {
  readonly #options: LaneOptions;
  readonly #bell: Bell;
  readonly #waitingActions: (() => void)[] = [];
  readonly #inFlight = new Map<string, Promise<void>>();

  constructor(options: LaneOptions) {
    this.#options = options;
    this.#bell = createBell(options.clock);
  }

  /** Something new may be due. */
  wake(): void {
    this.#bell.ring();
  }

  /** Resolves when the caller may start one request of an action: the very next slot, ahead of every poll. */
  actionSlot(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      if (signal.aborted) return resolve();
      const go = () => {
        signal.removeEventListener('abort', go);
        resolve();
      };
      signal.addEventListener('abort', go, { once: true });
      this.#waitingActions.push(go);
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
    await Promise.all(this.#inFlight.values());
  }

  #serveAction(): boolean {
    const next = this.#waitingActions.shift();
    if (!next) return false;
    this.#options.budget.started(this.#options.clock.monotonic());
    next();
    return true;
  }

  #servePoll(): boolean {
    const { clock, budget, queue, poll, accept } = this.#options;
    if (this.#inFlight.size >= maxPollsInFlight) return false;
    const idle = (next: Poll) => accept(next) && !this.#inFlight.has(pollKey(next));
    const next = queue.take(clock.monotonic(), idle);
    if (!next) return false;
    budget.started(clock.monotonic());
    const done = poll(next).finally(() => {
      this.#inFlight.delete(pollKey(next));
      this.#bell.ring();
    });
    this.#inFlight.set(pollKey(next), done);
    return true;
  }

  /** A full lane, or one whose due polls are refused, waits for the next ring. */
  #idleFor(): number {
    const now = this.#options.clock.monotonic();
    const dueAt = this.#options.queue.nextDueAt(now);
    return dueAt === null || dueAt <= now ? idleMs : Math.min(idleMs, dueAt - now);
  }
}
