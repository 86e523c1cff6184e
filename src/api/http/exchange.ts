// Makes an HTTP request under deadlines and caps and returns a value: the read success, or a failure.

import { Agent } from 'undici';
import type { Egress } from '../../core/egress.ts';
import { type EpochMs, minuteMs } from '../../core/time.ts';
import {
  causes,
  classify,
  connectDeadlineMs,
  errorWordOf,
  type Failure,
  failed,
  malformed,
  ProxyError,
  quote,
  type Result,
} from './failure.ts';
import { type AnswerHeaders, type Deadlines, HeldBack, type Received, receive } from './receive.ts';
import type { Redactor } from './redactor.ts';
import { readRetryAfter } from './retry-after.ts';
import { type WayOut, wayOutTo } from './way-out.ts';

const usualDeadlines: Deadlines = { headersMs: 15_000, idleMs: 10_000, totalMs: 30_000 };
/** A longer Retry-After is cut, because requests have to resume (docs/faults.md H11). */
const longestStopMs = 15 * minuteMs;
const maxConnections = 16;
/** Maximum size of the head of an answer. Gateways add cookies and traces. */
export const maxHeaderBytes = 64 * 1024;
/** A body of more values, which take memory beyond their text, is not parsed. No fleet has as many. */
const maxValues = 2_000_000;

export type { AnswerHeaders, Deadlines };

/** Connection pool of one API. Without a destination it connects to any address directly. */
export class HttpAgent extends Agent {
  readonly way: WayOut | null;
  /** Number of connections so far. */
  connects = 0;

  constructor(to: { readonly url: string; readonly egress: Egress } | { readonly socketPath: string } | null = null) {
    const way = to && 'url' in to ? wayOutTo(to.url, to.egress) : null;
    const socket = to && 'socketPath' in to ? { socketPath: to.socketPath } : {};
    const connect = way?.connect ?? { timeout: connectDeadlineMs, ...socket };
    super({ connections: maxConnections, connect, maxHeaderSize: maxHeaderBytes });
    this.way = way;
    this.on('connect', () => {
      this.connects += 1;
    });
  }
}

export interface Ask {
  readonly method: 'GET' | 'POST';
  /** Address without a trailing slash. */
  readonly baseUrl: string;
  /** Appended to `baseUrl` unchanged. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
  readonly signal: AbortSignal | null;
  /** Removes secrets from error texts. */
  readonly redactor: Redactor;
  /** Default: 15 s for the head, 10 s between two pieces of the body, 30 s in total. */
  readonly deadlines?: Deadlines | undefined;
  /** Called right before the first byte. If it returns false, nothing is sent, and the exchange is not `reached`. */
  readonly mayLeave?: (() => boolean) | undefined;
}

export interface Success {
  readonly status: number;
  readonly headers: AnswerHeaders;
  readonly body: Buffer;
}

export interface Exchange<Value> {
  /** Status of the answer, or null if no complete answer came. */
  readonly status: number | null;
  readonly headers: AnswerHeaders;
  /** Anything but a complete 2xx answer is a failure. Redirects are not followed (H18). */
  readonly result: Result<Value>;
  /** The `error` of an error answer if it is one word, as of services that name their refusals, or null. */
  readonly errorWord: string | null;
  /** False if no connection was made, so that the server has certainly not seen the request. */
  readonly reached: boolean;
  /** True if a kept connection was closed before any answer arrived. A retry is then worthwhile (H19). */
  readonly lostKept: boolean;
}

/** Resolves also if the network or the server fails. `now`: wall time, for a Retry-After date without a Date. */
export async function exchange<Value>(
  agent: HttpAgent,
  ask: Ask,
  now: () => EpochMs,
  read: (success: Success) => Result<Value>,
): Promise<Exchange<Value>> {
  const { method, body, signal, mayLeave, deadlines = usualDeadlines } = ask;
  const { way, connects } = agent;
  const { headersMs: headersTimeout, idleMs: bodyTimeout } = deadlines;
  const request = { ...placeOf(ask, way), method, headers: headersOf(ask, way), body, headersTimeout, bodyTimeout };
  let received: Received;
  try {
    received = await receive(agent, { request, signal, deadlines, mayLeave });
    if (received.status === 407 && way?.forward) throw new ProxyError(received.status);
  } catch (error) {
    const where = way?.proxy ? `${ask.baseUrl}, through the proxy ${way.proxy}` : ask.baseUrl;
    return noAnswer(error, unavailable(error, where, deadlines), agent.connects === connects);
  }
  const { status, headers, trouble } = received;
  const answer = { status, headers, errorWord: null, reached: true, lostKept: false };
  if (status >= 300) return { ...answer, ...refusalOf(received, now(), ask.redactor) };
  if (trouble !== null) return { ...answer, result: malformed(status, trouble) };
  return { ...answer, result: read({ status, headers, body: received.body }) };
}

function noAnswer(error: unknown, failure: Failure, wasKept: boolean): Exchange<never> {
  const lostKept = wasKept && ['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET'].includes(codeOf(error));
  const reached = !isUnreached(error);
  return { status: null, headers: {}, result: failed(failure), errorWord: null, reached, lostKept };
}

function placeOf({ baseUrl, path }: Ask, way: WayOut | null): { readonly origin: string; readonly path: string } {
  const { origin, pathname, search } = new URL(`${baseUrl}${path}`);
  if (!way?.forward) return { origin, path: `${pathname}${search}` };
  return { origin: way.forward.origin, path: `${origin}${pathname}${search}` };
}

function headersOf({ baseUrl, headers }: Ask, way: WayOut | null): Readonly<Record<string, string>> {
  const toProxy = way?.forward ? { host: new URL(baseUrl).host, ...way.forward.headers } : {};
  return { ...headers, ...toProxy, 'accept-encoding': 'gzip' };
}

function refusalOf({ status, headers, body }: Received, now: EpochMs, redactor: Redactor) {
  const text = body.toString('utf8');
  const location = typeof headers['location'] === 'string' ? headers['location'] : null;
  const retryAfterMs = readRetryAfter(headers, text, now, longestStopMs);
  const failure = classify({ status, text, location }, retryAfterMs, redactor);
  return { result: failed(failure), errorWord: errorWordOf(text) };
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}

function isUnreached(error: unknown): boolean {
  if (error instanceof HeldBack || error instanceof ProxyError) return true;
  // The code does not matter: an error of this call comes before the first byte.
  if (error instanceof Error && 'syscall' in error && error.syscall === 'connect') return true;
  return ['ENOTFOUND', 'EAI_AGAIN', 'UND_ERR_CONNECT_TIMEOUT'].includes(codeOf(error));
}

function lateness(error: unknown, { headersMs, idleMs, totalMs }: Deadlines): string | null {
  if (error instanceof Error && error.name === 'TimeoutError') return `no complete answer within ${totalMs / 1_000} s`;
  if (codeOf(error) === 'UND_ERR_HEADERS_TIMEOUT') return `no answer within ${headersMs / 1_000} s`;
  return codeOf(error) === 'UND_ERR_BODY_TIMEOUT' ? `the answer stopped for ${idleMs / 1_000} s` : null;
}

function unavailable(error: unknown, where: string, deadlines: Deadlines): Failure {
  if (error instanceof HeldBack)
    return { kind: 'held_back', status: null, detail: 'it was not sent', retryAfterMs: null };
  const known = lateness(error, deadlines) ?? causes[codeOf(error)];
  const said = known ?? (error instanceof Error ? quote(error.message) : 'the request failed');
  return { kind: 'unavailable', status: null, detail: `${where}: ${said}`, retryAfterMs: null };
}

/** Shared decoder. Creating one takes longer than decoding a small body. */
const decoder = new TextDecoder();

/** Drops a byte order mark. */
export function textOf(body: Uint8Array): string {
  return decoder.decode(body);
}

/** Returns JSON of any shape (docs/faults.md H2, H5), without secrets. */
export function jsonOf({ status, body }: Pick<Success, 'status' | 'body'>, redactor: Redactor): Result<unknown> {
  if (body.length > maxValues && valuesIn(body) > maxValues)
    return malformed(status, `it has more than ${maxValues} values`);
  const text = textOf(body);
  try {
    return { ok: true, value: redactor.json(text) };
  } catch {
    const said = text.trim() === '' ? 'the body is empty' : `the body is not valid JSON: ${quote(redactor.text(text))}`;
    return malformed(status, said);
  }
}

const [comma, bracket, brace] = [0x2c, 0x5b, 0x7b];

/** Upper bound for the number of values. Characters inside texts count as structure. */
function valuesIn(body: Uint8Array): number {
  let values = 1;
  // An iterator takes five times as long.
  for (let at = 0; at < body.length; at += 1) {
    const byte = body[at];
    if (byte === comma || byte === bracket || byte === brace) values += 1;
  }
  return values;
}
