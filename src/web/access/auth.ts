// Tokens with roles, compared in constant time, and the Host names that are accepted without tokens.
import { createHash, timingSafeEqual } from 'node:crypto';
import { isIP } from 'node:net';
import { fitsGlob } from '../../core/mailbox-pattern.ts';

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

/**
 * Like `operatorOf`, but for a reload. Without tokens every request may reload, because a reload only applies the
 * configuration file.
 */
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
