// Repeated errors: one line a minute is written for each kind, and the others are counted.

const everyMs = 60_000;

interface LineKind {
  readonly writtenAt: number;
  /** Reports the number of lines left out since, if no later line does. */
  readonly sayLeftOut: (count: number) => void;
  leftOut: number;
}

export class Repeats {
  readonly #monotonic: () => number;
  readonly #kinds = new Map<string, LineKind>();

  constructor(monotonic: () => number) {
    this.#monotonic = monotonic;
  }

  /** Number of similar lines left out before this one, or null to leave this one out. */
  met(kind: string, sayLeftOut: (count: number) => void): number | null {
    const known = this.#kinds.get(kind);
    if (known && !this.#isOver(known)) {
      known.leftOut += 1;
      return null;
    }
    this.#kinds.set(kind, { writtenAt: this.#monotonic(), sayLeftOut, leftOut: 0 });
    return known?.leftOut ?? 0;
  }

  settle(): void {
    for (const [name, kind] of this.#kinds) {
      if (!this.#isOver(kind)) continue;
      this.#kinds.delete(name);
      if (kind.leftOut > 0) kind.sayLeftOut(kind.leftOut);
    }
  }

  #isOver({ writtenAt }: LineKind): boolean {
    return this.#monotonic() - writtenAt >= everyMs;
  }
}
