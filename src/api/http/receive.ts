// One request through a dispatcher, down to its decoded bytes: deadlines, caps on the wire and on what comes out of it.
import { promisify } from 'node:util';
import { createGunzip, gunzip } from 'node:zlib';
import type { Agent, Dispatcher } from 'undici';
import { type Ending, Relay } from '../../world/interrupt.ts';
import { quote } from './failure.ts';
import type { HeldAnswer } from './held.ts';

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
  /**
   * The decoded body as it came; none where there is trouble. Not in one piece: hundreds of answers may arrive in one turn of the event
   * loop, and while V8 collects garbage, each large buffer that is made may take it some milliseconds.
   */
  readonly pieces: readonly Buffer[];
  /** Of the decoded body, bytes. */
  readonly length: number;
  /** Of the body, as they came over the wire. */
  readonly wireBytes: number;
  readonly trouble: string | null;
}

export interface Dispatched {
  /** With the deadlines of its head and of the pauses in its body. */
  readonly request: Dispatcher.DispatchOptions;
  readonly signal: Ending | null;
  /** The total one is kept here. */
  readonly deadlines: Deadlines;
  /** By status: an error needs less room than an answer. */
  readonly capsOf: (status: number) => Caps;
  /** Where its bytes are counted; it is released by whoever gave it. */
  readonly held: HeldAnswer;
  /** Asked right before its first byte leaves. False: nothing is sent. */
  readonly mayLeave: (() => boolean) | undefined;
}

const tooLarge = 'the answer is larger than Warmwarden accepts';
const noRoom = 'too many answers are in progress to accept one this large';
const nothing: readonly Buffer[] = [];
/** Most answers are smaller, and are decoded in one go. */
const smallBytes = 1024 * 1024;

/**
 * Sends and receives. Rejects when no head came, when a deadline passed or when the signal ended it; a body that
 * broke off is reported as trouble beside the status and the headers, which count all the same.
 */
export function receive(agent: Agent, wanted: Dispatched): Promise<Received> {
  return new Promise((resolve, reject) => new Receiving(wanted, { resolve, reject }).begin(agent));
}

/**
 * Requests that begin within this share of their total deadline have one signal for it: one a request would live on for as long, and
 * each that fires makes an error.
 */
const sharedPart = 0.1;
let shared: { readonly totalMs: number; readonly total: Ending; readonly stale: AbortSignal } | null = null;

/** Aborts after `totalMs`, or up to a tenth of it later. */
function deadlineOf(totalMs: number): Ending {
  if (shared === null || shared.totalMs !== totalMs || shared.stale.aborted) {
    const sharedForMs = Math.ceil(totalMs * sharedPart);
    const total = new Relay(AbortSignal.timeout(totalMs + sharedForMs));
    shared = { totalMs, total, stale: AbortSignal.timeout(sharedForMs) };
  }
  return shared.total;
}

interface Outcome {
  readonly resolve: (received: Received | Promise<Received>) => void;
  readonly reject: (error?: Error) => void;
}

/** What undici calls back for one request. An object of its own: a closure for each call would be half a kilobyte a request. */
class Receiving implements Dispatcher.DispatchHandler {
  readonly #wanted: Dispatched;
  readonly #outcome: Outcome;
  readonly #total: Ending;
  /** null until undici begins: nothing is to be aborted before. */
  #controller: Dispatcher.DispatchController | null = null;
  #head: { readonly status: number; readonly headers: AnswerHeaders } | null = null;
  readonly #chunks: Buffer[] = [];
  #bytes = 0;

  constructor(wanted: Dispatched, outcome: Outcome) {
    this.#wanted = wanted;
    this.#outcome = outcome;
    this.#total = deadlineOf(wanted.deadlines.totalMs);
  }

  begin(agent: Agent): void {
    const { request, signal, held } = this.#wanted;
    held.endedBy(() => this.#abort(new NoRoom()));
    this.#total.addEventListener('abort', this.#end);
    signal?.addEventListener('abort', this.#end);
    if (signal?.aborted) this.#settle(null, errorOf(signal.reason));
    else agent.dispatch(request, this);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    const { signal, mayLeave } = this.#wanted;
    if (this.#total.aborted || signal?.aborted) this.#end();
    else if (mayLeave?.() === false) this.#abort(new HeldBack());
  }

  onResponseStart(_controller: Dispatcher.DispatchController, status: number, headers: AnswerHeaders): void {
    if (status >= 200) this.#head = { status, headers };
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    const { capsOf, held } = this.#wanted;
    this.#bytes += chunk.length;
    if (this.#bytes > capsOf(this.#head?.status ?? 0).wireBytes) this.#abort(new TooLarge());
    else if (held.add(chunk.length)) this.#chunks.push(chunk);
  }

  onResponseEnd(): void {
    this.#settle(null);
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.#settle(troubleOf(error), error);
  }

  #abort(reason: Error): void {
    if (this.#controller) this.#controller.abort(reason);
    else this.#outcome.reject(reason);
  }

  readonly #end = () => {
    const { signal } = this.#wanted;
    this.#abort(errorOf(signal?.aborted ? signal.reason : this.#total.reason));
  };

  #settle(trouble: string | null, error?: Error): void {
    const { signal, held } = this.#wanted;
    this.#total.removeEventListener('abort', this.#end);
    signal?.removeEventListener('abort', this.#end);
    const { resolve, reject } = this.#outcome;
    const head = this.#head;
    if (head && !error) {
      resolve(this.#whole(head));
      return;
    }
    held.endedBy(null);
    // The status and the headers of an error count, whatever becomes of its body (docs/faults.md H1, H17).
    const counts = head && (trouble !== null || head.status >= 300);
    if (counts) resolve(receivedOf({ ...head, wireBytes: 0 }, trouble ?? brokeOff));
    else reject(error);
  }

  /** Until it is decoded, it may still have to make room. */
  #whole({ status, headers }: { readonly status: number; readonly headers: AnswerHeaders }) {
    const { capsOf, held } = this.#wanted;
    const answer = { status, headers, wireBytes: this.#bytes };
    const body = decode(this.#chunks, headers, capsOf(status).decodedBytes, held);
    if (body instanceof Promise) {
      return body.then((decoded) => receivedOf(answer, decoded)).finally(() => held.endedBy(null));
    }
    held.endedBy(null);
    return receivedOf(answer, body);
  }
}

/** `body`: a text says why there is none. */
function receivedOf(
  { status, headers, wireBytes }: Pick<Received, 'status' | 'headers' | 'wireBytes'>,
  body: Decoded,
): Received {
  if (typeof body === 'string') return { status, headers, wireBytes, pieces: nothing, length: 0, trouble: body };
  return { status, headers, wireBytes, pieces: body, length: lengthOf(body), trouble: null };
}

/** Most bodies come in one piece. */
export function joined(pieces: readonly Buffer[]): Buffer {
  const [only] = pieces;
  return only && pieces.length === 1 ? only : Buffer.concat(pieces);
}

function lengthOf(pieces: readonly Buffer[]): number {
  return pieces.reduce((sum, { length }) => sum + length, 0);
}

/** The pieces of a body, or why there are none. */
type Decoded = readonly Buffer[] | string;

const brokeOff = 'it ended before it was complete';

/** A client of MCP may give any text as the reason why it cancels. */
function errorOf(reason: unknown): Error {
  return reason instanceof Error ? reason : new DOMException(String(reason), 'AbortError');
}

/** What is no longer to be sent was not. */
export class HeldBack extends Error {}

/** Our own end of a body that is over its cap. */
class TooLarge extends Error {}

/** And of one that was the largest when all together were over theirs. */
class NoRoom extends Error {}

/** What is wrong with a body that did not come to its end; null when time or a stop of ours ended it. */
function troubleOf(error: Error): string | null {
  if (error instanceof TooLarge) return tooLarge;
  if (error instanceof NoRoom) return noRoom;
  if (error instanceof HeldBack) return null;
  const ended = error.name === 'TimeoutError' || error.name === 'AbortError' || 'code' in error === false;
  return ended || String((error as NodeJS.ErrnoException).code).endsWith('_TIMEOUT') ? null : brokeOff;
}

/** The decoded bytes, or why they can't be had. Only gzip is asked for, so only gzip is understood (docs/faults.md H16). */
function decode(
  pieces: readonly Buffer[],
  headers: AnswerHeaders,
  maxBytes: number,
  held: HeldAnswer,
): Decoded | Promise<Decoded> {
  const encoding = String(headers['content-encoding'] ?? '')
    .trim()
    .toLowerCase();
  if (encoding === '' || encoding === 'identity') return pieces;
  if (encoding !== 'gzip' && encoding !== 'x-gzip') {
    return `it is encoded as ${quote(encoding)}, which Warmwarden did not request`;
  }
  return decompress(joined(pieces), maxBytes, held);
}

async function decompress(bytes: Buffer, maxBytes: number, held: HeldAnswer): Promise<Decoded> {
  try {
    const decoded = await unzip(bytes, { maxOutputLength: Math.min(maxBytes, smallBytes) });
    return held.add(decoded.length) ? [decoded] : noRoom;
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code !== 'ERR_BUFFER_TOO_LARGE')
      return code === 'Z_BUF_ERROR' ? brokeOff : 'it says that it is gzip, but it is not';
    return maxBytes > smallBytes ? unzipLarge(bytes, maxBytes, held) : tooLarge;
  }
}

/** Piece by piece, each counted as it comes: what a small gzip unfolds to is known only then. */
function unzipLarge(bytes: Buffer, maxBytes: number, held: HeldAnswer): Promise<Decoded> {
  return new Promise((resolve) => {
    const unzipping = createGunzip({ chunkSize: 256 * 1024 });
    const pieces: Buffer[] = [];
    let length = 0;
    const end = (trouble: string) => {
      unzipping.destroy();
      resolve(trouble);
    };
    held.endedBy(() => end(noRoom));
    unzipping.on('data', (piece: Buffer) => {
      length += piece.length;
      if (length > maxBytes) end(tooLarge);
      else if (held.add(piece.length)) pieces.push(piece);
    });
    unzipping.on('error', () => end(brokeOff));
    unzipping.on('end', () => resolve(pieces));
    unzipping.end(bytes);
  });
}
