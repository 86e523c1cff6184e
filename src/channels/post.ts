// One request to a receiver, returned as a value: what it answered, or why it did not. No redirects, no address in any text.

import { Readable } from 'node:stream';
import { Agent, type Dispatcher } from 'undici';
import { maxHeaderBytes } from '../api/http/exchange.ts';
import { ProxyError } from '../api/http/failure.ts';
import { type WayOut, wayOutTo } from '../api/http/way-out.ts';
import { directly, type Egress } from '../core/egress.ts';
import { type EpochMs, minuteMs, readRetryAfter, retryAfterInBody } from '../core/time.ts';
import { type Clock, systemClock } from '../world/world.ts';
import { type Channel, type Hook, maxRetryAfterMs, type SendOutcome, type SendResult } from './channel.ts';

/** An answer that is read no further than this, bytes: acknowledgements are short. */
const maxAnswerBytes = 4_096;
/** An answer is given so long for its body, which may say why, and after how long to try again. */
const saidWithinMs = 500;

interface ReceiverAgent extends WayOut {
  readonly agent: Agent;
}

/** Senders by origin and egress. Node.js has an undici of its own, whose parser would be compiled while the first message is sent; ours was, for the polls. */
const senders = new Map<string, ReceiverAgent>();

function senderTo(url: string, egress: Egress): ReceiverAgent {
  const key = JSON.stringify([new URL(url).origin, egress]);
  const known = senders.get(key);
  if (known) return known;
  const way = wayOutTo(url, egress, false);
  const made = { ...way, agent: new Agent({ allowH2: false, connect: way.connect, maxHeaderSize: maxHeaderBytes }) };
  senders.set(key, made);
  return made;
}

interface ReceiverRequest {
  readonly method: 'GET' | 'POST';
  readonly url: string;
  readonly body?: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
  /** The way to `url`. Default: directly. */
  readonly egress?: Egress | undefined;
  /** Wall time, for a Retry-After date when the answer has no Date of its own. */
  readonly now: EpochMs;
}

/** The answer, or why there is none: `detail` is a sentence. `isLate`: the request left whole, and no answer to it came in time. */
export type ReceiverAnswer =
  | { readonly kind: 'answer'; readonly status: number; readonly text: string; readonly retryAfterMs: number | null }
  | { readonly kind: 'failed'; readonly detail: string; readonly isLate: boolean };

/** Sends JSON and waits for the answer. */
export function postJson(
  { url, egress }: Pick<Hook, 'url' | 'egress'>,
  body: string,
  { signal, clock, headers }: PostOptions,
): Promise<ReceiverAnswer> {
  const types = { 'content-type': 'application/json; charset=utf-8', ...headers };
  return ask({ method: 'POST', url, egress, body, headers: types, signal, now: clock.now() });
}

interface PostOptions {
  readonly signal: AbortSignal;
  readonly clock: Clock;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Sends a request and waits for the answer, or for its beginning when it is long or never ends. */
async function ask(asked: ReceiverRequest): Promise<ReceiverAnswer> {
  const bytes = Buffer.from(asked.body ?? '');
  let isSent = false;
  const sending = async function* () {
    yield bytes;
    // undici asks for more when the socket has taken it.
    isSent = true;
  };
  const { agent, forward, proxy } = senderTo(asked.url, asked.egress ?? directly);
  const { origin, host, pathname, search } = new URL(asked.url);
  try {
    const { statusCode, headers, body } = await agent.request({
      origin: forward?.origin ?? origin,
      path: `${forward ? origin : ''}${pathname}${search}`,
      method: asked.method,
      headers: {
        'user-agent': 'warmwarden',
        ...(bytes.length > 0 && { 'content-length': String(bytes.length) }),
        ...asked.headers,
        ...(forward && { host, ...forward.headers }),
      },
      body: bytes.length > 0 ? Readable.from(sending()) : null,
      signal: asked.signal,
      // A connection kept for hours is closed by the other side at the moment when it is needed.
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
      retryAfterMs:
        readRetryAfter(headers, asked.now, maxRetryAfterMs) ??
        (statusCode >= 400 ? retryAfterInBody(text, maxRetryAfterMs) : null),
    };
  } catch (error) {
    const mayHaveArrived = isSent && !(error instanceof ProxyError);
    return {
      kind: 'failed',
      detail: failureText(error, { signal: asked.signal, proxy, mayHaveArrived }),
      isLate: asked.signal.aborted && mayHaveArrived,
    };
  }
}

type Body = Dispatcher.ResponseData['body'];

/** Reads the part of a body that comes in time, or its beginning when it is long; then ends the connection. */
async function textOf(body: Body): Promise<string> {
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
    // The status decides, with what came.
  }
  return Buffer.concat(chunks).subarray(0, maxAnswerBytes).toString('utf8');
}

interface FailedRequest {
  readonly signal: AbortSignal;
  readonly proxy: string | null;
  readonly mayHaveArrived: boolean;
}

/** Only the error's code: messages of the network carry addresses. The address of a proxy is no secret. */
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

const goneStatus = 410;

/** What an answer means for a receiver to which any 2xx is a success. `who` begins the sentence of a failure. */
export function resultOf(answer: ReceiverAnswer, who = 'the receiver'): SendResult {
  if (answer.kind === 'failed') return { kind: 'failed', detail: answer.detail, retryAfterMs: null, final: false };
  const { status } = answer;
  if (status >= 200 && status < 300) return { kind: 'sent', answer };
  // As Standard Webhooks has it.
  if (status === goneStatus)
    return { kind: 'gone', detail: `${who} answered 410: it accepts no more messages`, answer };
  const redirect = status >= 300 && status < 400 ? ', a redirect, which Warmwarden does not follow' : '';
  return { ...failureOf(answer, `${who} answered ${status}${redirect}`), answer };
}

/** What a status that is no success means for the delivery. */
export function failureOf(
  { status, retryAfterMs }: { readonly status: number; readonly retryAfterMs: number | null },
  detail: string,
): SendOutcome {
  const blamed = status >= 400 && status < 500 && !laterStatuses.includes(status);
  return blamed ? { kind: 'refused', detail, retryAfterMs } : { kind: 'failed', detail, retryAfterMs, final: false };
}

/** A wrong password or key is not tried every few seconds: services lock out who does that. */
const setupRetryMs = 5 * minuteMs;

/** The receiver refuses the channel as it is configured. `detail` says what to change. */
export function setupRefused(detail: string): SendOutcome {
  return { kind: 'failed', detail, retryAfterMs: setupRetryMs, final: false, setup: true };
}

/** Statuses by which a webhook says that its address is wrong, or its key. */
const setupStatuses = [401, 403, 404];

/** By this a gateway says that the receiver, which got the request, did not answer it in time. */
const gatewayTimeout = 504;

/** `said`: what it names as the reason. `remedy`: what to do about its address, also where `blamesSetup`. */
interface HookWords {
  readonly who: string;
  readonly said: string;
  readonly remedy: string;
  readonly blamesSetup?: boolean;
}

/** The meaning of an answer of a chat's webhook. A chat shows a message that comes again as another one. */
export function hookResultOf(
  answer: ReceiverAnswer,
  { who, said, remedy, blamesSetup = false }: HookWords,
): SendResult {
  const result = resultOf(answer, who);
  if (answer.kind === 'failed') return answer.isLate ? unanswered(answer.detail) : result;
  if (result.kind === 'sent' || result.kind === 'gone') return result;
  const detail = `${who} answered ${answer.status}${said}`;
  if (blamesSetup || setupStatuses.includes(answer.status)) return { ...setupRefused(`${detail}: ${remedy}`), answer };
  if (answer.status === gatewayTimeout) return { ...unanswered(detail), answer };
  return { ...failureOf(answer, detail), answer };
}

/** Outcome of a message that was sent whole and got no answer, or only that of a gateway: it may have arrived. */
export function unanswered(detail: string): SendOutcome {
  return { kind: 'unanswered', detail: `${detail}: the message may have arrived, so it counts as sent` };
}

/** The fields of a JSON answer; none when it is something else. */
export function fieldsIn(text: string): Readonly<Record<string, unknown>> {
  try {
    const body: unknown = JSON.parse(text);
    return typeof body === 'object' && body !== null ? { ...body } : {};
  } catch {
    return {};
  }
}

// How long one attempt to send may take. Sockets know real time only: also under a moved clock none must hang for ever.

/** Deadline of a receiver over HTTP. */
const sendDeadlineMs = minuteMs;
/** Time that every attempt may take, also while the process ends. */
const alwaysMs = 10_000;
/** How often it is looked whether a long attempt is to end. */
const lookMs = 500;

const realTime = systemClock();

/** The longest that an attempt may take, milliseconds. */
export function longestOf({ longestMs = sendDeadlineMs }: Pick<Channel, 'longestMs'>): number {
  return longestMs;
}

/** When an attempt that takes long is to end before its deadline. */
interface AttemptPatience {
  readonly mayGoOn: () => boolean;
  /** For tests; absent: ten seconds. */
  readonly alwaysMs?: number | undefined;
}

/** One attempt through a channel. Rejects as `send` does. */
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

// One ping of a dead man's switch.

/** Where pings go. */
export type PingTarget = Pick<Hook, 'url' | 'egress'>;

/** Absent `patience`: it has as long as a message. */
export async function pingOf(
  { url, egress }: PingTarget,
  clock: Clock,
  patience: AttemptPatience = { mayGoOn: () => true },
): Promise<SendResult> {
  const ping = (signal: AbortSignal) => ask({ method: 'GET', url, egress, headers: {}, signal, now: clock.now() });
  return resultOf(await attempt({}, ping, patience));
}
