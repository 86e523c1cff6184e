// Who is signed in: a browser whose key is recorded, while the token that it signed in with is configured.
import { createHash } from 'node:crypto';
import type { Session, SessionLimits } from '../../core/session.ts';
import { dayMs, type EpochMs, hourMs, minuteMs } from '../../core/time.ts';
import type { World } from '../../world/world.ts';
import type { Auth, Identity, Token } from './auth.ts';
import { digestOf, newBrowserKey } from './browser-key.ts';

/** A session that is not used for so long is over. */
const idleLifeMs = 12 * hourMs;
/** However much it is used, a session is over after so long. */
const wholeLifeMs = 7 * dayMs;
/** Of one token; beyond them the one that was not used for the longest ends. */
export const sessionsPerToken = 100;
/** How often it is written down that a session is used. */
const notedEveryMs = 5 * minuteMs;
/** Sessions that are remembered for when the store can't be read. */
const maxRemembered = 1_000;

/** Where sessions are kept. */
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

  /** `auth`: in force at present. */
  constructor(source: SessionSource, world: World, auth: () => Auth) {
    this.#source = source;
    this.#world = world;
    this.#auth = auth;
  }

  /** Whose session it is; null: there is none, it is over, or its token is not configured as it was. */
  async identityOf(key: string): Promise<Identity | null> {
    const auth = this.#auth();
    if (auth === 'none') return null;
    const found = await this.#find(digestOf(key));
    const now = this.#world.clock.now();
    const session = found && startedBy(found, now);
    if (!session || now - session.usedAt >= idleLifeMs || now - session.startedAt >= wholeLifeMs) return null;
    const token = auth.tokens.find((one) => fingerprintOf(one) === session.token);
    if (!token) return null;
    if (session !== found || now - session.usedAt >= notedEveryMs) this.#note(session, now);
    return { name: token.name, role: token.role };
  }

  /** Signs a browser in, and gives it a key that nobody knew before. Rejects when that can't be recorded. */
  async start(token: Token): Promise<string> {
    const now = this.#world.clock.now();
    const key = newBrowserKey();
    const session = { id: digestOf(key), token: fingerprintOf(token), startedAt: now, usedAt: now };
    const limits = { startedAfter: now - wholeLifeMs, usedAfter: now - idleLifeMs, perToken: sessionsPerToken };
    await this.#source.start(session, limits);
    return key;
  }

  /** Rejects when that can't be recorded. */
  async end(key: string): Promise<void> {
    const id = digestOf(key);
    this.#remembered.delete(id);
    await this.#source.end(id);
  }

  /** At 3 a.m. with a store that does not answer, who was signed in still is. */
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

  /** Nobody waits for it: the page must stand although the store takes nothing. */
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

/** As it is when the clock was ahead when it began, or was used: it lasts no longer than if it had begun now. */
function startedBy(session: Session, now: EpochMs): Session {
  const { startedAt, usedAt } = session;
  if (startedAt <= now && usedAt <= now) return session;
  return { ...session, startedAt: Math.min(startedAt, now), usedAt: Math.min(usedAt, now) };
}

/** Another one when the token, its name or its role is another. */
function fingerprintOf({ name, sha256, role }: Token): string {
  return createHash('sha256')
    .update(JSON.stringify([name, sha256.toLowerCase(), role]))
    .digest('hex');
}
