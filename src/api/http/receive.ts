// Makes one request through a dispatcher, up to its decoded bytes, with deadlines and caps.
import { createGunzip } from 'node:zlib';
import type { Agent, Dispatcher } from 'undici';
import { quote } from './failure.ts';

/** Names are in lower case. */
export type AnswerHeaders = Readonly<Record<string, string | string[] | undefined>>;

/** Milliseconds of real time, because they concern sockets, not mailboxes. */
export interface Deadlines {
  readonly headersMs: number;
  /** Longest pause between two pieces of the body. */
  readonly idleMs: number;
  readonly totalMs: number;
}

/** An answer whose head has come. `trouble` explains a missing body, completing "HTTP 200, but ...". */
export interface Received {
  readonly status: number;
  readonly headers: AnswerHeaders;
  /** Empty if there is trouble. */
  readonly body: Buffer;
  readonly trouble: string | null;
}

export interface Dispatched {
  readonly request: Dispatcher.RequestOptions;
  readonly signal: AbortSignal | null;
  /** Deadlines of the request: the total one is enforced here, the others by undici. */
  readonly deadlines: Deadlines;
  /** Called right before the first byte. If it returns false, nothing is sent. */
  readonly mayLeave: (() => boolean) | undefined;
}

/** Maximum size of a body, both as sent and as decoded. */
const maxAnswerBytes = 32 * 1024 * 1024;
const maxErrorBytes = 64 * 1024;
/** Maximum of all bodies in progress together: large answers do not exhaust the memory. */
const maxInProgress = 64 * 1024 * 1024;
/** Smaller answers, which most are, are accepted whatever else is in progress. */
const smallBytes = 1024 * 1024;
let inProgress = 0;

export class HeldBack extends Error {}

/** Reason not to use a body, completing "HTTP 200, but ...". */
class BodyTrouble extends Error {}

const brokeOff = 'it ended before it was complete';

/** Rejects if no head came, a deadline passed or the signal aborted. A truncated body is trouble with a valid head. */
export async function receive(agent: Agent, wanted: Dispatched): Promise<Received> {
  const { request, signal, deadlines, mayLeave } = wanted;
  const ending = AbortSignal.any([AbortSignal.timeout(deadlines.totalMs), ...(signal ? [signal] : [])]);
  const dispatcher = mayLeave ? agent.compose(leavingIf(mayLeave)) : agent;
  const answer = await unlessAborted(dispatcher.request({ ...request, signal: ending }), ending);
  const { statusCode: status, headers } = answer;
  const maxBytes = status < 300 ? maxAnswerBytes : maxErrorBytes;
  const own = { bytes: 0 };
  try {
    const sent = await collected(answer.body, maxBytes, own);
    return { status, headers, body: await decoded(sent, headers, maxBytes, own), trouble: null };
  } catch (error) {
    // The status and the headers of an error are valid even without its body (docs/faults.md H1, H17).
    const isLate = ending.aborted || String((error as NodeJS.ErrnoException).code).endsWith('_TIMEOUT');
    if (isLate && status < 300) throw errorOf(error);
    return { status, headers, body: Buffer.alloc(0), trouble: error instanceof BodyTrouble ? error.message : brokeOff };
  } finally {
    inProgress -= own.bytes;
  }
}

function leavingIf(mayLeave: () => boolean): Dispatcher.DispatcherComposeInterceptor {
  return (dispatch) => (options, handler) => {
    const begin = handler.onRequestStart?.bind(handler);
    handler.onRequestStart = (controller, context) => {
      begin?.(controller, context);
      if (!mayLeave()) controller.abort(new HeldBack());
    };
    return dispatch(options, handler);
  };
}

/** Undici aborts no request that waits for a connection. */
async function unlessAborted<Value>(work: Promise<Value>, signal: AbortSignal): Promise<Value> {
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const abort = () => reject(errorOf(signal.reason));
  signal.addEventListener('abort', abort);
  if (signal.aborted) abort();
  try {
    return await Promise.race([aborted, work]);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}

/** An MCP client may give any text as the reason of an abort. */
function errorOf(reason: unknown): Error {
  return reason instanceof Error ? reason : new DOMException(String(reason), 'AbortError');
}

async function collected(pieces: AsyncIterable<Buffer>, maxBytes: number, own: { bytes: number }): Promise<Buffer> {
  const taken: Buffer[] = [];
  let length = 0;
  for await (const piece of pieces) {
    length += piece.length;
    if (length > maxBytes) throw new BodyTrouble('the answer is larger than Warmwarden accepts');
    own.bytes += piece.length;
    inProgress += piece.length;
    if (own.bytes > smallBytes && inProgress > maxInProgress)
      throw new BodyTrouble('too many answers are in progress to accept one this large');
    taken.push(piece);
  }
  return Buffer.concat(taken);
}

/** Accepts only gzip, as only gzip is requested (docs/faults.md H16). */
async function decoded(
  sent: Buffer,
  headers: AnswerHeaders,
  maxBytes: number,
  own: { bytes: number },
): Promise<Buffer> {
  const encoding = String(headers['content-encoding'] ?? '')
    .trim()
    .toLowerCase();
  if (encoding === '' || encoding === 'identity') return sent;
  if (encoding !== 'gzip' && encoding !== 'x-gzip')
    throw new BodyTrouble(`it is encoded as ${quote(encoding)}, which Warmwarden did not request`);
  const unzipping = createGunzip();
  unzipping.end(sent);
  try {
    return await collected(unzipping, maxBytes, own);
  } catch (error) {
    if (error instanceof BodyTrouble || (error as NodeJS.ErrnoException).code === 'Z_BUF_ERROR') throw error;
    throw new BodyTrouble('it says that it is gzip, but it is not');
  }
}
