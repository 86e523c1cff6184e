// Makes one request through a dispatcher, up to its decoded bytes, with deadlines and caps.
import { createGunzip } from 'node:zlib';
import type { Agent, Dispatcher } from 'undici';
import { actAfter } from '../../world/world.ts';
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
export async function receive(agent: Agent, { request, signal, deadlines, mayLeave }: Dispatched): Promise<Received> {
  const own = { bytes: 0 };
  const reception = new Reception(mayLeave, own);
  const abort = () => reception.abort(errorOf(signal?.reason));
  const late = () => reception.abort(new DOMException('there was no complete answer in time', 'TimeoutError'));
  const endDeadline = actAfter(deadlines.totalMs, late);
  signal?.addEventListener('abort', abort);
  try {
    if (signal?.aborted) abort();
    else agent.dispatch(request, reception);
    const { status, headers, sent } = await reception.complete;
    return { status, headers, body: await decoded(sent.whole(), headers, sent.maxBytes, own), trouble: null };
  } catch (error) {
    const { answer, isAborted } = reception;
    // The status and the headers of an error are valid even without its body (docs/faults.md H1, H17).
    const isLate = isAborted || String((error as NodeJS.ErrnoException).code).endsWith('_TIMEOUT');
    if (!answer || (isLate && answer.status < 300)) throw error;
    const { status, headers } = answer;
    return { status, headers, body: Buffer.alloc(0), trouble: error instanceof BodyTrouble ? error.message : brokeOff };
  } finally {
    endDeadline();
    signal?.removeEventListener('abort', abort);
    inProgress -= own.bytes;
  }
}

interface BegunAnswer extends Pick<Received, 'status' | 'headers'> {
  readonly sent: Pieces;
}

/** Collects an answer as it comes. undici's own `request()` makes a stream and abort signals for each. */
class Reception implements Dispatcher.DispatchHandler {
  answer: BegunAnswer | null = null;
  isAborted = false;
  readonly #mayLeave: Dispatched['mayLeave'];
  readonly #own: { bytes: number };
  readonly #end = Promise.withResolvers<BegunAnswer>();
  #controller: Dispatcher.DispatchController | null = null;

  constructor(mayLeave: Dispatched['mayLeave'], own: { bytes: number }) {
    this.#mayLeave = mayLeave;
    this.#own = own;
  }

  get complete(): Promise<BegunAnswer> {
    return this.#end.promise;
  }

  /** Rejects at once: undici aborts no request that waits for a connection. */
  abort(reason: Error): void {
    this.isAborted = true;
    this.#end.reject(reason);
    this.#controller?.abort(reason);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.isAborted || this.#mayLeave?.() === false) controller.abort(new HeldBack());
  }

  onResponseStart(_: Dispatcher.DispatchController, status: number, headers: AnswerHeaders): void {
    // A status below 200 comes before the answer.
    if (status < 200) return;
    this.answer = { status, headers, sent: new Pieces(status < 300 ? maxAnswerBytes : maxErrorBytes, this.#own) };
  }

  onResponseData(controller: Dispatcher.DispatchController, piece: Buffer): void {
    try {
      this.answer?.sent.add(piece);
    } catch (error) {
      controller.abort(error as Error);
    }
  }

  onResponseEnd(): void {
    if (this.answer) this.#end.resolve(this.answer);
  }

  onResponseError(_: Dispatcher.DispatchController, error: Error): void {
    this.#end.reject(error);
  }
}

/** An MCP client may give any text as the reason of an abort. */
function errorOf(reason: unknown): Error {
  return reason instanceof Error ? reason : new DOMException(String(reason), 'AbortError');
}

/** Pieces of a body, within the limits of one body and of all bodies in progress. */
class Pieces {
  readonly maxBytes: number;
  readonly #own: { bytes: number };
  readonly #pieces: Buffer[] = [];
  #length = 0;

  constructor(maxBytes: number, own: { bytes: number }) {
    this.maxBytes = maxBytes;
    this.#own = own;
  }

  add(piece: Buffer): void {
    this.#length += piece.length;
    if (this.#length > this.maxBytes) throw new BodyTrouble('the answer is larger than Warmwarden accepts');
    this.#own.bytes += piece.length;
    inProgress += piece.length;
    if (this.#own.bytes > smallBytes && inProgress > maxInProgress)
      throw new BodyTrouble('too many answers are in progress to accept one this large');
    this.#pieces.push(piece);
  }

  whole(): Buffer {
    return Buffer.concat(this.#pieces);
  }
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
    const pieces = new Pieces(maxBytes, own);
    for await (const piece of unzipping) pieces.add(piece);
    return pieces.whole();
  } catch (error) {
    if (error instanceof BodyTrouble || (error as NodeJS.ErrnoException).code === 'Z_BUF_ERROR') throw error;
    throw new BodyTrouble('it says that it is gzip, but it is not');
  }
}
