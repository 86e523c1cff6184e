// Tokens with roles, compared in constant time, and the Host names that are accepted without tokens.
import { createHash, timingSafeEqual } from 'node:crypto';
import { isIP, isIPv6 } from 'node:net';
import { fitsGlob } from '../../core/mailbox-pattern.ts';
import { minuteMs, secondMs } from '../../core/time.ts';
import type { World } from '../../world/world.ts';

export type Role = 'viewer' | 'operator' | 'scraper';

export interface Token {
  readonly name: string;
  /** SHA-256 of the token, 64 hex digits. */
  readonly sha256: string;
  readonly role: Role;
}

export type Auth = 'none' | { readonly tokens: readonly Token[] };

type Known = Pick<Token, 'name' | 'sha256'>;

export function recognize<Found extends Known>(tokens: readonly Found[], presented: string): Found | null {
  const digest = createHash('sha256').update(presented).digest();
  // Every token is compared, so that the duration does not reveal which one matched.
  const found = tokens.filter(({ sha256 }) => timingSafeEqual(digest, Buffer.from(sha256, 'hex')));
  return found[0] ?? null;
}

/** Finds the token of an Authorization header (Bearer, or Basic with the token as the password), or returns null. */
export function authenticate<Found extends Known>(
  tokens: readonly Found[],
  authorization: string | undefined,
): Found | null {
  const [, scheme, credentials = ''] = /^(bearer|basic)\s+(\S+)\s*$/i.exec(authorization ?? '') ?? [];
  if (scheme === undefined) return null;
  if (scheme.toLowerCase() === 'bearer') return recognize(tokens, credentials);
  const [, password = ''] = /^[^:]*:(.*)$/s.exec(Buffer.from(credentials, 'base64').toString('utf8')) ?? [];
  // An empty password is never valid, whatever digests are configured.
  return password.trim() === '' ? null : recognize(tokens, password);
}

/** Name of the request's token if it has the role operator. Null for other roles, and if no tokens are configured. */
export function operatorOf(auth: Auth, authorization: string | undefined): string | null {
  if (auth === 'none') return null;
  const token = authenticate(auth.tokens, authorization);
  return token?.role === 'operator' ? token.name : null;
}

/** Like `operatorOf`, for a reload. Without tokens everybody may reload, because a reload only applies the file. */
export function reloaderOf(auth: Auth, authorization: string | undefined): string | null {
  return auth === 'none' ? 'somebody over HTTP' : operatorOf(auth, authorization);
}

/** True if a role may read a path. A scraper may read only the metrics. */
export function mayRead(role: Role, path: string): boolean {
  return role !== 'scraper' || path === '/metrics';
}

/**
 * True if a Host header is accepted without tokens: a loopback name, an address, the name that the server listens on,
 * or an allowed name or glob. Any other name may come from another site's page whose DNS points to this server (DNS
 * rebinding).
 */
export function isOwnHost(host: string | undefined, listenHost: string, allowed: readonly string[] = []): boolean {
  const [, bracketed, plain] = /^(?:\[([^\]]+)\]|([^:]+))(?::\d+)?$/.exec(host ?? '') ?? [];
  const name = (bracketed ?? plain ?? '').toLowerCase().replace(/\.$/, '');
  if (name === 'localhost' || name.endsWith('.localhost') || isIP(name) !== 0) return true;
  return name !== '' && (name === listenHost.toLowerCase() || allowed.some((one) => fitsGlob(one, name)));
}

// Wrong tokens: counted by address and minute, refused with 429 after ten, and logged once a minute. A correct token is
// never counted.

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

  /**
   * Counts a wrong token. Returns the seconds until the next try if there were too many, or else null. An address
   * beyond `maxAddresses` has no count of its own, so it has no free tries either.
   */
  note(address: string | undefined): number | null {
    const now = this.#world.clock.monotonic();
    if (this.#endsAt === null) {
      this.#endsAt = now + minuteMs;
      void this.#world.clock.sleep(minuteMs, this.#closing.signal).then(() => this.#log());
    }
    const network = networkOf(address);
    const count = (this.#counts.get(network) ?? 0) + 1;
    const isCounted = count > 1 || this.#counts.size < maxAddresses;
    if (isCounted) this.#counts.set(network, count);
    else this.#elsewhere += 1;
    return !isCounted || count > freeTries ? Math.max(1, Math.ceil((this.#endsAt - now) / secondMs)) : null;
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
