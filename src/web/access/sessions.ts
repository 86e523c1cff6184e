// Sessions. The only cookie holds a random key of the browser, which a sign-in signs and forms prove to know.
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Context } from 'hono';
import { getCookie, setCookie } from 'hono/cookie';
import { dayMs, type EpochMs, hourMs, minuteMs, secondMs } from '../../core/time.ts';
import type { World } from '../../world/world.ts';
import { formTokenField } from '../page/layout.ts';
import { bodyOf, refuse } from '../refusals.ts';
import type { Auth, Token } from './auth.ts';

const keyBytes = 32;
const keyPattern = /^[A-Za-z0-9_-]{43}(?=\.|$)/;
const idleLifeMs = 12 * hourMs;
const wholeLifeMs = 7 * dayMs;
/** Least time between two records of the use of a session, in its cookie. */
const renewedEveryMs = 5 * minuteMs;

/** Cookie settings: `secure` under https; `pathPrefix` separates several Warmwardens on one host. */
export interface CookieKind {
  readonly secure: boolean;
  readonly pathPrefix: string;
}

declare module 'hono' {
  interface ContextVariableMap {
    cookie: CookieKind;
  }
}

function newBrowserKey(): string {
  return randomBytes(keyBytes).toString('base64url');
}

function cookieOf(c: Context): string | undefined {
  const kind = c.get('cookie');
  // Browsers refuse this prefix to a page without https, so no such page can have planted the cookie.
  return kind.secure ? getCookie(c, nameOf(kind), 'host') : getCookie(c, nameOf(kind));
}

/** Key of the browser, signed in or not, or null if the cookie is absent or has an invalid key. */
export function browserKeyOf(c: Context): string | null {
  return keyPattern.exec(cookieOf(c) ?? '')?.[0] ?? null;
}

/** Sets the cookie. An empty value removes it. */
export function setCookieOf(c: Context, value: string): void {
  const kind = c.get('cookie');
  const maxAge = value === '' ? 0 : wholeLifeMs / secondMs;
  // Lax, because a link in a message must open with the session. Requests from other sites are refused by other checks.
  const options = { path: '/', httpOnly: true, sameSite: 'Lax', maxAge } as const;
  setCookie(c, nameOf(kind), value, kind.secure ? { ...options, secure: true, prefix: 'host' } : options);
}

function nameOf({ pathPrefix }: CookieKind): string {
  return `warmwarden${pathPrefix.replace(/[^A-Za-z0-9]+/g, '-')}`;
}

/** Value of a form's hidden field. It can't be computed without the cookie, and does not reveal the cookie. */
export function formTokenOf(key: string): string {
  return createHmac('sha256', key).update('form').digest('base64url');
}

/** Compares in constant time. */
function isSame(wanted: string, presented: string): boolean {
  const [known, given] = [Buffer.from(wanted), Buffer.from(presented)];
  return known.length === given.length && timingSafeEqual(known, given);
}

/** Text of a signed session: key of the browser, moments of its start and last use, signature. */
const sessionPattern = /^([\w-]{43})\.(\d{1,16})\.(\d{1,16})\.([\w-]{43})$/;

interface Session {
  readonly key: string;
  readonly startedAt: EpochMs;
  readonly usedAt: EpochMs;
}

export class Sessions {
  readonly #secret: string;
  readonly #clock: World['clock'];
  readonly #auth: () => Auth;

  /** `secret` outlives a restart. */
  constructor(secret: string, { clock }: World, auth: () => Auth) {
    this.#secret = secret;
    this.#clock = clock;
    this.#auth = auth;
  }

  /** Signs a browser in, with a new key, because another person may have planted the old one. */
  start(c: Context, token: Token): void {
    const now = this.#clock.now();
    this.#give(c, token, { key: newBrowserKey(), startedAt: now, usedAt: now });
  }

  /** Token of the browser's session, or null if there is none, it is over, or its token was changed or removed. */
  tokenOf(c: Context): Token | null {
    const auth = this.#auth();
    const [, key, started, used, signature] = sessionPattern.exec(cookieOf(c) ?? '') ?? [];
    if (auth === 'none' || key === undefined || signature === undefined) return null;
    const signed = { key, startedAt: Number(started), usedAt: Number(used) };
    const token = auth.tokens.find((one) => isSame(this.#signatureOf(one, signed), signature));
    if (!token) return null;
    const now = this.#clock.now();
    // Times in the future, from a clock that was ahead, are set to now, so that they do not prolong the session.
    const startedAt = Math.min(signed.startedAt, now);
    if (now - signed.usedAt >= idleLifeMs || now - startedAt >= wholeLifeMs) return null;
    if (Math.abs(now - signed.usedAt) >= renewedEveryMs) this.#give(c, token, { key, startedAt, usedAt: now });
    return token;
  }

  #give(c: Context, token: Token, session: Session): void {
    const { key, startedAt, usedAt } = session;
    setCookieOf(c, [key, startedAt, usedAt, this.#signatureOf(token, session)].join('.'));
  }

  /** The secret alone signs nothing: a signature also needs the digest of the token, which the store does not have. */
  #signatureOf({ name, sha256, role }: Token, { key, startedAt, usedAt }: Session): string {
    const signed = [name, sha256.toLowerCase(), role, key, startedAt, usedAt];
    return createHmac('sha256', this.#secret).update(JSON.stringify(signed)).digest('base64url');
  }
}

// Forms of the server's own pages. Refuses forms that another site sent, and forms of an outdated page.

type Sent = { readonly form: URLSearchParams } | { readonly refused: ReturnType<typeof refuse> };

/** True if a web page sent a request, by its browser's headers. */
export function isFromAnyPage(c: Context): boolean {
  return c.req.header('origin') !== undefined || c.req.header('sec-fetch-site') !== undefined;
}

/** Returns false for a browser's request from another site. Proxies may change the Host, but not `publicUrl`. */
function isFromOurPage(c: Context, publicUrl: string | null): boolean {
  const site = c.req.header('sec-fetch-site');
  if (site !== undefined) return site === 'same-origin' || site === 'none';
  const origin = c.req.header('origin');
  // A request without an origin does not come from a browser; forms need their own token in any case.
  if (origin === undefined) return true;
  if (!URL.canParse(origin)) return false;
  const from = new URL(origin).host;
  return from === c.req.header('host')?.toLowerCase() || (publicUrl !== null && from === new URL(publicUrl).host);
}

/** Reads a form of one of the server's own pages, even if it was made for another browser. */
export async function formOf(c: Context, publicUrl: string | null): Promise<Sent> {
  if (!isFromOurPage(c, publicUrl)) {
    return { refused: refuse(c, 'cross_site', 'Another site sent this request, so Warmwarden did nothing.') };
  }
  if (!c.req.header('content-type')?.startsWith('application/x-www-form-urlencoded')) {
    return { refused: refuse(c, 'not_a_form', 'Send the form of the page, as application/x-www-form-urlencoded.') };
  }
  const body = await bodyOf(c);
  return 'refused' in body ? body : { form: new URLSearchParams(body.text) };
}

/** Like `formOf`, but refuses a form that was not made for this browser in its present session. */
export async function ownFormOf(c: Context, publicUrl: string | null): Promise<Sent> {
  const sent = await formOf(c, publicUrl);
  if ('refused' in sent) return sent;
  const key = browserKeyOf(c);
  if (key !== null && isSame(formTokenOf(key), sent.form.get(formTokenField) ?? '')) return sent;
  return { refused: refuse(c, 'stale_form', staleForm) };
}

const staleForm =
  'This form is no longer valid, so Warmwarden did nothing. Go back, reload the page, and send the form again. The browser must accept cookies.';

/** Value of a form's hidden field. Sets a key if the browser has none: forms are tied to a browser without a sign-in. */
export function formTokenFor(c: Context): string {
  const known = browserKeyOf(c);
  const key = known ?? newBrowserKey();
  if (known === null) setCookieOf(c, key);
  return formTokenOf(key);
}
