// Turns: decisions are made and committed one after the other, so that each rests on what was committed before it.
import { type Clock, nextTurn } from '../../world/world.ts';

/** A queue of work on one store. The breaker spans accounts, so all accounts of a daemon take turns in one. */
export class Turns {
  readonly #clock: Pick<Clock, 'busy'>;
  #last: Promise<unknown> = Promise.resolve();

  constructor(clock: Pick<Clock, 'busy'>) {
    this.#clock = clock;
  }

  /** Runs `work` after everything that came before it, whatever became of that. Each work begins in a turn of the event loop of its own. */
  take<Value>(work: () => Promise<Value>): Promise<Value> {
    const result = this.#last.then(() => this.#clock.busy(() => nextTurn())).then(work);
    this.#last = result.catch(() => {});
    return result;
  }
}
