// Refusals of the recipe routes: the word in `error`, its status, and its meaning. The rate limit of a recipe key.

import type { Context } from 'hono';
import type { RecipeRefusal } from '../../core/recipe.ts';

interface DescribedRefusal {
  readonly status: 400 | 401 | 403 | 404 | 410 | 429 | 500 | 503;
  readonly meaning: string;
}

export const recipeRefusals = {
  bad_request: {
    status: 400,
    meaning: 'A parameter of the query is wrong, or the body cannot be read or is larger than 64 KiB.',
  },
  bad_parameters: { status: 400, meaning: 'A parameter of the recipe is wrong.' },
  unauthorized: { status: 401, meaning: 'The key is missing or wrong.' },
  not_allowed: { status: 403, meaning: 'The role of the key may not do this.' },
  unknown_recipe: { status: 404, meaning: 'The recipe does not exist.' },
  unknown_run: { status: 404, meaning: 'The run does not exist.' },
  not_found: { status: 404, meaning: 'There is no such route.' },
  pruned: { status: 410, meaning: 'The run was deleted because of its age or its size.' },
  rate_limited: {
    status: 429,
    meaning: 'The requests of the plan for this minute are used up, or too many wrong keys came from this address.',
  },
  share_used: { status: 429, meaning: '25 runs of this key are waiting.' },
  failed: { status: 500, meaning: 'Warmwarden could not answer; the log says why.' },
  busy: { status: 503, meaning: '100 runs are waiting.' },
} as const satisfies Readonly<Record<string, DescribedRefusal>> &
  Readonly<Record<RecipeRefusal['refused'], DescribedRefusal>>;

export type RecipeRefusalWord = keyof typeof recipeRefusals;

const waitForRoom = '5';

/** Status of a refusal. Sets Retry-After if waiting helps. */
export function statusOf(c: Context, { refused }: RecipeRefusal) {
  if (refused === 'busy' || refused === 'share_used') c.header('Retry-After', waitForRoom);
  return recipeRefusals[refused].status;
}

/** Requests per minute by plan (api/recipe-run-interface.md section 8). */
const requestsPerMinute = { pro: 60, cloud: 600, agency: 6_000 } as const;
export type KeyPlan = keyof typeof requestsPerMinute;

const windowMs = 60_000;

interface Allowance {
  readonly allowed: boolean;
  readonly limit: number;
  /** Requests left in this window, after this request. */
  readonly remaining: number;
  /** Whole seconds until a request is allowed again, at least 1; 0 if this one is allowed. */
  readonly retryAfterSeconds: number;
}

/** Counts the requests of each key in the last 60 s. `now` is monotonic, in milliseconds. A refused request does not count. */
export class RateLimit {
  readonly #starts = new Map<string, number[]>();

  take(name: string, plan: KeyPlan, now: number): Allowance {
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
