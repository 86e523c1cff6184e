// Tokens with roles, compared in constant time, and the Host names that are accepted without tokens.
import { createHash, timingSafeEqual } from 'node:crypto';
import { isIP } from 'node:net';
import type { Context } from 'hono';
import type { AlertMatch } from '../../core/alert.ts';
import type { Network } from '../../core/egress.ts';
import { fitsGlob } from '../../core/mailbox-pattern.ts';

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

/** True for a request over the socket: its user owns the process, and may do what the process may. */
export function isOwner(c: Context): boolean {
  return c.env?.isOwner === true;
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
