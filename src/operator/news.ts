// Ends the waits of all who wait for news. Who waits takes the signal before it looks, so that nothing is missed.

export class News {
  #next = new AbortController();

  /** Aborted by the next news. */
  get signal(): AbortSignal {
    return this.#next.signal;
  }

  arrived(): void {
    const arrived = this.#next;
    this.#next = new AbortController();
    // A reason of our own: without one, each abort would build an error with its stack.
    arrived.abort('news');
  }
}
