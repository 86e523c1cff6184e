// How many requests of a name are allowed in a minute, and how many wrong tokens of an address.
import { minuteMs, secondMs } from '../../core/time.ts';
import type { World } from '../../world/world.ts';
import { networkOf } from './addresses.ts';

const windowMs = minuteMs;

/** Counts the requests of each name in the last 60 s. `now` is monotonic. A refused request does not count. */
export class RateLimit {
  readonly #starts = new Map<string, number[]>();

  get size(): number {
    return this.#starts.size;
  }

  has(name: string): boolean {
    return this.#starts.has(name);
  }

  /** Returns how many requests are left, and the whole seconds until the next one is allowed, or 0 if this one is. */
  take(name: string, limit: number, now: number): { readonly remaining: number; readonly waitSeconds: number } {
    for (const [other, starts] of this.#starts) {
      const fresh = starts.findIndex((at) => at > now - windowMs);
      if (fresh < 0) this.#starts.delete(other);
      else if (fresh > 0) starts.splice(0, fresh);
    }
    const starts = this.#starts.get(name) ?? [];
    const [oldest] = starts;
    if (starts.length >= limit && oldest !== undefined)
      return { remaining: 0, waitSeconds: Math.max(1, Math.ceil((oldest + windowMs - now) / secondMs)) };
    starts.push(now);
    this.#starts.set(name, starts);
    return { remaining: limit - starts.length, waitSeconds: 0 };
  }
}

const freeTries = 10;
/** Addresses of a minute with their own count. All others have one count together, which bounds memory and log. */
const maxAddresses = 100;

/** Wrong tokens are logged, and refused with 429 after ten a minute from one address. A correct token is never counted. */
export class WrongTokens {
  readonly #world: World;
  readonly #rates = new RateLimit();

  constructor(world: World) {
    this.#world = world;
  }

  /** Counts a wrong token. Returns the seconds until the next try if there were too many, or else 0. */
  note(address: string | undefined): number {
    const network = networkOf(address);
    const isCounted = this.#rates.has(network) || this.#rates.size < maxAddresses;
    const name = isCounted ? network : 'further addresses';
    const { waitSeconds } = this.#rates.take(name, freeTries, this.#world.clock.monotonic());
    if (waitSeconds === 0) this.#world.log.warn({ address: name }, 'wrong token');
    return waitSeconds;
  }
}

export function tooManyWrong(waitSeconds: number): string {
  return `Too many wrong tokens came from this address: try again in ${waitSeconds} s. A correct token is accepted at any time.`;
}
