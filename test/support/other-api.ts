// Another warm-up service: written from api/mailbox-api.md alone, without a line of src. In memory, on loopback, on the real
// clock or on one that a test moves, strict about what it is asked. A test moves its mailboxes by hand and puts faults in front of its answers.
import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { close, listen, urlOf } from './loopback.ts';

const dayMs = 86_400_000;
const windowMs = 60_000;
const defaultDays = 7;
const maxDays = 90;
const modes = ['slow', 'balanced', 'aggressive', 'recovery'];
const updatable = ['warmup_mode', 'target_daily_limit', 'reply_rate', 'send_window_start', 'send_window_end'];
const maxPerDay: Readonly<Record<string, number>> = { slow: 20, balanced: 40, aggressive: 80, recovery: 15 };

/** A day of statistics; `sent` and `bounced` may be nonsense on purpose. */
export interface Day {
  readonly daysAgo: number;
  readonly sent: unknown;
  readonly bounced: unknown;
}

/** A mailbox as the test sets it; every field may be changed at any time. */
export interface OtherMailbox {
  readonly id: string;
  readonly email: string;
  mode: string;
  targetDailyLimit: number;
  status: string;
  days: readonly Day[];
  /** Sent instead of the array of days when it is not undefined. */
  statsInstead: unknown;
  connectionError: unknown;
  dns: string;
  listed: boolean;
  /** Sent instead of the names of lists when it is not undefined. */
  listsInstead: unknown;
}

/** One request as it arrived. */
export interface Asked {
  /** Milliseconds since the epoch at which the request was complete. */
  readonly at: number;
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly body: unknown;
  /** What the request is about, if it names one. */
  readonly mailboxId: string | null;
  /** The key that it came with. */
  readonly key: string;
  /** The status that was answered; 0 while it is not. */
  status: number;
}

/**
 * What happens instead of the plain answer. `answer`: nothing is done, or with `applied` it is, and this is said. `lose`:
 * the change is made, and then the connection is cut.
 */
export type Fault =
  | {
      readonly kind: 'answer';
      readonly status: number;
      readonly body: string;
      readonly headers?: object;
      readonly applied?: true;
    }
  | { readonly kind: 'lose' }
  | { readonly kind: 'delay'; readonly ms: number };

export interface OtherKey {
  readonly read: boolean;
  readonly write: boolean;
  /** Requests a minute; 0 is the Free plan, which has no access. */
  readonly limit: number;
  /** Which mailboxes exist for it. */
  readonly sees: (mailbox: OtherMailbox) => boolean;
}

/** A JSON answer instead of the plain one. */
export const answerWith = (status: number, body: unknown, headers: object = {}): Fault => ({
  ...{ kind: 'answer', status, body: JSON.stringify(body) },
  headers: { 'content-type': 'application/json', ...headers },
});

const numbered = (count: number) => Array.from({ length: count }, (_, index) => `m${index}@d${index}.example`);

/** What X-RateLimit headers say. */
export interface Limits {
  readonly limit: number;
  readonly remaining: number;
}

interface Reply {
  readonly status: number;
  readonly body: object;
}

const ok = (body: object): Reply => ({ status: 200, body });
const refuse = (status: number, error: string): Reply => ({ status, body: { error } });

/** `sent` emails on each of the last seven days, today included, with `bounced` of them bounced two days ago. */
export function week(sent: number, bounced: number): Day[] {
  return [0, 1, 2, 3, 4, 5, 6].map((daysAgo) => ({ daysAgo, sent, bounced: daysAgo === 2 ? bounced : 0 }));
}

/** An emergency in any mode: 12 of today's 40 emails bounced. */
export const emergencyWeek: readonly Day[] = [{ daysAgo: 0, sent: 40, bounced: 12 }, ...week(40, 0).slice(1)];

export class OtherApi implements AsyncDisposable {
  readonly log: Asked[] = [];
  readonly mailboxes = new Map<string, OtherMailbox>();
  readonly keys = new Map<string, OtherKey>();
  /** What the X-RateLimit headers of an answer say instead of the key's count; null: there are none, and a client counts by itself. */
  tells: ((asked: Asked) => Limits | null) | null = null;
  /** The time that its rate limit, its days and its answers go by. */
  now: () => number = Date.now;
  /** Looked at for every request before it is answered; undefined is the plain answer. */
  fault: (asked: Asked) => Fault | undefined = () => undefined;
  /** Called for every change that was made, before it is answered. */
  applied: (asked: Asked) => void = () => {};
  readonly #server = createServer((request, response) => void this.#serve(request, response));
  /** Times of the requests that each key was allowed. */
  readonly #allowed = new Map<string, number[]>();

  /**
   * Listens on a free port of loopback. `mailboxes`: addresses, or names, each of which is a domain, too; or how many there
   * are, each in a domain of its own.
   */
  static async start(mailboxes: readonly string[] | number = []): Promise<OtherApi> {
    const api = new OtherApi();
    await listen(api.#server);
    const names = typeof mailboxes === 'number' ? numbered(mailboxes) : mailboxes;
    for (const name of names) api.add(name.includes('@') ? name : `${name}@${name}.example`);
    return api;
  }

  get url(): string {
    return urlOf(this.#server);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return close(this.#server);
  }

  /** A new key; by default it may do everything as often as it likes. */
  addKey(key: Partial<OtherKey> = {}): string {
    const secret = `sk_live_${randomUUID().replaceAll('-', '')}`;
    this.keys.set(secret, { read: true, write: true, limit: 100_000, sees: () => true, ...key });
    return secret;
  }

  /** A new mailbox; by default healthy, active and balanced. */
  add(email: string, given: Partial<OtherMailbox> = {}): OtherMailbox {
    const mailbox: OtherMailbox = {
      id: randomUUID(),
      email,
      mode: 'balanced',
      targetDailyLimit: 40,
      status: 'active',
      days: week(40, 0),
      statsInstead: undefined,
      connectionError: null,
      dns: 'pass',
      listed: false,
      listsInstead: undefined,
      ...given,
    };
    this.mailboxes.set(mailbox.id, mailbox);
    return mailbox;
  }

  /** In the order in which they were added. A test that names one has added it. */
  get boxes(): OtherMailbox[] & Record<0 | 1 | 2 | 3, OtherMailbox> {
    return [...this.mailboxes.values()] as OtherMailbox[] & Record<0 | 1 | 2 | 3, OtherMailbox>;
  }

  /** The writes that arrived, of one mailbox or of all. */
  posts(mailbox?: OtherMailbox): Asked[] {
    return this.log.filter(({ method, mailboxId }) => method === 'POST' && (!mailbox || mailboxId === mailbox.id));
  }

  /** The reads of a path that were answered with 200, of one mailbox or of all. */
  reads(path: string, mailbox?: OtherMailbox): Asked[] {
    return this.log.filter(
      (asked) =>
        asked.method === 'GET' &&
        asked.path === path &&
        asked.status === 200 &&
        (!mailbox || asked.mailboxId === mailbox.id),
    );
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const whole = new URL(request.url ?? '/', this.url);
    const path = whole.pathname;
    const body = parse(await text(request));
    const secret = /^Bearer (.+)$/.exec(request.headers.authorization ?? '')?.[1] ?? '';
    const asked: Asked = {
      key: secret,
      at: this.now(),
      method: request.method ?? '',
      path,
      query: whole.searchParams,
      body,
      mailboxId:
        whole.searchParams.get('mailbox_id') ?? idIn(body) ?? /^\/v1\/mailboxes\/(.+)$/.exec(path)?.[1] ?? null,
      status: 0,
    };
    this.log.push(asked);
    const fault = this.fault(asked);
    if (fault?.kind === 'delay') await sleep(fault.ms);
    const limits = this.#limitsOf(asked, secret);
    const jsonBody = asked.method !== 'POST' || /^application\/json\b/.test(request.headers['content-type'] ?? '');
    const undone = fault?.kind === 'answer' && !fault.applied;
    const reply = limits['retry-after']
      ? refuse(429, 'too many requests')
      : this.#answer(asked, { secret, jsonBody, undone });
    if (fault?.kind === 'answer')
      return send(response, asked, fault.status, fault.body, { ...limits, ...fault.headers });
    if (fault?.kind === 'lose') {
      request.socket.destroy();
      return;
    }
    send(response, asked, reply.status, JSON.stringify(reply.body), { 'content-type': 'application/json', ...limits });
  }

  /** The X-RateLimit headers of an answer, with Retry-After when the request is one too many for its key. */
  #limitsOf(asked: Asked, secret: string): Record<string, string> {
    const { counted, waitMs } = this.#count(secret);
    const told = this.tells ? this.tells(asked) : counted;
    return {
      ...(told && { 'x-ratelimit-limit': String(told.limit), 'x-ratelimit-remaining': String(told.remaining) }),
      ...(waitMs !== null && { 'retry-after': String(Math.ceil(waitMs / 1_000)) }),
    };
  }

  /** Counts the request in the exact sliding window of the key. waitMs: until the next one is allowed; null if this one is. */
  #count(secret: string): { readonly counted: Limits | null; readonly waitMs: number | null } {
    const key = this.keys.get(secret);
    if (!key || key.limit === 0) return { counted: null, waitMs: null };
    const now = this.now();
    const within = (this.#allowed.get(secret) ?? []).filter((at) => at > now - windowMs);
    const tooMany = within.length >= key.limit;
    if (!tooMany) within.push(now);
    this.#allowed.set(secret, within);
    const waitMs = tooMany ? (within[0] ?? now) + windowMs - now : null;
    return { counted: { limit: key.limit, remaining: key.limit - within.length }, waitMs };
  }

  #answer(asked: Asked, call: { secret: string; jsonBody: boolean; undone: boolean }): Reply {
    const { method, path } = asked;
    if (path === '/v1/health' && method === 'GET') {
      return ok({ status: 'ok', version: '1.4.2', timestamp: new Date(this.now()).toISOString() });
    }
    const key = this.keys.get(call.secret);
    if (!call.secret.startsWith('sk_live_') || !key) return refuse(401, 'API key missing or invalid');
    if (key.limit === 0) return refuse(403, 'API access needs the Pro or Enterprise plan');
    if (method === 'GET' ? !key.read : !key.write)
      return refuse(403, `this key has no ${method === 'GET' ? 'read' : 'write'} permission`);
    if (method === 'GET' && path === '/v1/mailboxes')
      return ok({ mailboxes: [...this.mailboxes.values()].filter(key.sees).map(entryOf) });
    if (method === 'GET') return this.#read(asked, key);
    if (method !== 'POST' || path !== '/v1/warmup') return refuse(404, 'no such resource');
    if (!call.jsonBody) return refuse(400, 'the body must be JSON');
    return this.#change(asked, key, call.undone);
  }

  #read({ path, query, mailboxId }: Asked, key: OtherKey): Reply {
    const detail = path.startsWith('/v1/mailboxes/');
    if (!detail && !['/v1/warmup', '/v1/stats', '/v1/dns', '/v1/blacklist'].includes(path))
      return refuse(404, 'no such resource');
    if (!mailboxId) return refuse(400, 'mailbox_id is required');
    const days = query.get('days') ?? String(defaultDays);
    if (!/^\d+$/.test(days) || Number(days) < 1 || Number(days) > maxDays) return refuse(400, 'days must be 1 to 90');
    const mailbox = this.mailboxes.get(mailboxId);
    if (!mailbox || !key.sees(mailbox)) return refuse(404, 'mailbox not found');
    if (detail) return ok(detailOf(mailbox));
    if (path === '/v1/warmup') return ok(warmupOf(mailbox));
    if (path === '/v1/stats') return ok(statsOf(mailbox, Number(days), this.now()));
    return ok(path === '/v1/dns' ? dnsOf(mailbox, this.now()) : blacklistOf(mailbox, this.now()));
  }

  #change(asked: Asked, key: OtherKey, undone: boolean): Reply {
    const { action, config } = (asked.body ?? {}) as { action?: unknown; config?: Record<string, unknown> };
    if (asked.mailboxId === null) return refuse(400, 'mailbox_id is required');
    const mailbox = this.mailboxes.get(asked.mailboxId);
    if (!mailbox || !key.sees(mailbox)) return refuse(404, 'mailbox not found');
    if (action === 'pause' || action === 'resume') {
      if (!undone) mailbox.status = action === 'pause' ? 'paused' : 'active';
    } else if (action === 'update_config') {
      if (typeof config !== 'object' || config === null) return refuse(400, 'config is required');
      const strange = Object.keys(config).find((name) => !updatable.includes(name));
      if (strange) return refuse(400, `config.${strange} cannot be updated`);
      const mode = config['warmup_mode'];
      if (mode !== undefined && !modes.includes(String(mode))) return refuse(400, 'no such warm-up mode');
      if (mode !== undefined && !undone) mailbox.mode = String(mode);
      const limit = config['target_daily_limit'];
      if (limit !== undefined && !(Number.isInteger(limit) && Number(limit) > 0)) return refuse(400, 'no such limit');
      if (limit !== undefined && !undone) mailbox.targetDailyLimit = Number(limit);
    } else {
      return refuse(400, 'action must be pause, resume or update_config');
    }
    if (!undone) this.applied(asked);
    return ok({ success: true, message: 'done', config: configOf(mailbox) });
  }
}

function send(response: ServerResponse, asked: Asked, status: number, body: string, headers: object): void {
  asked.status = status;
  response.writeHead(status, { ...headers }).end(body);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function idIn(body: unknown): string | null {
  const id = typeof body === 'object' && body !== null && 'mailbox_id' in body ? body.mailbox_id : null;
  return typeof id === 'string' ? id : null;
}

function shared(mailbox: OtherMailbox) {
  const { status } = mailbox;
  return { status, health_score: 97.5, daily_limit: maxPerDay[mailbox.mode] ?? 40, warmup_day: 21 };
}

function entryOf(mailbox: OtherMailbox): object {
  const { id, email } = mailbox;
  return { id, email, provider: 'google', ...shared(mailbox), created_at: '2026-01-05T09:00:00.000Z' };
}

function detailOf(mailbox: OtherMailbox): object {
  const { id, email, dns, connectionError } = mailbox;
  return {
    id,
    email,
    provider: 'google',
    ...shared(mailbox),
    warmup_started_at: '2026-01-05T09:00:00.000Z',
    dns_status: { spf: dns, dkim: 'pass', dmarc: 'pass' },
    connection_error: connectionError,
  };
}

function configOf({ targetDailyLimit }: OtherMailbox): object {
  return {
    target_daily_limit: targetDailyLimit,
    reply_rate: 30,
    thread_rate: 20,
    weekdays_only: false,
    send_window_start: 8,
    send_window_end: 18,
  };
}

function warmupOf(mailbox: OtherMailbox): object {
  const { id, email, mode } = mailbox;
  return {
    mailbox_id: id,
    email,
    ...shared(mailbox),
    warmup_mode: mode,
    config: configOf(mailbox),
    recent_emails: [],
  };
}

function statsOf({ id, days, statsInstead }: OtherMailbox, asked: number, now: number): object {
  const stats = days.filter(({ daysAgo }) => daysAgo < asked).map((day) => dayOf(day, now));
  return { mailbox_id: id, period: `${asked}d`, stats: statsInstead === undefined ? stats : statsInstead };
}

function dayOf({ daysAgo, sent, bounced }: Day, now: number): object {
  const rate = typeof sent === 'number' && typeof bounced === 'number' && sent > 0 ? (bounced / sent) * 100 : 0;
  return {
    date: new Date(now - daysAgo * dayMs).toISOString().slice(0, 10),
    sent,
    delivered: sent,
    opened: 0,
    replied: 0,
    bounced,
    spam_landed: 0,
    inbox_rate: '95.00',
    bounce_rate: rate.toFixed(2),
    reply_rate: '0.00',
    health_score: '97.50',
  };
}

function dnsOf({ id, email, dns }: OtherMailbox, now: number): object {
  const record = (status: string) => ({ status, record: status === 'pass' ? 'v=spf1 -all' : null });
  const checked = { checked_at: new Date(now).toISOString(), source: 'cached' };
  return {
    mailbox_id: id,
    domain: email.split('@')[1],
    ...checked,
    spf: record(dns),
    dkim: record('pass'),
    dmarc: record('pass'),
  };
}

function blacklistOf({ id, email, listed, listsInstead }: OtherMailbox, now: number): object {
  const lists = listed ? ['zen.example.org'] : [];
  const found = { listed, blacklists_found: listsInstead === undefined ? lists : listsInstead, total_checked: 12 };
  return {
    mailbox_id: id,
    domain: email.split('@')[1],
    ip: '192.0.2.7',
    checked_at: new Date(now).toISOString(),
    ...found,
  };
}
