// How many requests are carried out at once: a further one waits for its turn, and of too many the rest are refused.

export interface TurnstileLimits {
  readonly atOnce: number;
  readonly waiting: number;
}

export class Turnstile {
  readonly #limits: TurnstileLimits;
  #underWay = 0;
  /** In the order in which they came. */
  readonly #waiting: (() => void)[] = [];

  constructor(limits: TurnstileLimits) {
    this.#limits = limits;
  }

  /** Runs the work in its turn. null: refused, because too many wait already; the work was not begun. */
  async take<Result>(work: () => Promise<Result>): Promise<Result | null> {
    const { atOnce, waiting } = this.#limits;
    if (this.#underWay < atOnce) this.#underWay += 1;
    else if (this.#waiting.length >= waiting) return null;
    // Whoever ends hands its place on.
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      if (next) next();
      else this.#underWay -= 1;
    }
  }
}
