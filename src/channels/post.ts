// One request to a receiver, returned as a value: what it answered, or why it did not. No redirects, no address in any text.
import { Agent, type Dispatcher, getGlobalDispatcher, request } from 'undici';
import { readRetryAfter, retryAfterInBody } from '../model/retry-after.ts';
import { type EpochMs, minuteMs } from '../model/time.ts';
import { maxRetryAfterMs, type SendOutcome, type SendResult } from './channel.ts';

/** An answer that is read no further than this, bytes: acknowledgements are short. */
const maxAnswerBytes = 4_096;
/** An answer that its status decides waits so long for its body, which may say why, and after how long to try again. */
const saidWithinMs = 500;

/**
 * Node.js has an undici of its own, whose parser would be compiled while the first message is sent; ours was, for the polls. Where
 * Node.js was told to go through a proxy (NODE_USE_ENV_PROXY), messages do, too.
 */
const dispatcher =
  getGlobalDispatcher().constructor.name === Agent.name ? new Agent({ allowH2: false }) : getGlobalDispatcher();

export interface Ask {
  readonly method: 'GET' | 'POST';
  readonly url: string;
  readonly body?: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
  /** Wall time, for a Retry-After date when the answer has no Date of its own. */
  readonly now: EpochMs;
  /** The body says whether a 2xx is a success: it is waited for until the deadline. Otherwise the status alone does. */
  readonly bodyCounts?: true;
}

/** What came back. `failed` is a sentence. */
export type Answer =
  | { readonly kind: 'answer'; readonly status: number; readonly text: string; readonly retryAfterMs: number | null }
  | { readonly kind: 'failed'; readonly detail: string };

/** Sends JSON and waits for the answer. */
export function postJson({ headers, ...post }: Omit<Ask, 'method'>): Promise<Answer> {
  return ask({ ...post, method: 'POST', headers: { 'content-type': 'application/json; charset=utf-8', ...headers } });
}

/** Sends a request and waits for the answer, or for its beginning when it is long or never ends. */
export async function ask(asked: Ask): Promise<Answer> {
  try {
    const { statusCode, headers, body } = await request(asked.url, {
      dispatcher,
      method: asked.method,
      headers: { 'user-agent': 'warmwarden', ...asked.headers },
      body: asked.body ?? null,
      signal: asked.signal,
      // A connection kept for hours is closed by the other side at the moment when it is needed.
      reset: true,
    });
    const isDecided = statusCode >= 300 || !asked.bodyCounts;
    const text = await textOf(body, isDecided ? saidWithinMs : null);
    return {
      kind: 'answer',
      status: statusCode,
      text,
      retryAfterMs:
        readRetryAfter(headers, asked.now, maxRetryAfterMs) ??
        (statusCode >= 400 ? retryAfterInBody(text, maxRetryAfterMs) : null),
    };
  } catch (error) {
    return { kind: 'failed', detail: failureText(error, asked.signal) };
  }
}

type Body = Dispatcher.ResponseData['body'];

/** What comes of a body in time, or its beginning when it is long; then the connection is ended. Rejects when it needs a body and none comes. */
async function textOf(body: Body, withinMs: number | null): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  if (withinMs !== null) AbortSignal.timeout(withinMs).addEventListener('abort', () => void body.destroy());
  try {
    for await (const chunk of body) {
      chunks.push(chunk);
      size += chunk.length;
      if (size >= maxAnswerBytes) break;
    }
  } catch (error) {
    if (withinMs === null && size === 0) throw error;
  }
  return Buffer.concat(chunks).subarray(0, maxAnswerBytes).toString('utf8');
}

/** Only the error's code: messages of the network carry addresses. */
function failureText(error: unknown, signal: AbortSignal): string {
  if (signal.aborted) return 'the receiver did not answer in time';
  const code = codeOf(error) ?? codeOf((error as { cause?: unknown } | null)?.cause);
  return `the receiver could not be reached (${code ?? 'unknown error'})`;
}

function codeOf(error: unknown): string | null {
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : null;
  return typeof code === 'string' && /^\w+$/.test(code) ? code : null;
}

/** Statuses that blame the request but only mean "later". */
const laterStatuses = [408, 425, 429];

/** What an answer means for a receiver to which any 2xx is a success. `who` begins the sentence of a failure. */
export function resultOf(answer: Answer, who = 'the receiver'): SendResult {
  if (answer.kind === 'failed') return { kind: 'failed', detail: answer.detail, retryAfterMs: null, final: false };
  const { status } = answer;
  if (status >= 200 && status < 300) return { kind: 'sent', answer };
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
const goneStatus = 410;

/** `said`: what it names as the reason. `remedy`: what to do about its address, also where `blamesSetup`. */
interface HookWords {
  readonly who: string;
  readonly said: string;
  readonly remedy: string;
  readonly blamesSetup?: boolean;
}

/** What an answer of a service's webhook means. */
export function hookResultOf(answer: Answer, { who, said, remedy, blamesSetup = false }: HookWords): SendResult {
  const result = goneOr(resultOf(answer, who));
  if (answer.kind === 'failed' || result.kind === 'sent' || result.kind === 'gone') return result;
  const detail = `${who} answered ${answer.status}${said}`;
  if (blamesSetup || setupStatuses.includes(answer.status)) return { ...setupRefused(`${detail}: ${remedy}`), answer };
  return { ...failureOf(answer, detail), answer };
}

/** 410 ends the endpoint, as Standard Webhooks has it. */
export function goneOr(result: SendResult): SendResult {
  const { answer } = result;
  if (answer?.status !== goneStatus) return result;
  return { kind: 'gone', detail: 'the receiver answered 410: it accepts no more messages', answer };
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
