// Turns of the event loop for long work. Pieces of different works never follow one another without a turn between them.
import { setImmediate } from 'node:timers/promises';

let last: Promise<void> = Promise.resolve();

/** Resolves in a turn of its own, after those who asked before: of all long works one piece is done in a turn. */
export function ownTurn(): Promise<void> {
  last = last.then(() => setImmediate());
  return last;
}
