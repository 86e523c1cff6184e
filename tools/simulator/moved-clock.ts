// Clock of the simulator, the demo and the tests: moved by hand, or paced.
import { setImmediate as turn } from 'node:timers/promises';
import { type Clock, systemClock } from '../../src/world/world.ts';

/** Clock that moves only when it is told to, and only while nothing is in flight. */
export interface MovedClock extends Clock {
  /** Wakes every sleeper on the way in order, and waits for the work that each one starts. */
  advance(ms: number): Promise<void>;
  /** Moves on, sleeper by sleeper, until `met` returns true. False if `withinMs` passed first. */
  advanceUntil(met: () => boolean, withinMs: number): Promise<boolean>;
  pace(speed: number, signal: AbortSignal): Promise<void>;
  /** A leak check for tests. */
  sleeping(): number;
}

interface Sleeper {
  readonly at: number;
  readonly wake: () => void;
}

/** Turns of the event loop without anything in flight before a moved clock assumes that nothing will start. */
const quietTurns = 4;
const paceStepMs = 20;

export function movedClock(start: number): MovedClock {
  let now = start;
  let inFlight = 0;
  const sleepers = new Set<Sleeper>();

  const settle = async () => {
    for (let quiet = 0; quiet < quietTurns; ) {
      await turn();
      quiet = inFlight === 0 ? quiet + 1 : 0;
    }
  };
  const earliest = () => {
    let first: Sleeper | undefined;
    for (const sleeper of sleepers) if (!first || sleeper.at < first.at) first = sleeper;
    return first;
  };
  const advanceTo = async (target: number, met: () => boolean) => {
    for (;;) {
      await settle();
      if (met()) return true;
      const next = earliest();
      if (!next || next.at > target) break;
      now = Math.max(now, next.at);
      for (const sleeper of [...sleepers]) if (sleeper.at <= now) sleeper.wake();
    }
    now = Math.max(now, target);
    return false;
  };

  return {
    now: () => now,
    monotonic: () => now - start,
    sleep: (ms, signal) =>
      new Promise((resolve) => {
        if (signal?.aborted) return resolve();
        const wake = () => {
          sleepers.delete(sleeper);
          signal?.removeEventListener('abort', wake);
          resolve();
        };
        // Sleepers wake at whole milliseconds: a fraction below the precision of an epoch time would never let the
        // clock move.
        const sleeper = { at: now + Math.ceil(Math.max(ms, 0)), wake };
        sleepers.add(sleeper);
        signal?.addEventListener('abort', wake, { once: true });
      }),
    busy: async (work) => {
      inFlight += 1;
      try {
        return await work();
      } finally {
        inFlight -= 1;
      }
    },
    advance: async (ms) => {
      await advanceTo(now + ms, () => false);
    },
    advanceUntil: (met, withinMs) => advanceTo(now + withinMs, met),
    pace: async (speed, signal) => {
      const real = systemClock();
      let last = real.monotonic();
      while (!signal.aborted) {
        await real.sleep(paceStepMs, signal);
        const elapsed = real.monotonic() - last;
        last += elapsed;
        await advanceTo(now + Math.min(elapsed, 5 * paceStepMs) * speed, () => signal.aborted);
      }
    },
    sleeping: () => sleepers.size,
  };
}
