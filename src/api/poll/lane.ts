// Lane through which all requests of an account start: polls one by one or in batches, actions one by one and before them.

import { turnEveryMs } from '../../core/fleet/fleet.ts';
import { minuteMs, secondMs } from '../../core/time.ts';
import { type Bell, type Clock, createBell } from '../../world/world.ts';
import type { Budget } from '../budget.ts';
import type { Poll } from './poll.ts';
import type { PollQueue } from './queue.ts';

/** A slow answer must not stop the others. */
const maxPollsInFlight = 8;
/** Time after which a poll counts as hanging. The client ends every request long before. */
const pollMayTakeMs = minuteMs;

export interface LaneOptions {
  readonly clock: Clock;
  readonly budget: Budget;
  readonly queue: PollQueue;
  /** Polls, and never rejects. */
  readonly poll: (poll: Poll) => Promise<void>;
  /** account: only health and the list; actions continue. nothing: this process does not own the account. */
  readonly mayAsk: () => 'everything' | 'account' | 'nothing';
}

export class Lane {
  readonly #options: LaneOptions;
  readonly #bell: Bell;
  /** In order of precedence. */
  readonly #waitingActions = {
    post: { kind: 'warmup_write', waiting: [] as (() => void)[] },
    look: { kind: 'warmup', waiting: [] as (() => void)[] },
    stats: { kind: 'stats', waiting: [] as (() => void)[] },
    connect: { kind: 'mailbox_write', waiting: [] as (() => void)[] },
  } as const;
  readonly #inFlight = new Set<{ readonly since: number; readonly done: Promise<void> }>();

  constructor(options: LaneOptions) {
    this.#options = options;
    this.#bell = createBell(options.clock);
  }

  /** Wakes the lane because new polls may be due. */
  wake(): void {
    this.#bell.ring();
  }

  /**
   * Resolves when an action may start one request, ahead of every poll. A POST goes before a look, so that each of many
   * actions is finished before the next starts.
   */
  actionSlot(signal: AbortSignal, step: 'look' | 'stats' | 'post' | 'connect' = 'look'): Promise<void> {
    return new Promise((resolve) => {
      if (signal.aborted) return resolve();
      const go = () => {
        signal.removeEventListener('abort', go);
        resolve();
      };
      signal.addEventListener('abort', go, { once: true });
      this.#waitingActions[step].waiting.push(go);
      this.#bell.ring();
    });
  }

  /**
   * Serves until the signal aborts, then waits for the polls in flight. `turned` is not called while a poll hangs,
   * unless the budget is stopped: a poll that lost its connection also waits for the budget.
   */
  async run(signal: AbortSignal, turned: () => void): Promise<void> {
    const { clock, budget, mayAsk } = this.#options;
    while (!signal.aborted) {
      const now = clock.monotonic();
      const wait = Math.min(budget.nextBatchAt(now), Math.max(budget.nextStartAt(now), this.#actionOpensAt())) - now;
      if (now < budget.throttle.keyUntil || !this.#hangs(now)) turned();
      if (mayAsk() === 'nothing') await clock.sleep(secondMs, signal);
      else if (wait > 0) await this.#bell.sleep(Math.min(wait, turnEveryMs), signal);
      else if (!this.#serveAction() && !this.#servePoll()) await this.#bell.sleep(this.#idleFor(), signal);
    }
    await Promise.allSettled([...this.#inFlight].map(({ done }) => done));
  }

  #hangs(now: number): boolean {
    for (const { since } of this.#inFlight) if (now - since > pollMayTakeMs) return true;
    return false;
  }

  #serveAction(): boolean {
    const { budget, clock } = this.#options;
    const now = clock.monotonic();
    for (const { waiting, kind } of Object.values(this.#waitingActions)) {
      const next = budget.opensAt(kind) <= now ? waiting.shift() : undefined;
      if (!next) continue;
      budget.started(now, kind);
      next();
      return true;
    }
    return false;
  }

  /** Earliest start of a waiting action by the limits of its kind alone; Infinity if none waits. */
  #actionOpensAt(): number {
    const waiting = Object.values(this.#waitingActions).filter((one) => one.waiting.length > 0);
    return Math.min(...waiting.map(({ kind }) => this.#options.budget.opensAt(kind)));
  }

  #servePoll(): boolean {
    const { clock, budget, queue, poll, mayAsk } = this.#options;
    if (this.#inFlight.size >= maxPollsInFlight) return false;
    const next = queue.take(clock.monotonic(), mayAsk() === 'account');
    if (!next) return false;
    budget.started(clock.monotonic(), next.route);
    const done = poll(next).then(() => {
      this.#inFlight.delete(one);
      queue.done(next);
      this.#bell.ring();
    });
    const one = { since: clock.monotonic(), done };
    this.#inFlight.add(one);
    return true;
  }

  /** A full lane waits for the next ring. */
  #idleFor(): number {
    const { clock, queue } = this.#options;
    const now = clock.monotonic();
    const next = Math.min(queue.nextDueAt(now) ?? Number.POSITIVE_INFINITY, this.#actionOpensAt());
    return Math.min(turnEveryMs, Math.max(0, next - now));
  }
}
