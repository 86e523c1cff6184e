// The one cookie: a random key that tells browsers apart. A browser signs in by having its key recorded as a session, and
// the forms that it is given carry a value that only this key leads to, so that no other site can fill them in.
import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Context } from 'hono';
import { getCookie, setCookie } from 'hono/cookie';

const keyBytes = 32;
/** What keyBytes look like in base64url. */
const keyPattern = /^[A-Za-z0-9_-]{43}$/;
/** A browser keeps the cookie as long as a session may last, and no longer than that. */
const keptSeconds = 7 * 24 * 60 * 60;

/** How the cookie is set: `secure` under https, `pathPrefix` tells several Warmwardens on one host apart. */
export interface CookieKind {
  readonly secure: boolean;
  readonly pathPrefix: string;
}

export function newBrowserKey(): string {
  return randomBytes(keyBytes).toString('base64url');
}

/** null: it has none, or something that is no key of ours. */
export function browserKeyOf(c: Context, kind: CookieKind): string | null {
  // What a page without https could have planted is not believed under https: browsers refuse it the name.
  const found = kind.secure ? getCookie(c, nameOf(kind), 'host') : getCookie(c, nameOf(kind));
  return found !== undefined && keyPattern.test(found) ? found : null;
}

export function setBrowserKey(c: Context, key: string, kind: CookieKind): void {
  setCookie(c, nameOf(kind), key, { ...optionsOf(kind), maxAge: keptSeconds });
}

export function clearBrowserKey(c: Context, kind: CookieKind): void {
  setCookie(c, nameOf(kind), '', { ...optionsOf(kind), maxAge: 0 });
}

function optionsOf({ secure }: CookieKind) {
  // Lax: a link in a message must arrive signed in. What is sent from elsewhere is refused on other grounds.
  const common = { path: '/', httpOnly: true, sameSite: 'Lax' } as const;
  return secure ? ({ ...common, secure: true, prefix: 'host' } as const) : common;
}

function nameOf({ pathPrefix }: CookieKind): string {
  return `warmwarden${pathPrefix.replace(/[^A-Za-z0-9]+/g, '-')}`;
}

/** What the store knows a browser by: 64 hex digits. */
export function digestOf(key: string): string {
  return createHash('sha256').update(key).digest('hex');
}

/** The value of a form's hidden field: it can't be made without the cookie, nor the cookie of it. */
export function formTokenOf(key: string): string {
  return createHmac('sha256', key).update('form').digest('base64url');
}

export function isFormTokenOf(key: string, presented: string): boolean {
  const [wanted, given] = [Buffer.from(formTokenOf(key)), Buffer.from(presented)];
  return wanted.length === given.length && timingSafeEqual(wanted, given);
}
