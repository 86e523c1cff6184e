// Work that is done one after the other: a request that still waits stands for every equal one that comes meanwhile.

export class OneWaiting<Request extends object, Outcome> {
  readonly #work: (request: Request) => Promise<Outcome>;
  /** By the request as JSON. */
  readonly #waiting = new Map<string, Promise<Outcome>>();
  #last: Promise<unknown> = Promise.resolve();

  /** `work` never rejects. */
  constructor(work: (request: Request) => Promise<Outcome>) {
    this.#work = work;
  }

  /** Resolves when it was done, not before all that was asked for earlier. */
  ask(request: Request): Promise<Outcome> {
    const key = JSON.stringify(request);
    const same = this.#waiting.get(key);
    if (same) return same;
    const outcome = this.#last.then(() => {
      this.#waiting.delete(key);
      return this.#work(request);
    });
    this.#waiting.set(key, outcome);
    this.#last = outcome;
    return outcome;
  }

  /** Resolves when all that was asked for is done. */
  async idle(): Promise<void> {
    await this.#last;
  }
}
