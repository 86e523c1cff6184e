// Wrong tokens: counted by address and minute, refused with 429 after ten, and logged once a minute. A correct token is
// never counted.
import { isIPv6 } from 'node:net';
import { minuteMs, secondMs } from '../../core/time.ts';
import type { World } from '../../world/world.ts';

/** Wrong tokens in a minute that count as typing errors. */
const freeTries = 10;
/** Addresses of a minute with their own count and their own line in the log. */
const maxAddresses = 100;

export class WrongTokens {
  readonly #world: World;
  readonly #counts = new Map<string, number>();
  #elsewhere = 0;
  /** End of the present minute by the monotonic clock, or null if nothing was counted in it. */
  #endsAt: number | null = null;
  readonly #closing = new AbortController();

  constructor(world: World) {
    this.#world = world;
  }

  /** Counts a wrong token. Returns the seconds until the next try if there were too many, or else null. */
  note(address: string | undefined): number | null {
    const now = this.#world.clock.monotonic();
    if (this.#endsAt === null) {
      this.#endsAt = now + minuteMs;
      void this.#world.clock.sleep(minuteMs, this.#closing.signal).then(() => this.#log());
    }
    const network = networkOf(address);
    const count = (this.#counts.get(network) ?? 0) + 1;
    if (count === 1 && this.#counts.size >= maxAddresses) this.#elsewhere += 1;
    else this.#counts.set(network, count);
    return count > freeTries ? Math.max(1, Math.ceil((this.#endsAt - now) / secondMs)) : null;
  }

  close(): void {
    this.#closing.abort();
    this.#log();
  }

  #log(): void {
    const { log } = this.#world;
    for (const [address, count] of this.#counts) log.warn({ address, count }, 'wrong tokens');
    if (this.#elsewhere > 0) log.warn({ count: this.#elsewhere }, 'wrong tokens from further addresses');
    this.#counts.clear();
    this.#elsewhere = 0;
    this.#endsAt = null;
  }
}

export function tooManyWrong(waitSeconds: number): string {
  return `Too many wrong tokens came from this address: try again in ${waitSeconds} s. A correct token is accepted at any time.`;
}

/** Network of an address. IPv6 addresses are grouped by the 64 bits that a provider assigns to one customer. */
export function networkOf(address: string | undefined): string {
  if (address === undefined) return 'unknown';
  const [bare = ''] = address.split('%');
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(bare)?.[1];
  if (mapped !== undefined || !isIPv6(bare)) return mapped ?? bare;
  const [head = '', tail] = bare.split('::');
  const groups = head === '' ? [] : head.split(':');
  const behind = tail ? tail.split(':') : [];
  const zeros = tail === undefined ? [] : Array.from({ length: 8 - groups.length - behind.length }, () => '0');
  return `${[...groups, ...zeros, ...behind].slice(0, 4).join(':')}::/64`;
}
