// Turns: decisions are made and committed one after the other, so that each rests on the committed state before it.
import { type Clock, nextTurn } from '../../world/world.ts';

/** Queue of work on one store. The breaker spans accounts, so all accounts of a daemon share one queue. */
export class Turns {
  readonly #clock: Pick<Clock, 'busy'>;
  #last: Promise<unknown> = Promise.resolve();

  constructor(clock: Pick<Clock, 'busy'>) {
    this.#clock = clock;
  }

  /**
   * Runs `work` after all earlier work has ended, with or without an error. Each work starts in its own turn of the
   * event loop.
   */
  take<Value>(work: () => Promise<Value>): Promise<Value> {
    const result = this.#last.then(() => this.#clock.busy(() => nextTurn())).then(work);
    this.#last = result.catch(() => {});
    return result;
  }
}
