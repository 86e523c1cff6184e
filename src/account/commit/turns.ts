// Turns: decisions are made and committed one after the other, so that each rests on what was committed before it.
import { type Clock, createPacer } from '../../world/world.ts';

/** Awaited statements never give the event loop a turn: after so long of them the next work lets it have one. */
const sliceMs = 4;

/** A queue of work on one store. The breaker spans accounts, so all accounts of a daemon take turns in one. */
export class Turns {
  readonly #clock: Pick<Clock, 'busy'>;
  readonly #pacer = createPacer(sliceMs);
  #last: Promise<unknown> = Promise.resolve();
  #before: () => Promise<void> = async () => {};

  constructor(clock: Pick<Clock, 'busy'>) {
    this.#clock = clock;
  }

  /** From now on this comes before each work that rests on what is committed. It must not reject. There is one. */
  before(commit: () => Promise<void>): void {
    this.#before = commit;
  }

  /** Runs `work` after everything that came before it, whatever became of that. It rests on what is committed. */
  take<Value>(work: () => Promise<Value>): Promise<Value> {
    return this.takeBelieving(async () => {
      await this.#before();
      return work();
    });
  }

  /** As `take`, but `work` knows what waits to be committed, and goes by it. */
  takeBelieving<Value>(work: () => Promise<Value>): Promise<Value> {
    const result = this.#last.then(() =>
      this.#pacer.due() ? this.#clock.busy(() => this.#pacer.turn()).then(work) : work(),
    );
    this.#last = result.catch(() => {});
    return result;
  }
}
