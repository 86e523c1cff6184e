// One HTTP request under deadlines and caps, told as a value: the text of a success, or a failure of a closed kind.
import { Agent, type Dispatcher, request } from 'undici';
import { readRetryAfter } from '../model/retry-after.ts';
import { type EpochMs, minuteMs } from '../model/time.ts';
import { classify, type Failure, failed, malformed, quote, type Result } from './failure.ts';

// Transport deadlines run on real time: they are about sockets, not about mailboxes.
const connectDeadlineMs = 5_000;
const headersDeadlineMs = 15_000;
const idleDeadlineMs = 10_000;
const totalDeadlineMs = 30_000;
const maxBodyBytes = 32 * 1024 * 1024;
const maxErrorBytes = 64 * 1024;
/** A longer Retry-After is cut: we must come back (FAULTS.md H11). */
const longestStopMs = 15 * minuteMs;
const maxConnections = 16;

export type AnswerHeaders = Dispatcher.ResponseData['headers'];

/** The connections to one API, over TCP or over a unix socket; its owner destroys it. */
export function createAgent(socketPath: string | null = null): Agent {
  return new Agent({
    connections: maxConnections,
    connect: { timeout: connectDeadlineMs, ...(socketPath === null ? {} : { socketPath }) },
    headersTimeout: headersDeadlineMs,
    bodyTimeout: idleDeadlineMs,
  });
}

export interface Ask {
  readonly method: 'GET' | 'POST';
  /** Without a trailing slash. */
  readonly baseUrl: string;
  /** Begins with a slash; appended to `baseUrl` as it is. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
  /** Ends the request before its deadline. */
  readonly signal: AbortSignal | null;
}

/** A 2xx answer. */
export interface Success {
  readonly status: number;
  /** Without a byte order mark. */
  readonly text: string;
}

export interface Exchange {
  /** null when no complete answer came. */
  readonly status: number | null;
  /** Empty when no answer came. */
  readonly headers: AnswerHeaders;
  /** Everything but a complete 2xx answer is a failure. Redirects are not followed (H18). */
  readonly result: Result<Success>;
  /** False when no connection came about: the other side has surely not seen the request. */
  readonly reached: boolean;
}

/** Sends one request. Never rejects for what the outside does. `now`: wall time, for a Retry-After date without a Date. */
export async function exchange(agent: Agent, ask: Ask, now: () => EpochMs): Promise<Exchange> {
  const total = AbortSignal.timeout(totalDeadlineMs);
  let headers: AnswerHeaders = {};
  try {
    const response = await request(`${ask.baseUrl}${ask.path}`, {
      method: ask.method,
      dispatcher: agent,
      signal: ask.signal ? AbortSignal.any([total, ask.signal]) : total,
      headers: ask.headers,
      body: ask.body,
    });
    headers = response.headers;
    const { statusCode: status, body } = response;
    if (status >= 200 && status < 300) {
      const text = await readText(body, maxBodyBytes);
      const result: Result<Success> =
        text === null
          ? malformed(status, 'the answer is larger than we accept')
          : { ok: true, value: { status, text: text.replace(/^\uFEFF/, '') } };
      return { status, headers, result, reached: true };
    }
    // The status and the headers of an error count, whatever becomes of its body (FAULTS.md H1, H17).
    const text = (await readText(body, maxErrorBytes).catch(() => '')) ?? '';
    const location = typeof headers['location'] === 'string' ? headers['location'] : null;
    const retryAfterMs = readRetryAfter(headers, now(), longestStopMs);
    return { status, headers, result: failed(classify({ status, text, location }, retryAfterMs)), reached: true };
  } catch (error) {
    const result = failed(unavailable(error, ask.baseUrl));
    return { status: null, headers, result, reached: !isUnreached(error) };
  }
}

/** The JSON of a success, whatever its shape (FAULTS.md H2, H5). */
export function jsonOf({ status, text }: Success): Result<unknown> {
  try {
    return { ok: true, value: JSON.parse(text) };
  } catch {
    return malformed(status, text.trim() === '' ? 'the body is empty' : `the body is no JSON: ${quote(text)}`);
  }
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

/** Node's and undici's codes in words. Their messages can hold addresses but never headers. */
const causes: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'the connection was refused',
  ECONNRESET: 'the connection was reset',
  ENOTFOUND: 'the host name is not known',
  ENOENT: 'the socket is not there',
  EAI_AGAIN: 'the host name could not be looked up',
  UND_ERR_CONNECT_TIMEOUT: `no connection within ${connectDeadlineMs / 1_000} s`,
  UND_ERR_HEADERS_TIMEOUT: `no answer within ${headersDeadlineMs / 1_000} s`,
  UND_ERR_BODY_TIMEOUT: `the answer stopped for ${idleDeadlineMs / 1_000} s`,
  UND_ERR_SOCKET: 'the connection was closed before the answer was complete',
};

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}

function isUnreached(error: unknown): boolean {
  return ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'ENOENT', 'UND_ERR_CONNECT_TIMEOUT'].includes(codeOf(error));
}

function unavailable(error: unknown, baseUrl: string): Failure {
  const name = error instanceof Error ? error.name : '';
  const late = name === 'TimeoutError' ? `no complete answer within ${totalDeadlineMs / 1_000} s` : null;
  const said = late ?? causes[codeOf(error)] ?? (error instanceof Error ? quote(error.message) : 'the request failed');
  return { kind: 'unavailable', status: null, detail: `${baseUrl}: ${said}`, retryAfterMs: null };
}
