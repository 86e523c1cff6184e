// What ends a wait or a request early.

// Things that come and go with each request, in no order. A Set that grows and shrinks takes new memory each time, which lives long
// enough to count among the old objects.

/** Each thing is put in once. To take one out costs a look at the others. */
export class Bag<Thing> implements Iterable<Thing> {
  readonly #things: Thing[] = [];

  get size(): number {
    return this.#things.length;
  }

  add(thing: Thing): void {
    this.#things.push(thing);
  }

  /** Nothing happens when it is not in. */
  delete(thing: Thing): void {
    const at = this.#things.indexOf(thing);
    if (at === -1) return;
    const last = this.#things.pop() as Thing;
    if (at < this.#things.length) this.#things[at] = last;
  }

  clear(): void {
    this.#things.length = 0;
  }

  /** Not while things come and go. */
  [Symbol.iterator](): Iterator<Thing> {
    return this.#things.values();
  }
}

/** A signal, or something that takes less time to make. */
export interface Interrupt {
  readonly aborted: boolean;
  addEventListener(type: 'abort', end: () => void, options?: { readonly once: boolean }): void;
  removeEventListener(type: 'abort', end: () => void): void;
}

/** One that says why it ends what it ends. */
export interface Ending extends Interrupt {
  readonly reason: unknown;
}

/** A signal for very many short waits: it is joined once, for all of them. To join and to leave one takes microseconds. */
export class Relay implements Ending {
  readonly #signal: AbortSignal;
  readonly #ends = new Bag<() => void>();

  constructor(signal: AbortSignal) {
    this.#signal = signal;
    signal.addEventListener('abort', () => this.#end(), { once: true });
  }

  get aborted(): boolean {
    return this.#signal.aborted;
  }

  get reason(): unknown {
    return this.#signal.reason;
  }

  addEventListener(_type: 'abort', end: () => void): void {
    this.#ends.add(end);
  }

  removeEventListener(_type: 'abort', end: () => void): void {
    this.#ends.delete(end);
  }

  #end(): void {
    const ends = [...this.#ends];
    this.#ends.clear();
    for (const end of ends) end();
  }
}
