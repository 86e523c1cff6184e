// HTTP client of the API of the warm-up service: one per account, with one connection pool and one budget. Failures are values.
import { createHash } from 'node:crypto';
import type { WarmupSettings } from '../core/action.ts';
import type {
  BlacklistAnswer,
  DnsAnswer,
  DnsWords,
  HealthAnswer,
  MailboxDetail,
  MailboxList,
  Observed,
  Route,
  StatsAnswer,
  WarmupAnswer,
} from '../core/answers.ts';
import { directly, type Egress } from '../core/egress.ts';
import type { Ppm, WarmupMode } from '../core/policy.ts';
import type { Tally } from '../core/records.ts';
import type { World } from '../world/world.ts';
import { type AnswerTo, type Interpreted, interpret, type RequestKind } from './answers.ts';
import { Budget, takeSlot } from './budget.ts';
import {
  type AnswerHeaders,
  type Ask,
  type Deadlines,
  type Exchange,
  exchange,
  HttpAgent,
  jsonOf,
  type Success,
  textOf,
} from './http/exchange.ts';
import { failed, type Result } from './http/failure.ts';
import { Redactor } from './http/redactor.ts';
import { cutText, type StatsCut, StatsDays } from './stats-days.ts';

export interface ClientOptions {
  readonly account: string;
  /** Address without a trailing slash. Every path begins with /v1. */
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly requestsPerMinute: number;
  readonly headroomPpm: Ppm;
  readonly egress?: Egress;
  readonly dnsWords?: DnsWords;
  /** Default: those of api/http/exchange.ts. */
  readonly deadlines?: Deadlines;
}

interface Call<Kind extends RequestKind> {
  readonly route: Kind;
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly body?: object;
  readonly mayLeave?: (() => boolean) | undefined;
  readonly mailboxId?: string;
  readonly days?: number | undefined;
  /** Answer to the same question before. */
  readonly known?: object | undefined;
  /** Secrets of the request alone, which a text of its answer may hold. */
  readonly passwords?: readonly string[];
}

/** Evidence window of a usual policy. */
const usualDays = 30;

/** A shorter password is hardly a secret, and hiding it would blot out ordinary words. */
const leastPasswordLetters = 4;
const noSecrets: readonly string[] = [];
const keyless = { accept: 'application/json' };

/** Change of a warm-up: a word, or a value to be set. */
export type WarmupWrite =
  | 'pause'
  | 'resume'
  | { readonly mode: WarmupMode }
  | { readonly limit: number }
  | { readonly settings: WarmupSettings };

function bodyOf(change: WarmupWrite): object {
  if (typeof change === 'string') return { action: change };
  const update = (config: object) => ({ action: 'update_config', config });
  if ('mode' in change) return update({ warmup_mode: change.mode });
  if ('limit' in change) return update({ target_daily_limit: change.limit });
  const { replyRate, sendWindowStart, sendWindowEnd } = change.settings;
  return update({ reply_rate: replyRate, send_window_start: sendWindowStart, send_window_end: sendWindowEnd });
}

/** Mailbox to be connected, with its passwords. */
interface NewMailbox {
  readonly email: string;
  readonly smtpHost: string;
  readonly smtpPort: number;
  readonly smtpUser: string;
  readonly smtpPass: string;
  readonly imapHost: string;
  readonly imapPort: number;
  readonly imapUser: string;
  readonly imapPass: string;
}

export type Answered<Answer> = Promise<Result<Observed<Answer>>>;

/** Client of one account. The caller of a request takes a slot of `budget` before it. */
export class ApiClient {
  readonly budget: Budget;
  readonly #options: ClientOptions;
  readonly #world: World;
  readonly #tally: Tally;
  readonly #now = () => this.#world.clock.now();
  readonly #agent: HttpAgent;
  readonly #stopping = new AbortController();
  readonly #stopped = this.#stopping.signal;
  readonly #keyed: Ask['headers'];
  /** Smaller limits that were logged last, so that each is logged once. */
  readonly #saidLimits = new Map<RequestKind | 'key', number>();
  readonly #statsDays: StatsDays;
  onThrottled: () => void = () => {};
  readonly #doubted = new Set<string>();
  #redacting: { readonly secrets: readonly string[]; readonly redactor: Redactor } | null = null;
  /** Digest of the request and the body that an answer was read from. */
  #readFrom = new WeakMap<object, string>();

  constructor(options: ClientOptions, world: World, tally: Tally) {
    this.#options = options;
    this.#world = world;
    this.#tally = tally;
    this.budget = new Budget(options);
    const { account } = options;
    this.#statsDays = new StatsDays(world.clock, (cut) => world.log.warn({ account, ...cut }, cutText(cut)));
    const { baseUrl: url, egress = directly } = options;
    this.#agent = new HttpAgent({ url, egress });
    this.#keyed = { ...keyless, authorization: `Bearer ${options.apiKey}` };
  }

  health(): Answered<HealthAnswer> {
    return this.#call({ route: 'health', method: 'GET', path: '/v1/health' });
  }

  mailboxes(): Answered<MailboxList> {
    return this.#call({ route: 'mailboxes', method: 'GET', path: '/v1/mailboxes' });
  }

  /** `known`, here and below: the answer before, which an unchanged body gives again without being read. */
  mailbox(id: string, known?: MailboxDetail): Answered<MailboxDetail> {
    const path = `/v1/mailboxes/${encodeURIComponent(id)}`;
    return this.#call({ route: 'mailbox', method: 'GET', path, mailboxId: id, known });
  }

  warmup(id: string, known?: WarmupAnswer): Answered<WarmupAnswer> {
    return this.#ask('warmup', id, { known });
  }

  /** `days`: length of the evidence window. The client asks for fewer if the API refuses that many. */
  stats(id: string, days = usualDays, known?: StatsAnswer): Answered<StatsAnswer> {
    const request = (asked: number) => this.#ask('stats', id, { query: `&days=${asked}`, days: asked, known });
    return this.#statsDays.ask(id, days, request, () => this.#slot('stats'));
  }

  get statsCut(): StatsCut | null {
    return this.#statsDays.cut;
  }

  /** `fresh` asks the API to look up the records now, not in its cache. */
  dns(id: string, fresh = false, known?: DnsAnswer): Answered<DnsAnswer> {
    return this.#ask('dns', id, { query: fresh ? '&refresh=true' : '', known });
  }

  /** `fresh` asks the API to query the lists now, not its cache. */
  blacklist(id: string, fresh = false, known?: BlacklistAnswer): Answered<BlacklistAnswer> {
    return this.#ask('blacklist', id, { query: fresh ? '&refresh=true' : '', known });
  }

  /** Success only means that the API accepted the request: read it back. */
  write(id: string, change: WarmupWrite, mayLeave?: () => boolean): Answered<true> {
    const body = { mailbox_id: id, ...bodyOf(change) };
    return this.#call({ route: 'warmup_write', method: 'POST', path: '/v1/warmup', body, mailboxId: id, mayLeave });
  }

  /** Connects a mailbox, which starts its warm-up. No text of the answer holds its passwords. */
  connect(mailbox: NewMailbox): Answered<AnswerTo<'mailbox_write'>> {
    const { email, smtpHost, smtpPort, smtpUser, smtpPass, imapHost, imapPort, imapUser, imapPass } = mailbox;
    const body = {
      email,
      smtp_host: smtpHost,
      smtp_port: smtpPort,
      smtp_user: smtpUser,
      smtp_pass: smtpPass,
      imap_host: imapHost,
      imap_port: imapPort,
      imap_user: imapUser,
      imap_pass: imapPass,
    };
    const passwords = [smtpPass, imapPass];
    return this.#call({ route: 'mailbox_write', method: 'POST', path: '/v1/mailboxes', body, passwords });
  }

  /** Aborts the polls in progress. Writes continue. */
  stopPolls(): void {
    this.#stopping.abort();
  }

  /** Requests in progress fail as unavailable. */
  async close(): Promise<void> {
    await this.#agent.destroy();
  }

  #ask<Kind extends Route>(
    route: Kind,
    id: string,
    { query = '', ...more }: { readonly query?: string } & Pick<Call<Kind>, 'days' | 'known'>,
  ): Answered<AnswerTo<Kind>> {
    const path = `/v1/${route}?mailbox_id=${encodeURIComponent(id)}${query}`;
    return this.#call({ route, method: 'GET', path, mailboxId: id, ...more });
  }

  async #call<Kind extends RequestKind>(call: Call<Kind>): Answered<AnswerTo<Kind>> {
    const { clock } = this.#world;
    const begun = clock.monotonic();
    let exchanged = await this.#exchange(call);
    if (exchanged.lostKept && call.method === 'GET') {
      // The second attempt needs its own slot (H19).
      await this.#slot(call.route);
      exchanged = await this.#exchange(call);
    }
    const ended = clock.monotonic();
    const { status, headers, result } = exchanged;
    this.#noteLimits(call.route, result.ok, headers, ended);
    const code = status === null && !result.ok ? result.failure.kind : String(status);
    this.#tally.request({ account: this.#options.account, route: call.route, code }, (ended - begun) / 1_000);
    this.#noteOutcome(call.route, result, ended);
    if (result.ok) return { ok: true, value: { at: clock.now(), answer: result.value } };
    const { failure } = result;
    const what = `${call.method} ${call.path.split('?')[0]}: `;
    return failed({ ...failure, detail: what + failure.detail });
  }

  #exchange<Kind extends RequestKind>(call: Call<Kind>): Promise<Exchange<AnswerTo<Kind>>> {
    const { baseUrl, deadlines, apiKey } = this.#options;
    const { passwords } = call;
    const redactor = passwords ? new Redactor(apiKey, passwords, leastPasswordLetters) : this.#redactor();
    const { method, path, body, mayLeave } = call;
    const ask: Ask = {
      method,
      baseUrl,
      path,
      headers:
        call.route === 'health' ? keyless : { ...this.#keyed, ...(body && { 'content-type': 'application/json' }) },
      body: body ? JSON.stringify(body) : null,
      // A poll ends at once when the daemon stops. A POST keeps its time, because its answer matters.
      signal: method === 'GET' ? this.#stopped : null,
      redactor,
      deadlines,
      mayLeave,
    };
    const read = (success: Success) => this.#read(call, success, redactor);
    return this.#world.clock.busy(() => exchange(this.#agent, ask, this.#now, read));
  }

  #read<Kind extends RequestKind>(call: Call<Kind>, success: Success, redactor: Redactor): Result<AnswerTo<Kind>> {
    const { route, mailboxId = null, days: asked = null, known } = call;
    // The document does not show the answer to a pause. A success without a body is a success, as it is read back.
    if (route === 'warmup_write' && textOf(success.body).trim() === '')
      return { ok: true, value: true as AnswerTo<Kind> };
    const { dnsWords } = this.#options;
    // A Link header to a next page means the same as `has_more` in the body (docs/faults.md S8).
    const nextPage = /rel="?next\b/i.test(String(success.headers['link'] ?? ''));
    // Lists and health are read each time. A template would keep its parts in memory, for each mailbox and route.
    const from = mailboxId === null ? '' : createHash('sha1').update(call.path).update(success.body).digest('base64');
    if (known && this.#readFrom.get(known) === from) return { ok: true, value: known as AnswerTo<Kind> };
    const said = { status: success.status, json: jsonOf(success, redactor), nextPage };
    const answer: Interpreted<RequestKind> = interpret({ about: route, mailboxId, dnsWords, known }, said);
    const { doubts, days } = answer;
    for (const [field, sentence] of doubts) this.#doubt(route, field, sentence);
    if (asked !== null && days !== null) this.#statsDays.holds(days, asked);
    if (from !== '' && answer.result.ok && typeof answer.result.value === 'object')
      this.#readFrom.set(answer.result.value, from);
    return answer.result as Result<AnswerTo<Kind>>;
  }

  #slot(kind: RequestKind): Promise<void> {
    return takeSlot(this.budget, kind, this.#world.clock, this.#stopped);
  }

  #redactor(): Redactor {
    const secrets = this.#world.secrets?.() ?? noSecrets;
    if (this.#redacting?.secrets !== secrets) {
      this.#redacting = { secrets, redactor: new Redactor(this.#options.apiKey, secrets) };
      this.#readFrom = new WeakMap();
    }
    return this.#redacting.redactor;
  }

  #doubt(route: string, field: string, sentence: string): void {
    const key = `${route} ${field}`;
    if (this.#doubted.has(key)) return;
    this.#doubted.add(key);
    this.#world.log.warn({ account: this.#options.account, route, field }, sentence);
  }

  #noteOutcome(kind: RequestKind, result: Result<unknown>, now: number): void {
    const { random } = this.#world;
    if (!result.ok && result.failure.status === 503) this.budget.throttle.stopBatches(now);
    if (result.ok || !['throttled', 'unavailable'].includes(result.failure.kind)) this.budget.throttle.answered();
    else if (result.failure.kind === 'throttled') {
      this.budget.throttled(kind, result.failure.retryAfterMs, now, random);
      this.onThrottled();
    } else if (!this.#stopping.signal.aborted) {
      const { retryAfterMs: ms } = result.failure;
      this.budget.throttle.failed(now, random, ms === null ? undefined : { kind, ms });
    }
  }

  #noteLimits(kind: RequestKind, succeeded: boolean, headers: AnswerHeaders, now: number): void {
    const limit = wholeNumber(headers['x-ratelimit-limit']);
    this.budget.noteLimits({ kind, limit, remaining: wholeNumber(headers['x-ratelimit-remaining']), succeeded }, now);
    const { account, requestsPerMinute: configured } = this.#options;
    const { limitPerMinute: ofKey } = this.budget;
    if (ofKey < configured && this.#saidLimits.get('key') !== ofKey) {
      this.#saidLimits.set('key', ofKey);
      const said = `the API allows ${ofKey} ${ofKey === 1 ? 'request' : 'requests'} a minute, the configuration says ${configured}: Warmwarden uses the smaller number`;
      this.#world.log.warn({ account, limit: ofKey, configured }, said);
    }
    const own = this.budget.ownLimit(kind);
    if (!own || this.#saidLimits.get(kind) === own.limit) return;
    this.#saidLimits.set(kind, own.limit);
    const said = `the API allows ${own.limit} ${own.limit === 1 ? 'request' : 'requests'} a minute for ${kind}: Warmwarden keeps to that there, and asks for everything else as usual`;
    this.#world.log.info({ account, route: kind, limit: own.limit, configured }, said);
  }
}

function wholeNumber(value: AnswerHeaders[string]): number | null {
  return typeof value === 'string' && /^\d+$/.test(value.trim()) ? Number(value) : null;
}
