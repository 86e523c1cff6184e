// Wrong tokens: counted by address, slowed, and logged once a minute. A correct token is never counted and never
// delayed.
import { isIPv6 } from 'node:net';
import { minuteMs, secondMs } from '../../core/time.ts';
import { systemClock, type World } from '../../world/world.ts';

/** Wrong tokens in a row that count as typing errors. */
const freeTries = 10;
/** Time until a wrong token is forgotten. */
const forgottenAfterMs = 6 * secondMs;
/** Largest number that is counted beyond the free tries, so that the longest wait is 5 minutes. */
const maxExcess = 50;
/** Delay that each wrong token beyond the free tries adds to its response, up to the longest delay. */
const delayStepMs = 50;
const longestDelayMs = 500;
/** Responses that are delayed at the same time; further ones are sent at once, so that connections don't accumulate. */
const maxDelayed = 64;
/** Addresses in memory; the least recently seen one is forgotten first. */
const maxAddresses = 4_096;
/** Addresses with their own line in a minute's log. */
const maxLines = 100;

interface Bucket {
  /** Number of wrong tokens that are not forgotten yet, as of `at`. */
  level: number;
  at: number;
}

export class WrongTokens {
  readonly #world: World;
  readonly #buckets = new Map<string, Bucket>();
  /** Counts that are not logged yet, by address. */
  readonly #unsaid = new Map<string, number>();
  /** Count that is not logged yet, for addresses without their own line. */
  #unsaidElsewhere = 0;
  readonly #closing = new AbortController();
  #minuteRuns = false;
  #delayed = 0;

  constructor(world: World) {
    this.#world = world;
  }

  /** Number of addresses in memory. */
  get size(): number {
    return this.#buckets.size;
  }

  /**
   * Counts a wrong token and waits for the delay of its response. Returns null for the response that the token is
   * wrong. Returns the seconds until the next try if there were too many.
   */
  async slow(address: string | undefined): Promise<number | null> {
    const excess = this.note(networkOf(address));
    if (excess <= 0) return null;
    if (this.#delayed < maxDelayed) {
      this.#delayed += 1;
      // The delay is in real time, even if the daemon's clock is simulated.
      await systemClock().sleep(Math.min(excess * delayStepMs, longestDelayMs), this.#closing.signal);
      this.#delayed -= 1;
    }
    return Math.ceil((excess * forgottenAfterMs) / secondMs);
  }

  /** Counts a wrong token. Returns the number beyond the free tries of the network. */
  note(network: string): number {
    const now = this.#world.clock.monotonic();
    const bucket = this.#buckets.get(network) ?? { level: 0, at: now };
    const left = Math.max(0, bucket.level - (now - bucket.at) / forgottenAfterMs);
    const level = Math.min(left + 1, freeTries + maxExcess);
    this.#buckets.delete(network);
    this.#buckets.set(network, { level, at: now });
    const [oldest] = this.#buckets.keys();
    if (this.#buckets.size > maxAddresses && oldest !== undefined) this.#buckets.delete(oldest);
    this.#count(network);
    return level - freeTries;
  }

  /** Logs the remaining counts, and ends all delays. */
  close(): void {
    this.#closing.abort();
    this.#say();
  }

  #count(network: string): void {
    const unsaid = this.#unsaid.get(network);
    if (unsaid === undefined && this.#unsaid.size >= maxLines) this.#unsaidElsewhere += 1;
    else this.#unsaid.set(network, (unsaid ?? 0) + 1);
    if (this.#minuteRuns) return;
    this.#minuteRuns = true;
    void this.#world.clock.sleep(minuteMs, this.#closing.signal).then(() => {
      this.#minuteRuns = false;
      this.#say();
    });
  }

  #say(): void {
    const { log } = this.#world;
    for (const [address, count] of this.#unsaid) log.warn({ address, count }, 'wrong tokens');
    if (this.#unsaidElsewhere > 0) log.warn({ count: this.#unsaidElsewhere }, 'wrong tokens from further addresses');
    this.#unsaid.clear();
    this.#unsaidElsewhere = 0;
  }
}

/** Text of the response that replaces a further 401. */
export function tooManyWrong(waitSeconds: number): string {
  return `Too many wrong tokens came from this address: try again in ${waitSeconds} s. A correct token is accepted at any time.`;
}

/**
 * Network of an address. IPv6 addresses are grouped by their first 64 bits, the size that a provider assigns to one
 * customer.
 */
export function networkOf(address: string | undefined): string {
  if (address === undefined) return 'unknown';
  const [bare = ''] = address.split('%');
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(bare)?.[1];
  if (mapped !== undefined || !isIPv6(bare)) return mapped ?? bare;
  const [head = '', tail] = bare.split('::');
  const groups = head === '' ? [] : head.split(':');
  const behind = tail === undefined || tail === '' ? 0 : tail.split(':').length;
  const zeros = tail === undefined ? 0 : 8 - groups.length - behind;
  const whole = [...groups, ...Array.from({ length: zeros }, () => '0'), ...(tail?.split(':') ?? [])];
  return `${whole.slice(0, 4).join(':')}::/64`;
}
