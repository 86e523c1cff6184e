// Sessions. The only cookie holds a random key of the browser, which a sign-in records and forms prove to know.
import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Context } from 'hono';
import { getCookie, setCookie } from 'hono/cookie';
import type { Session, SessionLimits } from '../../core/records.ts';
import { dayMs, type EpochMs, hourMs, minuteMs, secondMs } from '../../core/time.ts';
import type { World } from '../../world/world.ts';
import { formTokenField } from '../page/layout.ts';
import { bodyOf, refuse } from '../refusals.ts';
import type { Auth, Token } from './auth.ts';

const keyBytes = 32;
const keyPattern = /^[A-Za-z0-9_-]{43}$/;
const idleLifeMs = 12 * hourMs;
const wholeLifeMs = 7 * dayMs;
/** Largest number of sessions per token; above it the least recently used one ends. */
const sessionsPerToken = 100;
/** Least time between two records of the use of a session. */
const notedEveryMs = 5 * minuteMs;
/** Number of sessions in memory, for times when the store can't be read. */
const maxRemembered = 1_000;

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

/** Key of the browser, or null if the cookie is absent or has an invalid key. */
export function browserKeyOf(c: Context): string | null {
  const kind = c.get('cookie');
  // Browsers refuse this prefix to a page without https, so no such page can have planted the cookie.
  const found = kind.secure ? getCookie(c, nameOf(kind), 'host') : getCookie(c, nameOf(kind));
  return found !== undefined && keyPattern.test(found) ? found : null;
}

/** Sets the key of the browser. An empty key removes the cookie. */
export function setBrowserKey(c: Context, key: string): void {
  const kind = c.get('cookie');
  const maxAge = key === '' ? 0 : wholeLifeMs / secondMs;
  // Lax, because a link in a message must open with the session. Requests from other sites are refused by other checks.
  const options = { path: '/', httpOnly: true, sameSite: 'Lax', maxAge } as const;
  setCookie(c, nameOf(kind), key, kind.secure ? { ...options, secure: true, prefix: 'host' } : options);
}

function nameOf({ pathPrefix }: CookieKind): string {
  return `warmwarden${pathPrefix.replace(/[^A-Za-z0-9]+/g, '-')}`;
}

function digestOf(key: string): string {
  return createHash('sha256').update(key).digest('hex');
}

/** Value of a form's hidden field. It can't be computed without the cookie, and does not reveal the cookie. */
export function formTokenOf(key: string): string {
  return createHmac('sha256', key).update('form').digest('base64url');
}

function isFormTokenOf(key: string, presented: string): boolean {
  const [wanted, given] = [Buffer.from(formTokenOf(key)), Buffer.from(presented)];
  return wanted.length === given.length && timingSafeEqual(wanted, given);
}

export interface SessionSource {
  find(id: string): Promise<Session | null>;
  start(session: Session, limits: SessionLimits): Promise<void>;
  used(id: string, at: EpochMs): Promise<void>;
  end(id: string): Promise<void>;
}

export class Sessions {
  readonly #source: SessionSource;
  readonly #world: World;
  readonly #auth: () => Auth;
  readonly #remembered = new Map<string, Session>();

  constructor(source: SessionSource, world: World, auth: () => Auth) {
    this.#source = source;
    this.#world = world;
    this.#auth = auth;
  }

  /** Token of a session, or null if the session does not exist, has expired, or its token was changed or removed. */
  async tokenOf(key: string): Promise<Token | null> {
    const auth = this.#auth();
    const found = auth === 'none' ? null : await this.#find(digestOf(key));
    if (auth === 'none' || !found) return null;
    const now = this.#world.clock.now();
    // Times in the future, from a clock that was ahead, are set to now, so that they do not prolong the session.
    const session = { ...found, startedAt: Math.min(found.startedAt, now), usedAt: Math.min(found.usedAt, now) };
    const isAhead = session.startedAt !== found.startedAt || session.usedAt !== found.usedAt;
    if (now - session.usedAt >= idleLifeMs || now - session.startedAt >= wholeLifeMs) return null;
    const token = auth.tokens.find((one) => fingerprintOf(one) === session.token);
    if (token && (isAhead || now - session.usedAt >= notedEveryMs)) this.#note(session, now);
    return token ?? null;
  }

  /** Signs a browser in and returns its new key. Rejects if the session can't be recorded. */
  async start(token: Token): Promise<string> {
    const now = this.#world.clock.now();
    const key = newBrowserKey();
    const session = { id: digestOf(key), token: fingerprintOf(token), startedAt: now, usedAt: now };
    const limits = { startedAfter: now - wholeLifeMs, usedAfter: now - idleLifeMs, perToken: sessionsPerToken };
    await this.#source.start(session, limits);
    return key;
  }

  async end(key: string): Promise<void> {
    const id = digestOf(key);
    this.#remembered.delete(id);
    await this.#source.end(id);
  }

  /** Reads a session, or takes it from memory: a signed-in person stays signed in while the store is down. */
  async #find(id: string): Promise<Session | null> {
    try {
      const session = await this.#source.find(id);
      if (session) this.#remember(session);
      else this.#remembered.delete(id);
      return session;
    } catch (error) {
      this.#world.log.error({ err: error }, 'a session could not be read');
      return this.#remembered.get(id) ?? null;
    }
  }

  /** Records the use of a session in the background, because pages must open although the store refuses writes. */
  #note(session: Session, now: EpochMs): void {
    this.#remember({ ...session, usedAt: now });
    void this.#source.used(session.id, now).catch((error: unknown) => {
      this.#world.log.error({ err: error }, 'the use of a session could not be recorded');
    });
  }

  #remember(session: Session): void {
    this.#remembered.delete(session.id);
    this.#remembered.set(session.id, session);
    const [oldest] = this.#remembered.keys();
    if (this.#remembered.size > maxRemembered && oldest !== undefined) this.#remembered.delete(oldest);
  }
}

function fingerprintOf({ name, sha256, role }: Token): string {
  return createHash('sha256')
    .update(JSON.stringify([name, sha256.toLowerCase(), role]))
    .digest('hex');
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
  if (key !== null && isFormTokenOf(key, sent.form.get(formTokenField) ?? '')) return sent;
  return { refused: refuse(c, 'stale_form', staleForm) };
}

const staleForm =
  'This form is no longer valid, so Warmwarden did nothing. Go back, reload the page, and send the form again. The browser must accept cookies.';

/** Value of a form's hidden field. Sets a key if the browser has none: forms are tied to a browser without a sign-in. */
export function formTokenFor(c: Context): string {
  const known = browserKeyOf(c);
  const key = known ?? newBrowserKey();
  if (known === null) setBrowserKey(c, key);
  return formTokenOf(key);
}
