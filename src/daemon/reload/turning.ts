// Since when the loops of an account have not turned, as one look after the other shows it. Pure.

import { type LoopName, loopNames } from '../../account/pulse.ts';
import { unguardedAfterMs } from '../../core/write-scope.ts';

/** The pulse of an account's loops; null: none was begun. */
export type PulseReading = {
  readonly broken: LoopName | null;
  readonly turnsOf: (loop: LoopName) => number;
} | null;

/** What is remembered from one look to the next. Times are milliseconds of the looks' own scale. */
export interface Turning {
  readonly pulse: PulseReading;
  /** Of each loop: how often it had turned, and since when that is so. */
  readonly loops: Readonly<Record<LoopName, { readonly turns: number; readonly since: number }>>;
  /** When all of them were seen to turn last. */
  readonly turnedAt: number;
}

/** The look at `now` after the one `before`; null: the first one. */
export function lookAt(pulse: PulseReading, before: Turning | null, now: number): Turning {
  const known = before?.pulse === pulse ? before : null;
  const turnedAt = before?.turnedAt ?? now;
  const reading = (loop: LoopName) => {
    const turns = pulse?.turnsOf(loop) ?? 0;
    const was = known?.loops[loop] ?? { turns: 0, since: turnedAt };
    return turns === was.turns ? was : { turns, since: now };
  };
  const loops = { request: reading('request'), schedule: reading('schedule'), time: reading('time') };
  const lives = pulse !== null && pulse.broken === null;
  return { pulse, loops, turnedAt: lives ? Math.min(...loopNames.map((loop) => loops[loop].since)) : turnedAt };
}

/** Whether all its loops have turned since they were begun, and none has broken. */
export function turns({ pulse, loops }: Turning): boolean {
  return pulse !== null && pulse.broken === null && loopNames.every((loop) => loops[loop].turns > 0);
}

/** A part of a sentence: why an account's loops are to be begun again; null while there is no reason. */
export function ailmentOf({ pulse, loops, turnedAt }: Turning, now: number): string | null {
  if (pulse === null) return 'its polling did not start';
  if (pulse.broken !== null) return `its ${pulse.broken} loop ended with an error`;
  if (now - turnedAt < unguardedAfterMs) return null;
  const [slowest = 'request'] = loopNames.toSorted((one, other) => loops[one].since - loops[other].since);
  return `its ${slowest} loop is stuck`;
}
