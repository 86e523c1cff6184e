// How many requests a minute a recipe key may make: a window of the last 60 s, counted exactly.

/** Requests a minute by plan (api/recipe-run-interface.md section 8). */
export const requestsPerMinute = { pro: 60, cloud: 600, agency: 6_000 } as const;
export type Plan = keyof typeof requestsPerMinute;

const windowMs = 60_000;

export interface Allowance {
  readonly allowed: boolean;
  readonly limit: number;
  /** What is left in this window, after this request. */
  readonly remaining: number;
  /** When refused: whole seconds until a request is allowed again, at least 1. */
  readonly retryAfterSeconds: number;
}

/** Counts by name. `now` is on a scale that never jumps, milliseconds. A refused request does not count. */
export class RateLimit {
  readonly #starts = new Map<string, number[]>();

  take(name: string, plan: Plan, now: number): Allowance {
    const limit = requestsPerMinute[plan];
    const starts = this.#starts.get(name) ?? [];
    this.#starts.set(name, starts);
    const fresh = starts.findIndex((at) => at > now - windowMs);
    starts.splice(0, fresh < 0 ? starts.length : fresh);
    const [oldest] = starts;
    if (starts.length >= limit && oldest !== undefined) {
      const retryAfterSeconds = Math.max(1, Math.ceil((oldest + windowMs - now) / 1_000));
      return { allowed: false, limit, remaining: 0, retryAfterSeconds };
    }
    starts.push(now);
    return { allowed: true, limit, remaining: limit - starts.length, retryAfterSeconds: 0 };
  }
}
