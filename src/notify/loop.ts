// A loop that takes steps until it is stopped, can be woken, and is never ended by a failure.
import { minuteMs } from '../model/time.ts';
import { createBell, type World } from '../world.ts';

export interface Loop {
  readonly name: string;
  /** Begins. Once only. */
  start(): void;
  /** The next step is now. */
  ring(): void;
  /** Ends after the step under way. */
  stop(): Promise<void>;
  /** It should have taken a step long ago. */
  isStuck(): boolean;
}

/** After a failed step, which is most often the store's. */
const retryMs = 5_000;
/** Every loop takes a step at least once a minute, and none lasts longer than a send may. */
const stuckAfterMs = 3 * minuteMs;

/** `step` says how long to wait for the next one, milliseconds. */
export function createLoop(name: string, { clock, log }: World, step: () => Promise<number>): Loop {
  const bell = createBell(clock);
  let stopping = false;
  let ended: Promise<void> = Promise.resolve();
  let turnedAt = clock.monotonic();

  const run = async () => {
    let failing = false;
    while (!stopping) {
      let wait = retryMs;
      turnedAt = clock.monotonic();
      try {
        wait = await clock.busy(step);
        if (failing) log.info({ loop: name }, 'Sending alerts works again.');
        failing = false;
      } catch (error) {
        if (!failing)
          log.error({ loop: name, err: error }, 'Sending alerts failed; Warmwarden retries every few seconds.');
        failing = true;
      }
      if (!stopping && wait > 0) await bell.sleep(wait);
    }
  };
  return {
    name,
    start: () => {
      ended = run();
    },
    ring: () => bell.ring(),
    stop: () => {
      stopping = true;
      bell.ring();
      return ended;
    },
    isStuck: () => clock.monotonic() - turnedAt > stuckAfterMs,
  };
}
