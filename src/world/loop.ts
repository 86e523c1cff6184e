// Loops that take steps until they are stopped, can be woken, and survive every failure. A loop that keeps failing is
// reported.
import { errorText } from '../core/nearest.ts';
import { createBell, endsWithin, type Log, nextTurn, systemClock, type World } from './world.ts';

// Teardown of started parts: last in, first out.

/** Real time after which a part that does not end is abandoned, with a line in the log. */
const stopDeadlineMs = 12_000;

export class Teardowns {
  readonly #log: Log;
  readonly #parts: (() => Promise<void>)[] = [];

  constructor(log: Log) {
    this.#log = log;
  }

  add(name: string, stop: () => Promise<void>): void {
    this.#parts.push(() => this.#end(name, stop));
  }

  /** Starts parts that end as one. If the start fails, the parts that it had started have ended when this rejects. */
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

  /** Ends every part, last added first, and never rejects. */
  async takeDown(): Promise<void> {
    for (let end = this.#parts.pop(); end; end = this.#parts.pop()) await end();
  }

  async #end(part: string, stop: () => Promise<void>): Promise<void> {
    const warn = (outcome: string) => this.#log.warn({ part, outcome }, 'a part did not stop in time');
    try {
      if (!(await endsWithin(stop(), stopDeadlineMs, systemClock()))) warn('late');
    } catch (error) {
      warn(`failed: ${errorText(error)}`);
    }
  }
}

export interface Loop {
  /** Task in words for the log and `/readyz`: `watching the channels`. */
  readonly task: string;
  start(): void;
  ring(): void;
  /** Ends the loop after the step in progress. */
  stop(): Promise<void>;
}

const retryMs = 5_000;
export const lookEveryMs = 15_000;
/** Time without a successful step after which a loop counts as stopped; in looks, so a suspension is not late. */
const stoppedAfterMs = 3 * 60_000;
/** Delay of a wake-up that shows that the whole process was suspended. */
const sleptMs = 5_000;

export function startLoops(loops: readonly Loop[], teardowns: Teardowns): void {
  for (const loop of loops) {
    loop.start();
    teardowns.add(loop.task, () => loop.stop());
  }
}

/** Running loop in the watchdog's view. */
interface Turning {
  readonly task: string;
  /** Looks after which it counts as stopped. */
  readonly patience: number;
  isDue: boolean;
  /** Looks since a step became due that has not succeeded. */
  looks: number;
}

export class Loops {
  readonly #world: World;
  readonly #turning = new Set<Turning>();
  /** Monotonic time of the latest wake-up of a loop. */
  #awakeAt = 0;
  #awakeSince = Number.NEGATIVE_INFINITY;

  constructor(world: World) {
    this.#world = world;
  }

  /**
   * `step` returns the wait for the next step; a step that rejects is logged and retried. `longestMs` limits a step.
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
        if (stopping) continue;
        if (wait <= 0) {
          // The awaits of a step may all end in the same turn, in which no timer and no request would be served.
          await nextTurn();
          continue;
        }
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

  /** Monotonic time since which the process has not been suspended for seconds, as far as these loops saw. */
  get awakeSince(): number {
    return this.#awakeSince;
  }

  /** Returns the task of a stopped loop, or null if all run. The watchdog calls it every `lookEveryMs`. */
  look(): string | null {
    for (const turning of this.#turning) if (turning.isDue) turning.looks += 1;
    return [...this.#turning].find(({ looks, patience }) => looks > patience)?.task ?? null;
  }
}
