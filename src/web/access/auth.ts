// Tokens with roles, compared in constant time, and the Host names that are accepted without tokens.
import { createHash, timingSafeEqual } from 'node:crypto';
import { BlockList, isIP, isIPv6 } from 'node:net';
import type { AlertMatch } from '../../core/alert.ts';
import type { Network } from '../../core/egress.ts';
import { fitsGlob } from '../../core/mailbox-pattern.ts';
import { minuteMs, secondMs } from '../../core/time.ts';
import type { World } from '../../world/world.ts';

export type Role = 'viewer' | 'operator' | 'scraper';

export interface Token {
  readonly name: string;
  readonly sha256: string;
  readonly role: Role;
  /** The token sees only what this matches; absent or null: all of the fleet. */
  readonly limits?: AlertMatch | null;
}

/** Sign-in by the headers of a proxy. */
export interface ProxySignIn {
  /** Names of the headers. */
  readonly user: string;
  readonly groups: string;
  /** The first one with a group of the user counts. */
  readonly roles: readonly (Pick<Token, 'limits'> & { readonly group: string; readonly role: 'viewer' | 'operator' })[];
  readonly trusted: readonly Network[];
}

export type Auth = 'none' | { readonly tokens: readonly Token[]; readonly proxyHeader?: ProxySignIn | null };

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

/** True if a Host header is accepted without tokens. Any other name may be that of another site (DNS rebinding). */
export function isOwnHost(host: string | undefined, listenHost: string, allowed: readonly string[] = []): boolean {
  const [, bracketed, plain] = /^(?:\[([^\]]+)\]|([^:]+))(?::\d+)?$/.exec(host ?? '') ?? [];
  const name = (bracketed ?? plain ?? '').toLowerCase().replace(/\.$/, '');
  if (name === 'localhost' || name.endsWith('.localhost') || isIP(name) !== 0) return true;
  return name !== '' && (name === listenHost.toLowerCase() || allowed.some((one) => fitsGlob(one, name)));
}

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

// Wrong tokens: logged, and refused with 429 after ten a minute from one address. A correct token is never counted.

const freeTries = 10;
/** Addresses of a minute with their own count. All others have one count together, which bounds memory and log. */
const maxAddresses = 100;

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

/** Removes the port, brackets, the zone, and the IPv6 notation of an IPv4 address. */
export function bareAddress(address: string | undefined): string {
  const text = address ?? '';
  const [, bracketed] = /^\[([^\]]+)\]/.exec(text) ?? [];
  const [, alone] = /^(\d+\.\d+\.\d+\.\d+):\d+$/.exec(text) ?? [];
  const [bare = ''] = (bracketed ?? alone ?? text).split('%');
  return /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(bare)?.[1] ?? bare;
}

/** Returns a function that tells whether one of the networks has an address. */
export function trustIn(networks: readonly Network[]): (address: string | undefined) => boolean {
  const known = new BlockList();
  for (const { address: first, bits, family } of networks) known.addSubnet(first, bits, family);
  return (address) => {
    const bare = bareAddress(address);
    const kind = isIP(bare);
    return kind !== 0 && known.check(bare, kind === 6 ? 'ipv6' : 'ipv4');
  };
}

/** Network of an address. IPv6 addresses are grouped by the 64 bits that a provider assigns to one customer. */
export function networkOf(address: string | undefined): string {
  const bare = bareAddress(address);
  if (!isIPv6(bare)) return bare || 'unknown';
  const [head = '', tail] = bare.split('::');
  const groups = head === '' ? [] : head.split(':');
  const behind = tail ? tail.split(':') : [];
  const zeros = tail === undefined ? [] : Array.from({ length: 8 - groups.length - behind.length }, () => '0');
  return `${[...groups, ...zeros, ...behind].slice(0, 4).join(':')}::/64`;
}
