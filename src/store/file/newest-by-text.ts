// A cache of values by text, limited by the letters of all texts: the least recently used goes first.

export class NewestByText<Value> {
  readonly #maxLetters: number;
  /** The one that was asked for longest ago first. */
  readonly #values = new Map<string, Value>();
  #letters = 0;

  constructor(maxLetters: number) {
    this.#maxLetters = maxLetters;
  }

  get(text: string): Value | undefined {
    const value = this.#values.get(text);
    if (value === undefined) return undefined;
    this.#values.delete(text);
    this.#values.set(text, value);
    return value;
  }

  clear(): void {
    this.#values.clear();
    this.#letters = 0;
  }

  /** A text that is longer than all may be together is not kept. */
  keep(text: string, value: Value): void {
    if (text.length > this.#maxLetters || this.#values.has(text)) return;
    this.#values.set(text, value);
    this.#letters += text.length;
    for (const oldest of this.#values.keys()) {
      if (this.#letters <= this.#maxLetters) return;
      this.#values.delete(oldest);
      this.#letters -= oldest.length;
    }
  }
}
