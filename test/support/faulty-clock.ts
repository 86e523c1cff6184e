// A clock that fails a part of the program on purpose: what the part asks of it next throws, or never ends.
import type { Clock } from '../../src/world/world.ts';

/** `throws`: whatever it asks. `hangs`: its next sleep never ends, not even when it is aborted. */
export type ClockFault = 'throws' | 'hangs';

export interface FaultyClock extends Clock {
  /**
   * Fails the next call that comes straight from a place in the sources, as a stack names it (`api/poll/lane.ts`), so many
   * times.
   */
  fail(place: string, fault: ClockFault, times?: number): void;
}

export function faultyClock(clock: Clock): FaultyClock {
  const faults: { place: string; fault: ClockFault; times: number }[] = [];
  /** The fault that waits for whoever is calling. */
  const met = (...kinds: readonly ClockFault[]): ClockFault | undefined => {
    if (faults.length === 0) return undefined;
    const stack = new Error('who asks?').stack ?? '';
    const one = faults.find(({ place, fault, times }) => times > 0 && kinds.includes(fault) && stack.includes(place));
    if (one) one.times -= 1;
    return one?.fault;
  };
  const read = (read: () => number) => {
    if (met('throws')) throw new Error('the clock fails on purpose');
    return read();
  };
  return {
    now: () => read(clock.now),
    monotonic: () => read(clock.monotonic),
    sleep(ms, signal) {
      const fault = met('throws', 'hangs');
      if (fault === 'throws') throw new Error('the clock fails on purpose');
      return fault === 'hangs' ? new Promise(() => {}) : clock.sleep(ms, signal);
    },
    busy: clock.busy,
    fail: (place, fault, times = 1) => void faults.push({ place, fault, times }),
  };
}
