// Loops that take steps until they are stopped, can be woken, and are never ended by a failure. One that keeps failing is named.
import { createBell, type Log, systemClock, type World } from './world.ts';

// What was started, in order, and how it ends: last in, first out, each within a bounded time.

/** A part that does not end within this is left behind, with a line in the log. Real time: sockets are slow in it. */
const stopDeadlineMs = 12_000;

export class Teardowns {
  readonly #log: Log;
  readonly #parts: (() => Promise<void>)[] = [];

  constructor(log: Log) {
    this.#log = log;
  }

  /** `deadlineMs`: of real time; only for a part that has good reason to take longer than the others. */
  add(name: string, stop: () => Promise<void>, deadlineMs = stopDeadlineMs): void {
    this.#parts.push(() => this.#end(name, stop, deadlineMs));
  }

  /** Starts what ends as one. When its start fails, what it had started by then has ended when this rejects. */
  async scope<Value>(start: (teardowns: Teardowns) => Promise<Value>): Promise<Value> {
    const own = new Teardowns(this.#log);
    try {
      const value = await start(own);
      this.#parts.push(() => own.takeDown());
      return value;
    } catch (error) {
      await own.takeDown();
      throw error;
    }
  }

  /** Ends all that was added and not ended yet. Never rejects. */
  async takeDown(): Promise<void> {
    for (let end = this.#parts.pop(); end; end = this.#parts.pop()) await end();
  }

  async #end(part: string, stop: () => Promise<void>, deadlineMs: number): Promise<void> {
    const waiting = new AbortController();
    const late = systemClock()
      .sleep(deadlineMs, waiting.signal)
      .then(() => 'late');
    const ended = stop().then(
      () => 'ended',
      (error: unknown) => `failed: ${error instanceof Error ? error.message : String(error)}`,
    );
    const outcome = await Promise.race([ended, late]);
    waiting.abort();
    if (outcome !== 'ended') this.#log.warn({ part, outcome }, 'a part did not stop in time');
  }
}

export interface Loop {
  /** What it does, as the log and `/readyz` say it: `watching the channels`. */
  readonly task: string;
  /** Begins. Once only. */
  start(): void;
  /** The next step is now. */
  ring(): void;
  /** Ends after the step under way. */
  stop(): Promise<void>;
}

interface FailingLoop {
  readonly task: string;
  /** When a step was due that has not been taken well since, epoch milliseconds. */
  readonly since: number;
}

/** After a failed step, which is most often the store's. */
const retryMs = 5_000;
/** No step takes longer, beyond what it says it may. */
const failingAfterMs = 3 * 60_000;
/** A loop that wakes later than this shows that the whole process stood still: frozen, or without a processor. */
const stoodStillMs = 60_000;
/** So late, and deadlines of requests and queries may have passed meanwhile, with the answers waiting to be read. */
const sleptMs = 5_000;

/** Begins them; they end with the part of the daemon that has these teardowns. */
export function startLoops(loops: readonly Loop[], teardowns: Teardowns): void {
  for (const loop of loops) {
    loop.start();
    teardowns.add(loop.task, () => loop.stop());
  }
}

/** Those of one process. */
export class Loops {
  readonly #world: World;
  /** Those that run, and since when the next step of each is due, on the monotonic scale. */
  readonly #dueAt = new Map<Loop, number>();
  /** The longest that a step of each may take. */
  readonly #longestMs = new WeakMap<Loop, number>();
  /** On the monotonic scale: when one of them woke last. */
  #awakeAt = 0;
  #awakeSince = Number.NEGATIVE_INFINITY;

  constructor(world: World) {
    this.#world = world;
  }

  /**
   * `step` says how long to wait for the next one, milliseconds. One that rejects is logged, and taken again. `longestMs`: what a step
   * may take before the usual time begins in which it counts as failing.
   */
  create(task: string, step: () => Promise<number>, longestMs = 0): Loop {
    const { clock, log } = this.#world;
    const bell = createBell(clock);
    let stopping = false;
    let ended: Promise<void> = Promise.resolve();
    const run = async () => {
      let failures = 0;
      while (!stopping) {
        let wait = retryMs;
        const begun = clock.monotonic();
        this.#dueAt.set(loop, Math.min(this.#dueAt.get(loop) ?? begun, begun));
        try {
          wait = await step();
          if (failures > 0) log.info({ failures }, `${task} works again`);
          failures = 0;
          this.#dueAt.set(loop, clock.monotonic() + wait);
        } catch (error) {
          failures += 1;
          log.error({ err: error }, `${task} failed: Warmwarden retries every few seconds`);
        }
        if (stopping || wait <= 0) continue;
        const until = clock.monotonic() + wait;
        await bell.sleep(wait);
        this.#woke(until);
      }
      this.#dueAt.delete(loop);
    };
    const loop: Loop = {
      task,
      start: () => {
        ended = run();
      },
      ring: () => bell.ring(),
      stop: () => {
        stopping = true;
        bell.ring();
        return ended;
      },
    };
    this.#longestMs.set(loop, longestMs);
    return loop;
  }

  /** One that looks each `ms`. */
  every(ms: number, task: string, look: () => Promise<void>): Loop {
    return this.create(task, async () => {
      await look();
      return ms;
    });
  }

  /** Time in which the process stood still counts for none of them: what was due then is due now. */
  #woke(until: number): void {
    const now = this.#world.clock.monotonic();
    const lateMs = now - Math.max(until, this.#awakeAt);
    this.#awakeAt = now;
    if (lateMs >= sleptMs) this.#awakeSince = now;
    if (lateMs < stoodStillMs) return;
    for (const [loop, dueAt] of this.#dueAt) this.#dueAt.set(loop, dueAt + lateMs);
  }

  /** On the monotonic scale: since when the process has not stood still for seconds, as far as these loops saw. */
  get awakeSince(): number {
    return this.#awakeSince;
  }

  /** Those of which no step has ended well for three minutes, and what a step may take. */
  failing(): readonly FailingLoop[] {
    const { clock } = this.#world;
    const [now, monotonic] = [clock.now(), clock.monotonic()];
    return [...this.#dueAt]
      .filter(([loop, dueAt]) => monotonic - dueAt > failingAfterMs + (this.#longestMs.get(loop) ?? 0))
      .map(([{ task }, dueAt]) => ({ task, since: now - (monotonic - dueAt) }));
  }
}
