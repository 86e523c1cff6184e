// One request through a dispatcher, down to its decoded bytes: deadlines, caps on the wire and on what comes out of it.
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import type { Agent, Dispatcher } from 'undici';
import { quote } from './failure.ts';

const unzip = promisify(gunzip);

/** Header names in lower case. */
export type AnswerHeaders = Readonly<Record<string, string | string[] | undefined>>;

/** Milliseconds of real time: they are about sockets, not about mailboxes. */
export interface Deadlines {
  /** Until the head of the answer is there. */
  readonly headersMs: number;
  /** Between two pieces of its body. */
  readonly idleMs: number;
  /** For all of it. */
  readonly totalMs: number;
}

/** The most that is taken of one body. */
export interface Caps {
  /** Bytes as they come over the wire. */
  readonly wireBytes: number;
  /** Bytes once they are decoded. */
  readonly decodedBytes: number;
}

/** An answer whose head has come; `trouble` says why its body can't be had, completing "HTTP 200, but ...". */
export interface Received {
  readonly status: number;
  readonly headers: AnswerHeaders;
  readonly text: string;
  readonly trouble: string | null;
}

export interface Dispatched {
  readonly request: Dispatcher.DispatchOptions;
  readonly signal: AbortSignal | null;
  readonly deadlines: Deadlines;
  /** By status: an error needs less room than an answer. */
  readonly capsOf: (status: number) => Caps;
}

interface Raw {
  readonly status: number;
  readonly headers: AnswerHeaders;
  readonly bytes: Buffer;
  readonly trouble: string | null;
}

const tooLarge = 'the answer is larger than we accept';

/**
 * Sends and receives. Rejects when no head came, when a deadline passed or when the signal ended it; a body that
 * broke off is told as trouble beside the status and the headers, which count all the same.
 */
export async function receive(agent: Agent, wanted: Dispatched): Promise<Received> {
  const { status, headers, bytes, trouble } = await collect(agent, wanted);
  if (trouble !== null) return { status, headers, text: '', trouble };
  return { status, headers, ...(await decode(bytes, headers, wanted.capsOf(status).decodedBytes)) };
}

/** Requests that begin within this time share the signal of their total deadline: one timer a request would live on for as long. */
const sharedForMs = 250;
let shared: { readonly totalMs: number; readonly total: AbortSignal; readonly stale: AbortSignal } | null = null;

/** Aborts after `totalMs`, or up to 250 ms later. */
function deadlineOf(totalMs: number): AbortSignal {
  if (shared === null || shared.totalMs !== totalMs || shared.stale.aborted) {
    const total = AbortSignal.timeout(totalMs + sharedForMs);
    shared = { totalMs, total, stale: AbortSignal.timeout(sharedForMs) };
  }
  return shared.total;
}

function collect(agent: Agent, { request, signal, deadlines, capsOf }: Dispatched): Promise<Raw> {
  const total = deadlineOf(deadlines.totalMs);
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let head: Pick<Raw, 'status' | 'headers'> | null = null;
    let bytes = 0;
    let abort = (reason: Error) => reject(reason);
    const end = () => abort(signal?.aborted ? signal.reason : total.reason);
    const settle = (trouble: string | null, error?: Error) => {
      total.removeEventListener('abort', end);
      signal?.removeEventListener('abort', end);
      // The status and the headers of an error count, whatever becomes of its body (FAULTS.md H1, H17).
      if (head && (trouble !== null || !error || head.status >= 300)) {
        resolve({ ...head, bytes: Buffer.concat(chunks), trouble: error ? (trouble ?? brokeOff) : null });
      } else reject(error);
    };
    total.addEventListener('abort', end);
    signal?.addEventListener('abort', end);
    if (signal?.aborted) return settle(null, signal.reason);
    agent.dispatch(
      { ...request, headersTimeout: deadlines.headersMs, bodyTimeout: deadlines.idleMs },
      {
        onRequestStart(controller) {
          abort = (reason) => controller.abort(reason);
          if (total.aborted || signal?.aborted) end();
        },
        onResponseStart(_controller, status, headers) {
          if (status >= 200) head = { status, headers };
        },
        onResponseData(controller, chunk) {
          bytes += chunk.length;
          if (bytes <= capsOf(head?.status ?? 0).wireBytes) chunks.push(chunk);
          else controller.abort(new TooLarge());
        },
        onResponseEnd: () => settle(null),
        onResponseError: (_controller, error) => settle(troubleOf(error), error),
      },
    );
  });
}

const brokeOff = 'it broke off before it was complete';

/** Our own end of a body that is over its cap. */
class TooLarge extends Error {}

/** What is wrong with a body that did not come to its end; null when time or a stop of ours ended it. */
function troubleOf(error: Error): string | null {
  if (error instanceof TooLarge) return tooLarge;
  const ended = error.name === 'TimeoutError' || error.name === 'AbortError' || 'code' in error === false;
  return ended || String((error as NodeJS.ErrnoException).code).endsWith('_TIMEOUT') ? null : brokeOff;
}

/** Only gzip is asked for, so only gzip is understood (FAULTS.md H16). */
async function decode(
  bytes: Buffer,
  headers: AnswerHeaders,
  maxBytes: number,
): Promise<Pick<Received, 'text' | 'trouble'>> {
  const encoding = String(headers['content-encoding'] ?? '')
    .trim()
    .toLowerCase();
  if (encoding === '' || encoding === 'identity') return { text: bytes.toString('utf8'), trouble: null };
  if (encoding !== 'gzip' && encoding !== 'x-gzip') {
    return { text: '', trouble: `it is encoded as ${quote(encoding)}, which was not asked for` };
  }
  try {
    return { text: (await unzip(bytes, { maxOutputLength: maxBytes })).toString('utf8'), trouble: null };
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code === 'ERR_BUFFER_TOO_LARGE') return { text: '', trouble: tooLarge };
    return { text: '', trouble: code === 'Z_BUF_ERROR' ? brokeOff : 'it is no gzip, though it says so' };
  }
}
