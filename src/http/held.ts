// How many bytes of answers are held at a time, in the whole process: beyond the cap the largest answer is ended.

/** One answer; what it holds counts until it is released. */
export interface HeldAnswer {
  /** Counts more bytes. False when there is no room for them: this answer has been ended. */
  add(bytes: number): boolean;
  /** What ends it when room is needed. null: it can't be ended, because it is complete. */
  endedBy(end: (() => void) | null): void;
  /** Nothing of it is held any more. */
  release(): void;
}

interface Entry {
  bytes: number;
  end: (() => void) | null;
}

export class HeldAnswers {
  readonly #maxBytes: number;
  readonly #entries = new Set<Entry>();
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Held at this moment. */
  get bytes(): number {
    return this.#bytes;
  }

  begin(): HeldAnswer {
    const entry: Entry = { bytes: 0, end: null };
    this.#entries.add(entry);
    return {
      add: (bytes) => {
        if (!this.#entries.has(entry)) return false;
        entry.bytes += bytes;
        this.#bytes += bytes;
        this.#makeRoom();
        return this.#entries.has(entry);
      },
      endedBy: (end) => {
        entry.end = end;
      },
      release: () => this.#release(entry),
    };
  }

  /** Small answers are never ended for the sake of large ones. */
  #makeRoom(): void {
    while (this.#bytes > this.#maxBytes) {
      let largest: Entry | null = null;
      for (const entry of this.#entries) {
        if (entry.end && (largest === null || entry.bytes > largest.bytes)) largest = entry;
      }
      if (!largest) return;
      this.#release(largest);
      largest.end?.();
    }
  }

  #release(entry: Entry): void {
    if (this.#entries.delete(entry)) this.#bytes -= entry.bytes;
  }
}
