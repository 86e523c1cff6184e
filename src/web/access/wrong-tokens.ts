// Wrong tokens: counted by address, slowed, and logged once a minute. A right token is never counted and never waits.
import { isIPv6 } from 'node:net';
import { minuteMs, secondMs } from '../../core/time.ts';
import { systemClock, type World } from '../../world/world.ts';

/** So many wrong tokens in a row are a person's typing errors. */
const freeTries = 10;
/** How long it takes until one of them is forgotten. */
const forgottenAfterMs = 6 * secondMs;
/** More than so many beyond the free ones are remembered as this many: the longest wait is 5 minutes. */
const maxExcess = 50;
/** Each wrong token beyond the free ones is answered this much later than the one before, up to the longest. */
const delayStepMs = 50;
const longestDelayMs = 500;
/** Answers that are held back at a time; beyond them an answer goes out at once, so that connections don't pile up. */
const maxDelayed = 64;
/** Addresses that are remembered; the one that was seen longest ago is forgotten first. */
const maxAddresses = 4_096;
/** Addresses that have a line of their own in a minute's log. */
const maxLines = 100;

interface Bucket {
  /** Wrong tokens that are not forgotten yet, as of `at`. */
  level: number;
  at: number;
}

export class WrongTokens {
  readonly #world: World;
  readonly #buckets = new Map<string, Bucket>();
  /** Not logged yet, by address. */
  readonly #unsaid = new Map<string, number>();
  /** Not logged yet, from addresses that have no line of their own. */
  #unsaidElsewhere = 0;
  readonly #closing = new AbortController();
  #minuteRuns = false;
  #delayed = 0;

  constructor(world: World) {
    this.#world = world;
  }

  /** How many addresses are remembered. */
  get size(): number {
    return this.#buckets.size;
  }

  /**
   * Counts a wrong token and waits as long as its answer should be held back. null: answer that the token is wrong;
   * otherwise that there were too many, and the seconds after which to try again.
   */
  async slow(address: string | undefined): Promise<number | null> {
    const excess = this.note(networkOf(address));
    if (excess <= 0) return null;
    if (this.#delayed < maxDelayed) {
      this.#delayed += 1;
      // Answers are held back in the machine's time, also where the daemon's clock is moved by hand.
      await systemClock().sleep(Math.min(excess * delayStepMs, longestDelayMs), this.#closing.signal);
      this.#delayed -= 1;
    }
    return Math.ceil((excess * forgottenAfterMs) / secondMs);
  }

  /** Counts a wrong token; how many there are beyond the free ones of this network. */
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

  /** Logs what is not logged yet, and ends what waits. */
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

/** What is answered instead of another 401. */
export function tooManyWrong(waitSeconds: number): string {
  return `Too many wrong tokens came from this address: try again in ${waitSeconds} s. A correct token is accepted at any time.`;
}

/** Whose address it is: of IPv6 the first 64 bits, because that is what one customer is given. */
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
