// Sends one request to a receiver. Follows no redirects, and puts no address into any text.

import { Readable } from 'node:stream';
import { Agent, type Dispatcher } from 'undici';
import { maxHeaderBytes } from '../api/http/exchange.ts';
import { ProxyError } from '../api/http/failure.ts';
import { readRetryAfter } from '../api/http/retry-after.ts';
import { wayOutTo } from '../api/http/way-out.ts';
import { directly } from '../core/egress.ts';
import { minuteMs } from '../core/time.ts';
import { type Clock, systemClock } from '../world/world.ts';
import { type Channel, type Hook, maxRetryAfterMs, type SendOutcome, type SendResult } from './channel.ts';

/** Bytes of an answer that are read: acknowledgements are short. */
const maxAnswerBytes = 4_096;
/** Time for the body of an answer, which may contain a reason and a time for a retry. */
const saidWithinMs = 500;

export type HttpMethod = 'GET' | 'POST' | 'PUT' | 'PATCH';

/** `mayHaveArrived`: the whole request was sent. `isLate`: it was, and no answer came in time. */
export type ReceiverAnswer =
  | { readonly kind: 'answer'; readonly status: number; readonly text: string; readonly retryAfterMs: number | null }
  | { readonly kind: 'failed'; readonly detail: string; readonly mayHaveArrived: boolean; readonly isLate: boolean };

interface PostOptions {
  readonly signal: AbortSignal;
  readonly clock: Clock;
  readonly headers?: Readonly<Record<string, string>>;
  readonly method?: HttpMethod;
}

/** Waits only for the beginning of an answer that is long or never ends. `json`: empty for a request without a body. */
export async function postJson(
  hook: Pick<Hook, 'url' | 'egress' | 'headers'>,
  json: string,
  { signal, clock, headers: more, method = 'POST' }: PostOptions,
): Promise<ReceiverAnswer> {
  const bytes = Buffer.from(json);
  const now = clock.now();
  let isSent = false;
  const sending = async function* () {
    yield bytes;
    // undici asks for more once the socket has accepted the body.
    isSent = true;
  };
  const { connect, forward, proxy } = wayOutTo(hook.url, hook.egress ?? directly, false);
  // A connection kept for hours would be closed by the other side at the moment when it is needed.
  const agent = new Agent({ allowH2: false, connect, maxHeaderSize: maxHeaderBytes });
  const { origin, host, pathname, search } = new URL(hook.url);
  try {
    const { statusCode, headers, body } = await agent.request({
      origin: forward?.origin ?? origin,
      path: `${forward ? origin : ''}${pathname}${search}`,
      method,
      headers: {
        'user-agent': 'warmwarden',
        ...(bytes.length > 0 && {
          'content-length': String(bytes.length),
          'content-type': 'application/json; charset=utf-8',
        }),
        ...hook.headers,
        ...more,
        ...(forward && { host, ...forward.headers }),
      },
      body: bytes.length > 0 ? Readable.from(sending()) : null,
      signal,
      reset: true,
    });
    if (statusCode === 407 && forward) {
      body.destroy();
      throw new ProxyError(statusCode);
    }
    const text = await textOf(body);
    return {
      kind: 'answer',
      status: statusCode,
      text,
      retryAfterMs: readRetryAfter(headers, statusCode >= 400 ? text : '', now, maxRetryAfterMs),
    };
  } catch (error) {
    const mayHaveArrived = isSent && !(error instanceof ProxyError);
    return {
      kind: 'failed',
      detail: failureText(error, { signal, proxy, mayHaveArrived }),
      mayHaveArrived,
      isLate: signal.aborted && mayHaveArrived,
    };
  } finally {
    void agent.destroy();
  }
}

async function textOf(body: Dispatcher.ResponseData['body']): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  AbortSignal.timeout(saidWithinMs).addEventListener('abort', () => void body.destroy());
  try {
    for await (const chunk of body) {
      chunks.push(chunk);
      size += chunk.length;
      if (size >= maxAnswerBytes) break;
    }
  } catch {
    // The status decides, with the text that came.
  }
  return Buffer.concat(chunks).subarray(0, maxAnswerBytes).toString('utf8');
}

interface FailedRequest {
  readonly signal: AbortSignal;
  readonly proxy: string | null;
  readonly mayHaveArrived: boolean;
}

/** Messages of the network contain addresses, so the text has only the error's code. */
function failureText(error: unknown, { signal, proxy, mayHaveArrived }: FailedRequest): string {
  if (signal.aborted) return 'the receiver did not answer in time';
  const code = codeOf(error) ?? codeOf((error as { cause?: unknown } | null)?.cause);
  const through = proxy === null ? '' : ` through the proxy ${proxy}`;
  const why = error instanceof ProxyError ? error.message : (code ?? 'unknown error');
  if (mayHaveArrived) return `the connection${through} was lost before the receiver answered (${why})`;
  return `the receiver could not be reached${through} (${why})`;
}

function codeOf(error: unknown): string | null {
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : null;
  return typeof code === 'string' && /^\w+$/.test(code) ? code : null;
}

/** Statuses that blame the request but only mean "later". */
const laterStatuses = [408, 425, 429];

const unauthorizedStatus = 401;
const goneStatus = 410;

/** Any 2xx is a success. `who` begins the sentence of a failure. */
export function resultOf(answer: ReceiverAnswer, who = 'the receiver'): SendResult {
  if (answer.kind === 'failed') return { kind: 'failed', detail: answer.detail, retryAfterMs: null, final: false };
  const { status } = answer;
  if (status >= 200 && status < 300) return { kind: 'sent', answer };
  // Standard Webhooks gives 410 this meaning.
  if (status === unauthorizedStatus)
    return { ...setupRefused(`${who} answered 401: it requires other headers, user name or password`), answer };
  if (status === goneStatus) return { ...setupRefused(`${who} answered 410: it accepts no more messages`), answer };
  const redirect = status >= 300 && status < 400 ? ', a redirect, which Warmwarden does not follow' : '';
  return { ...failureOf(answer, `${who} answered ${status}${redirect}`), answer };
}

export function failureOf(
  { status, retryAfterMs }: { readonly status: number; readonly retryAfterMs: number | null },
  detail: string,
): SendOutcome {
  const blamed = status >= 400 && status < 500 && !laterStatuses.includes(status);
  return blamed ? { kind: 'refused', detail, retryAfterMs } : { kind: 'failed', detail, retryAfterMs, final: false };
}

/** Services lock out a sender that retries every few seconds with a wrong key. */
const setupRetryMs = 5 * minuteMs;

export function setupRefused(detail: string): SendOutcome {
  return { kind: 'failed', detail, retryAfterMs: setupRetryMs, final: false, setup: true };
}

/** A message that was sent completely and got no answer, or only a gateway's, may have arrived. */
export function unanswered(detail: string): SendOutcome {
  return { kind: 'unanswered', detail: `${detail}: the message may have arrived, so it counts as sent` };
}

// Duration of one attempt to send, in real time, so that no socket hangs for ever under a moved clock.

const sendDeadlineMs = minuteMs;
/** Time that every attempt may take, even while the process ends. */
const alwaysMs = 10_000;
const lookMs = 500;

const realTime = systemClock();

export function longestOf({ longestMs = sendDeadlineMs }: Pick<Channel, 'longestMs'>): number {
  return longestMs;
}

export interface AttemptPatience {
  readonly mayGoOn: () => boolean;
  /** Time that every attempt may take; ten seconds if absent. For tests. */
  readonly alwaysMs?: number | undefined;
}

/** Rejects as `send` does. */
export async function attempt<Outcome>(
  channel: Pick<Channel, 'longestMs'>,
  send: (signal: AbortSignal) => Promise<Outcome>,
  patience: AttemptPatience,
): Promise<Outcome> {
  const over = new AbortController();
  const cut = new AbortController();
  void cutShort(cut, over.signal, patience);
  try {
    return await send(AbortSignal.any([AbortSignal.timeout(longestOf(channel)), cut.signal]));
  } finally {
    over.abort('over');
  }
}

async function cutShort(cut: AbortController, over: AbortSignal, patience: AttemptPatience): Promise<void> {
  await realTime.sleep(patience.alwaysMs ?? alwaysMs, over);
  while (!over.aborted && patience.mayGoOn()) await realTime.sleep(lookMs, over);
  cut.abort();
}

export type PingTarget = Pick<Hook, 'url' | 'egress'>;

/** Pings a dead man's switch. Without `patience` a ping may take as long as a message. */
export async function pingOf(
  target: PingTarget,
  clock: Clock,
  patience: AttemptPatience = { mayGoOn: () => true },
): Promise<SendResult> {
  const ping = (signal: AbortSignal) => postJson(target, '', { method: 'GET', signal, clock });
  return resultOf(await attempt({}, ping, patience));
}
