// The HTTP client of the mailbox API: one per account, one connection pool, one budget. Failures are values.
import { Agent, type Dispatcher, request } from 'undici';
import type {
  BlacklistAnswer,
  DnsAnswer,
  HealthAnswer,
  MailboxDetail,
  MailboxList,
  Observed,
  Route,
  StatsAnswer,
  WarmupAnswer,
} from '../model/answers.ts';
import type { WarmupMode } from '../model/policy.ts';
import { readRetryAfter } from '../model/retry-after.ts';
import type { Tally } from '../model/tally.ts';
import { minuteMs } from '../model/time.ts';
import type { World } from '../world.ts';
import {
  type Reader,
  readBlacklist,
  readDetail,
  readDns,
  readHealth,
  readMailboxes,
  readStats,
  readWarmup,
} from './answers.ts';
import { Budget } from './budget.ts';
import { classify, type Failure, failed, quote, type Result } from './failure.ts';

// Transport deadlines run on real time: they are about sockets, not about mailboxes.
const connectDeadlineMs = 5_000;
const headersDeadlineMs = 15_000;
const idleDeadlineMs = 10_000;
const totalDeadlineMs = 30_000;
const maxBodyBytes = 32 * 1024 * 1024;
const maxErrorBytes = 64 * 1024;
/** A longer Retry-After is cut: the guard must come back (FAULTS.md H11). */
const longestStopMs = 15 * minuteMs;
const maxConnections = 16;

export interface ClientOptions {
  readonly account: string;
  /** Without a trailing slash; every path begins with /v1. */
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly requestsPerMinute: number;
  readonly headroomPpm: number;
  /** Days of statistics to ask for: the longest evidence window of the account's policies. */
  readonly statsDays: number;
}

interface Call<Answer> {
  readonly route: Route | 'warmup_write';
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly body?: object;
  /** The mailbox that the answer must be about, when it names one. */
  readonly mailboxId?: string;
  readonly read: Reader<Answer>;
}

export type Answered<Answer> = Promise<Result<Observed<Answer>>>;

/** Speaks for one account. Every method is one request; the caller takes a slot of `budget` before each. */
export class MailboxApi {
  readonly budget: Budget;
  readonly #options: ClientOptions;
  readonly #world: World;
  readonly #tally: Tally;
  readonly #agent: Agent;
  readonly #stopping = new AbortController();
  /** The smaller limit that was said last, so that it is said once. */
  #saidLimit: number | null = null;

  constructor(options: ClientOptions, world: World, tally: Tally) {
    this.#options = options;
    this.#world = world;
    this.#tally = tally;
    this.budget = new Budget(options);
    this.#agent = new Agent({
      connections: maxConnections,
      connect: { timeout: connectDeadlineMs },
      headersTimeout: headersDeadlineMs,
      bodyTimeout: idleDeadlineMs,
    });
  }

  health(): Answered<HealthAnswer> {
    return this.#call({ route: 'health', method: 'GET', path: '/v1/health', read: readHealth });
  }

  mailboxes(): Answered<MailboxList> {
    return this.#call({ route: 'mailboxes', method: 'GET', path: '/v1/mailboxes', read: readMailboxes });
  }

  mailbox(id: string): Answered<MailboxDetail> {
    const path = `/v1/mailboxes/${encodeURIComponent(id)}`;
    return this.#call({ route: 'mailbox', method: 'GET', path, mailboxId: id, read: readDetail });
  }

  warmup(id: string): Answered<WarmupAnswer> {
    return this.#ask('warmup', id, readWarmup);
  }

  stats(id: string): Answered<StatsAnswer> {
    return this.#ask('stats', id, readStats, `&days=${this.#options.statsDays}`);
  }

  dns(id: string): Answered<DnsAnswer> {
    return this.#ask('dns', id, readDns);
  }

  blacklist(id: string): Answered<BlacklistAnswer> {
    return this.#ask('blacklist', id, readBlacklist);
  }

  /** Asks for a warm-up mode. ok only means that the API said yes: read it back. */
  setMode(id: string, mode: WarmupMode): Answered<true> {
    return this.#write(id, { mailbox_id: id, action: 'update_config', config: { warmup_mode: mode } });
  }

  /** Asks for a pause of the warm-up. ok only means that the API said yes: read it back. */
  pause(id: string): Answered<true> {
    return this.#write(id, { mailbox_id: id, action: 'pause' });
  }

  /** Ends every poll under way; writes go on. */
  stopPolls(): void {
    this.#stopping.abort();
  }

  /** Ends the connections; requests under way fail as unavailable. */
  async close(): Promise<void> {
    await this.#agent.destroy();
  }

  #ask<Answer>(route: Route, id: string, read: Reader<Answer>, more = ''): Answered<Answer> {
    const path = `/v1/${route}?mailbox_id=${encodeURIComponent(id)}${more}`;
    return this.#call({ route, method: 'GET', path, mailboxId: id, read });
  }

  #write(id: string, body: object): Answered<true> {
    const path = '/v1/warmup';
    return this.#call({ route: 'warmup_write', method: 'POST', path, body, mailboxId: id, read: () => true });
  }

  async #call<Answer>(call: Call<Answer>): Answered<Answer> {
    const { clock } = this.#world;
    const begun = clock.monotonic();
    const { result, status } = await clock.busy(() => this.#send(call));
    const code = status === null && !result.ok ? result.failure.kind : String(status);
    const seconds = (clock.monotonic() - begun) / 1_000;
    this.#tally.request({ account: this.#options.account, route: call.route, code }, seconds);
    if (!result.ok && result.failure.kind === 'throttled') {
      this.budget.throttled(result.failure.retryAfterMs, clock.monotonic(), this.#world.random);
    }
    if (result.ok) return { ok: true, value: { at: clock.now(), answer: result.value } };
    const { failure } = result;
    const what = `${call.method} ${call.path.split('?')[0]}: `;
    return failed({ ...failure, detail: withoutKeys(what + failure.detail, this.#options.apiKey) });
  }

  async #send<Answer>(call: Call<Answer>): Promise<{ result: Result<Answer>; status: number | null }> {
    const total = AbortSignal.timeout(totalDeadlineMs);
    try {
      const response = await request(`${this.#options.baseUrl}${call.path}`, {
        method: call.method,
        dispatcher: this.#agent,
        // A poll ends at once when the daemon stops; a POST is given its time, for its answer matters.
        signal: call.method === 'GET' ? AbortSignal.any([total, this.#stopping.signal]) : total,
        headers: {
          ...(call.route === 'health' ? {} : { authorization: `Bearer ${this.#options.apiKey}` }),
          accept: 'application/json',
          ...(call.body ? { 'content-type': 'application/json' } : {}),
        },
        body: call.body ? JSON.stringify(call.body) : null,
      });
      const { statusCode: status, headers, body } = response;
      this.#noteLimits(headers);
      if (status >= 200 && status < 300) {
        const text = await readText(body, maxBodyBytes);
        if (text === null) return { status, result: malformed(status, 'the answer is larger than we accept') };
        return { status, result: interpret(call, status, text, saysNextPage(headers)) };
      }
      // The status and the headers of an error count, whatever becomes of its body (FAULTS.md H1, H17).
      const text = await readText(body, maxErrorBytes).catch(() => '');
      const retryAfterMs = readRetryAfter(headers, this.#world.clock.now(), longestStopMs);
      const location = typeof headers['location'] === 'string' ? headers['location'] : null;
      return { status, result: failed(classify({ status, text: text ?? '', location }, retryAfterMs)) };
    } catch (error) {
      return { status: null, result: failed(unavailable(error, this.#options.baseUrl)) };
    }
  }

  #noteLimits(headers: Dispatcher.ResponseData['headers']): void {
    const read = (name: string) => {
      const value = headers[name];
      return typeof value === 'string' && /^\d+$/.test(value.trim()) ? Number(value) : null;
    };
    const limits = { limit: read('x-ratelimit-limit'), remaining: read('x-ratelimit-remaining') };
    this.budget.told(limits, this.#world.clock.monotonic());
    const { account, requestsPerMinute: configured } = this.#options;
    if (limits.limit === null || limits.limit >= configured || limits.limit === this.#saidLimit) return;
    this.#saidLimit = limits.limit;
    const said = `the API allows ${limits.limit} requests a minute, the configuration says ${configured}: the smaller number is kept`;
    this.#world.log.warn({ account, limit: limits.limit, configured }, said);
  }
}

function malformed(status: number, detail: string): { readonly ok: false; readonly failure: Failure } {
  return failed({ kind: 'malformed', status, detail: `HTTP ${status}, but ${detail}`, retryAfterMs: null });
}

/** A Link header to a next page says the same as `has_more` in the body (FAULTS.md S8). */
function saysNextPage(headers: Dispatcher.ResponseData['headers']): boolean {
  return /rel="?next\b/i.test(String(headers['link'] ?? ''));
}

/** Whoever echoes our key must not bring it into a log or a message. */
function withoutKeys(text: string, apiKey: string): string {
  return text.replaceAll(apiKey, '[key]').replace(/sk_live_[\w-]+/g, '[key]');
}

/** null when the body is longer than `maxBytes`. */
async function readText(body: Dispatcher.ResponseData['body'], maxBytes: number): Promise<string | null> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    if (bytes > maxBytes) {
      body.destroy();
      return null;
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** A 2xx answer: JSON of the documented shape, about the mailbox that was asked for, and no error in disguise (H2, H4, H5). */
function interpret<Answer>(call: Call<Answer>, status: number, raw: string, nextPage: boolean): Result<Answer> {
  const text = raw.replace(/^\uFEFF/, '');
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    // The document does not show the body of a pause: a success without one is a success, for it is read back.
    if (call.method === 'POST' && text.trim() === '') return { ok: true, value: call.read(null) as Answer };
    return malformed(status, text.trim() === '' ? 'the body is empty' : `the body is no JSON: ${quote(text)}`);
  }
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    return malformed(status, `the body is no JSON object: ${quote(text)}`);
  }
  if (('error' in body && Boolean(body.error)) || ('success' in body && body.success === false)) {
    return failed({
      kind: 'refused',
      status,
      detail: `HTTP ${status}, but it says: ${quote(text)}`,
      retryAfterMs: null,
    });
  }
  const named = call.route === 'mailbox' ? 'id' : 'mailbox_id';
  const about = (body as Record<string, unknown>)[named] ?? null;
  if (call.mailboxId !== undefined && about !== null && String(about) !== call.mailboxId) {
    return malformed(status, 'the answer is about another mailbox');
  }
  const answer = call.read(nextPage ? { ...body, has_more: true } : body);
  if (answer === null) return malformed(status, `the body is not what the document describes: ${quote(text)}`);
  return { ok: true, value: answer };
}

/** Node's and undici's codes in words. Their messages can hold addresses but never headers. */
const causes: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'the connection was refused',
  ECONNRESET: 'the connection was reset',
  ENOTFOUND: 'the host name is not known',
  EAI_AGAIN: 'the host name could not be looked up',
  UND_ERR_CONNECT_TIMEOUT: `no connection within ${connectDeadlineMs / 1_000} s`,
  UND_ERR_HEADERS_TIMEOUT: `no answer within ${headersDeadlineMs / 1_000} s`,
  UND_ERR_BODY_TIMEOUT: `the answer stopped for ${idleDeadlineMs / 1_000} s`,
  UND_ERR_SOCKET: 'the connection was closed before the answer was complete',
};

function unavailable(error: unknown, baseUrl: string): Failure {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  const name = error instanceof Error ? error.name : '';
  const cause = name === 'TimeoutError' ? `no complete answer within ${totalDeadlineMs / 1_000} s` : causes[code];
  const said = cause ?? (error instanceof Error ? quote(error.message) : 'the request failed');
  return { kind: 'unavailable', status: null, detail: `${baseUrl}: ${said}`, retryAfterMs: null };
}
