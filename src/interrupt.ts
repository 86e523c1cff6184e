// What ends a wait or a request early.
import { Bag } from './bag.ts';

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
