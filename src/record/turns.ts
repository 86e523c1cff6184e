// One after the other: what is decided rests on what was committed before it.

/** A queue of work on one store. The breaker spans accounts, so all accounts of a daemon take turns in one. */
export class Turns {
  #last: Promise<unknown> = Promise.resolve();

  /** Runs `work` after everything that came before it, whatever became of that. */
  take<Value>(work: () => Promise<Value>): Promise<Value> {
    const result = this.#last.then(work);
    this.#last = result.catch(() => {});
    return result;
  }
}
