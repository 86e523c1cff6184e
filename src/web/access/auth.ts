// Tokens with roles, compared in constant time, and the Host names that are believed without tokens.
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

/** Finds the token that a text is, or null. */
export function recognize<Found extends Known>(tokens: readonly Found[], presented: string): Found | null {
  const digest = createHash('sha256').update(presented).digest();
  // Compares with every token, so that the time says nothing about which one it was.
  const found = tokens.filter(({ sha256 }) => timingSafeEqual(digest, Buffer.from(sha256, 'hex')));
  return found[0] ?? null;
}

/** Finds the token of an Authorization header: Bearer, or Basic with the token as the password. */
export function authenticate<Found extends Known>(
  tokens: readonly Found[],
  authorization: string | undefined,
): Found | null {
  const [, scheme, credentials = ''] = /^(bearer|basic)\s+(\S+)\s*$/i.exec(authorization ?? '') ?? [];
  if (scheme === undefined) return null;
  if (scheme.toLowerCase() === 'bearer') return recognize(tokens, credentials);
  const [, password = ''] = /^[^:]*:(.*)$/s.exec(Buffer.from(credentials, 'base64').toString('utf8')) ?? [];
  // An empty password proves nothing, whatever digests are configured.
  return password.trim() === '' ? null : recognize(tokens, password);
}

/** Name on the token of a request that may operate; null where it may not, and where there are no tokens. */
export function operatorOf(auth: Auth, authorization: string | undefined): string | null {
  if (auth === 'none') return null;
  const token = authenticate(auth.tokens, authorization);
  return token?.role === 'operator' ? token.name : null;
}

/** Like `operatorOf`, for a reload: without tokens everybody may reload, because it changes nothing that the file does not say. */
export function reloaderOf(auth: Auth, authorization: string | undefined): string | null {
  return auth === 'none' ? 'somebody over HTTP' : operatorOf(auth, authorization);
}

/** Whether a role may see a path. A scraper sees the metrics and nothing else. */
export function mayRead(role: Role, path: string): boolean {
  return role !== 'scraper' || path === '/metrics';
}

/**
 * Whether a Host header may be answered without tokens: a loopback name, an address, the name that we listen on, or one that is
 * allowed (a name, or a glob). Any other name may be a stranger's page whose DNS was turned to us (DNS rebinding).
 */
export function isOwnHost(host: string | undefined, listenHost: string, allowed: readonly string[] = []): boolean {
  const [, bracketed, plain] = /^(?:\[([^\]]+)\]|([^:]+))(?::\d+)?$/.exec(host ?? '') ?? [];
  const name = (bracketed ?? plain ?? '').toLowerCase().replace(/\.$/, '');
  if (name === 'localhost' || name.endsWith('.localhost') || isIP(name) !== 0) return true;
  return name !== '' && (name === listenHost.toLowerCase() || allowed.some((one) => fitsGlob(one, name)));
}
