// Errors that go on, and what many mailboxes have at once: of each kind one line a minute is written, and the others are counted.

const everyMs = 60_000;

interface Kind {
  /** On the monotonic scale. */
  readonly writtenAt: number;
  /** Writes how many were left out since, where no further one comes to say it. */
  readonly sayLeftOut: (count: number) => void;
  leftOut: number;
}

export class Repeats {
  readonly #monotonic: () => number;
  readonly #kinds = new Map<string, Kind>();

  constructor(monotonic: () => number) {
    this.#monotonic = monotonic;
  }

  /** null: leave it out. Otherwise how many of its kind were left out before it. */
  met(kind: string, sayLeftOut: (count: number) => void): number | null {
    const known = this.#kinds.get(kind);
    if (known && !this.#isOver(known)) {
      known.leftOut += 1;
      return null;
    }
    this.#kinds.set(kind, { writtenAt: this.#monotonic(), sayLeftOut, leftOut: 0 });
    return known?.leftOut ?? 0;
  }

  /** Ends the kinds whose minute is over, each with what it still has to say. */
  settle(): void {
    for (const [name, kind] of this.#kinds) {
      if (!this.#isOver(kind)) continue;
      this.#kinds.delete(name);
      if (kind.leftOut > 0) kind.sayLeftOut(kind.leftOut);
    }
  }

  #isOver({ writtenAt }: Kind): boolean {
    return this.#monotonic() - writtenAt >= everyMs;
  }
}
