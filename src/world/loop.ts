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

/** After a failed step, which is most often the store's. */
const retryMs = 5_000;
/** How often the watchdog looks at the loops. */
export const lookEveryMs = 15_000;
/** A loop that took no step well for so long, beyond what a step of it may take, has stopped. Looks count it, so a process that stood still is not late. */
const stoppedAfterMs = 3 * 60_000;
/** A loop that wakes this late shows that the whole process stood still: deadlines may have passed with the answers waiting to be read. */
const sleptMs = 5_000;

/** Begins them; they end with the part of the daemon that has these teardowns. */
export function startLoops(loops: readonly Loop[], teardowns: Teardowns): void {
  for (const loop of loops) {
    loop.start();
    teardowns.add(loop.task, () => loop.stop());
  }
}

/** A loop that runs, as the watchdog sees it. */
interface Turning {
  readonly task: string;
  /** Looks after which it counts as stopped. */
  readonly patience: number;
  /** A step is due or under way. */
  isDue: boolean;
  /** Looks since a step became due that has not been taken well. */
  looks: number;
}

/** Those of one process. */
export class Loops {
  readonly #world: World;
  readonly #turning = new Set<Turning>();
  /** On the monotonic scale: when one of them woke last. */
  #awakeAt = 0;
  #awakeSince = Number.NEGATIVE_INFINITY;

  constructor(world: World) {
    this.#world = world;
  }

  /**
   * `step` says how long to wait for the next one, milliseconds. One that rejects is logged, and taken again. `longestMs`: what a step
   * may take before the usual time begins after which the loop counts as stopped.
   */
  create(task: string, step: () => Promise<number>, longestMs = 0): Loop {
    const { clock, log } = this.#world;
    const bell = createBell(clock);
    const turning = { task, patience: (stoppedAfterMs + longestMs) / lookEveryMs, isDue: true, looks: 0 };
    let stopping = false;
    let ended: Promise<void> = Promise.resolve();
    const run = async () => {
      let failures = 0;
      this.#turning.add(turning);
      while (!stopping) {
        let wait = retryMs;
        turning.isDue = true;
        try {
          wait = await step();
          if (failures > 0) log.info({ failures }, `${task} works again`);
          failures = 0;
          Object.assign(turning, { isDue: false, looks: 0 });
        } catch (error) {
          failures += 1;
          log.error({ err: error }, `${task} failed: Warmwarden retries every few seconds`);
        }
        if (stopping || wait <= 0) continue;
        const until = clock.monotonic() + wait;
        await bell.sleep(wait);
        this.#woke(until);
      }
      this.#turning.delete(turning);
    };
    return {
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
  }

  /** One that looks each `ms`. */
  every(ms: number, task: string, look: () => Promise<void>): Loop {
    return this.create(task, async () => {
      await look();
      return ms;
    });
  }

  #woke(until: number): void {
    const now = this.#world.clock.monotonic();
    if (now - Math.max(until, this.#awakeAt) >= sleptMs) this.#awakeSince = now;
    this.#awakeAt = now;
  }

  /** On the monotonic scale: since when the process has not stood still for seconds, as far as these loops saw. */
  get awakeSince(): number {
    return this.#awakeSince;
  }

  /** The watchdog's look, each `lookEveryMs`: the task of a loop that has stopped, or null if all run. */
  look(): string | null {
    for (const turning of this.#turning) if (turning.isDue) turning.looks += 1;
    return [...this.#turning].find(({ looks, patience }) => looks > patience)?.task ?? null;
  }
}
