// How many bytes of answers are held at a time, in the whole process: beyond the cap the largest answer is ended.
import { Bag } from '../../world/interrupt.ts';

/** One answer; what it holds counts until it is released. */
export class HeldAnswer {
  readonly #all: HeldAnswers;
  #bytes = 0;
  #isHeld = true;
  #end: (() => void) | null = null;

  constructor(all: HeldAnswers) {
    this.#all = all;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** null: it can't be ended, because it is complete. */
  get end(): (() => void) | null {
    return this.#end;
  }

  /** Counts more bytes. False when there is no room for them: this answer has been ended. */
  add(bytes: number): boolean {
    if (!this.#isHeld) return false;
    this.#bytes += bytes;
    this.#all.grew(bytes);
    return this.#isHeld;
  }

  /** What ends it when room is needed. null: it can't be ended, because it is complete. */
  endedBy(end: (() => void) | null): void {
    this.#end = end;
  }

  /** Nothing of it is held any more. */
  release(): void {
    if (!this.#isHeld) return;
    this.#isHeld = false;
    this.#all.released(this);
  }
}

export class HeldAnswers {
  readonly #maxBytes: number;
  readonly #held = new Bag<HeldAnswer>();
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Held at this moment. */
  get bytes(): number {
    return this.#bytes;
  }

  begin(): HeldAnswer {
    const answer = new HeldAnswer(this);
    this.#held.add(answer);
    return answer;
  }

  /** An answer has so many bytes more. Small answers are never ended for the sake of large ones. */
  grew(bytes: number): void {
    this.#bytes += bytes;
    while (this.#bytes > this.#maxBytes) {
      let largest: HeldAnswer | null = null;
      for (const answer of this.#held) {
        if (answer.end && (largest === null || answer.bytes > largest.bytes)) largest = answer;
      }
      if (!largest) return;
      largest.release();
      largest.end?.();
    }
  }

  /** To be called once for each. */
  released(answer: HeldAnswer): void {
    this.#held.delete(answer);
    this.#bytes -= answer.bytes;
  }
}
