// A turn of the event loop for each who asks: what takes a while is not done twice in one go.
import { setImmediate as turn } from 'node:timers/promises';

let last: Promise<void> = Promise.resolve();

/** Resolves in a turn of its own, after those who asked before. */
export function ownTurn(): Promise<void> {
  last = last.then(() => turn());
  return last;
}
