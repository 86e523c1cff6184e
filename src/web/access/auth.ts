// Who may ask: tokens with roles, compared in constant time, and the Host names that are believed without tokens.
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

export interface Identity {
  readonly name: string;
  readonly role: Role;
}

/** Finds whose token a text is; null: it is no token. Throws an Error with a sentence when a digest is no SHA-256 in hex. */
export function createRecognize<Known extends Pick<Token, 'name' | 'sha256'>>(tokens: readonly Known[]) {
  const known = tokens.map((token) => {
    const { name, sha256 } = token;
    if (!/^[0-9a-f]{64}$/i.test(sha256)) throw new Error(`the sha256 of token ${name} is not 64 hex digits`);
    return { token, digest: Buffer.from(sha256, 'hex') };
  });
  return (presented: string): Known | null => {
    const digest = createHash('sha256').update(presented).digest();
    let found: Known | null = null;
    // All of them, every time: how long it takes tells nothing about which one it was.
    for (const { token, digest: expected } of known) {
      if (timingSafeEqual(digest, expected) && found === null) found = token;
    }
    return found;
  };
}

/** Finds who an Authorization header belongs to: Bearer, or Basic with the token as the password. null: nobody. */
export function createAuthenticate<Known extends Pick<Token, 'name' | 'sha256'>>(tokens: readonly Known[]) {
  const recognize = createRecognize(tokens);
  return (authorization: string | undefined): Known | null => {
    const presented = presentedToken(authorization);
    return presented === null ? null : recognize(presented);
  };
}

function presentedToken(authorization: string | undefined): string | null {
  const [, scheme, credentials] = /^(bearer|basic)\s+(\S+)\s*$/i.exec(authorization ?? '') ?? [];
  if (scheme === undefined || credentials === undefined) return null;
  if (scheme.toLowerCase() === 'bearer') return credentials;
  const pair = Buffer.from(credentials, 'base64').toString('utf8');
  const colon = pair.indexOf(':');
  const password = colon < 0 ? '' : pair.slice(colon + 1);
  // Whatever digests are configured: a password that is empty proves nothing.
  return password.trim() === '' ? null : password;
}

/** The name on the token of a request, when it may operate; null where it may not, and where there are no tokens. */
export function operatorOf(auth: Auth, authorization: string | undefined): string | null {
  if (auth === 'none') return null;
  const identity = createAuthenticate(auth.tokens)(authorization);
  return identity?.role === 'operator' ? identity.name : null;
}

/**
 * As above, for a reload: where nobody needs a token, everybody who gets through may reload. It changes nothing that the
 * file does not say.
 */
export function reloaderOf(auth: Auth, authorization: string | undefined): string | null {
  return auth === 'none' ? 'somebody over HTTP' : operatorOf(auth, authorization);
}

/** Whether a role may see a path. A scraper sees the metrics and nothing else. */
export function mayRead(role: Role, path: string): boolean {
  return role !== 'scraper' || path === '/metrics';
}

/**
 * Whether a Host header may be answered without tokens: a loopback name, an address, the name that we listen on, or one that is
 * allowed (a name, or a glob).
 * Any other name may be a stranger's page whose DNS was turned to us (DNS rebinding).
 */
export function isOwnHost(host: string | undefined, listenHost: string, allowed: readonly string[] = []): boolean {
  const [, bracketed, plain] = /^(?:\[([^\]]+)\]|([^:]+))(?::\d+)?$/.exec(host ?? '') ?? [];
  const name = (bracketed ?? plain ?? '').toLowerCase().replace(/\.$/, '');
  if (name === 'localhost' || name.endsWith('.localhost')) return true;
  if (isIP(name) !== 0) return true;
  return name !== '' && (name === listenHost.toLowerCase() || allowed.some((one) => fitsGlob(one, name)));
}
