// One request through a dispatcher, down to its decoded bytes: deadlines, caps on the wire and on what comes out of it.
import { promisify } from 'node:util';
import { createGunzip, gunzip } from 'node:zlib';
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
  /** The decoded body; empty where there is trouble. */
  readonly body: Buffer;
  /** Of the body, as they came over the wire. */
  readonly wireBytes: number;
  readonly trouble: string | null;
}

export interface Dispatched {
  /** With the deadlines of its head and of the pauses in its body. */
  readonly request: Dispatcher.DispatchOptions;
  readonly signal: AbortSignal | null;
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
const nothing = Buffer.alloc(0);
/** Most answers are smaller: they are decoded in one go, and accepted however many others are held. */
const smallBytes = 1024 * 1024;

/** Bytes of all answers that are held at a time. What does not fit is refused, so that no number of large answers exhausts the memory. */
export class HeldAnswers {
  readonly #maxBytes: number;
  bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  begin(): HeldAnswer {
    let own = 0;
    return {
      add: (bytes) => {
        own += bytes;
        this.bytes += bytes;
        return own <= smallBytes || this.bytes <= this.#maxBytes;
      },
      release: () => {
        this.bytes -= own;
        own = 0;
      },
    };
  }
}

/** The bytes of one answer. */
export interface HeldAnswer {
  /** Counts more bytes. False when there is no room for them. */
  add(bytes: number): boolean;
  release(): void;
}

/**
 * Sends and receives. Rejects when no head came, when a deadline passed or when the signal ended it; a body that
 * broke off is reported as trouble beside the status and the headers, which count all the same.
 */
export function receive(agent: Agent, wanted: Dispatched): Promise<Received> {
  return new Promise((resolve, reject) => new Receiving(wanted, { resolve, reject }).begin(agent));
}

interface Outcome {
  readonly resolve: (received: Received | Promise<Received>) => void;
  readonly reject: (error?: Error) => void;
}

/** Callbacks of undici for one request. */
class Receiving implements Dispatcher.DispatchHandler {
  readonly #wanted: Dispatched;
  readonly #outcome: Outcome;
  readonly #ending: AbortSignal;
  /** null until undici begins: nothing is to be aborted before. */
  #controller: Dispatcher.DispatchController | null = null;
  #head: { readonly status: number; readonly headers: AnswerHeaders } | null = null;
  readonly #chunks: Buffer[] = [];
  #bytes = 0;

  constructor(wanted: Dispatched, outcome: Outcome) {
    this.#wanted = wanted;
    this.#outcome = outcome;
    const { deadlines, signal } = wanted;
    this.#ending = AbortSignal.any([AbortSignal.timeout(deadlines.totalMs), ...(signal ? [signal] : [])]);
  }

  begin(agent: Agent): void {
    this.#ending.addEventListener('abort', this.#end);
    if (this.#ending.aborted) this.#settle(null, errorOf(this.#ending.reason));
    else agent.dispatch(this.#wanted.request, this);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#ending.aborted) this.#end();
    else if (this.#wanted.mayLeave?.() === false) this.#abort(new HeldBack());
  }

  onResponseStart(_controller: Dispatcher.DispatchController, status: number, headers: AnswerHeaders): void {
    if (status >= 200) this.#head = { status, headers };
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    const { capsOf, held } = this.#wanted;
    this.#bytes += chunk.length;
    if (this.#bytes > capsOf(this.#head?.status ?? 0).wireBytes) this.#abort(new TooLarge());
    else if (!held.add(chunk.length)) this.#abort(new NoRoom());
    else this.#chunks.push(chunk);
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

  readonly #end = () => this.#abort(errorOf(this.#ending.reason));

  #settle(trouble: string | null, error?: Error): void {
    const { capsOf, held } = this.#wanted;
    const { resolve, reject } = this.#outcome;
    this.#ending.removeEventListener('abort', this.#end);
    const head = this.#head;
    if (head && !error) {
      const answer = { ...head, wireBytes: this.#bytes };
      const body = decode(Buffer.concat(this.#chunks), head.headers, capsOf(head.status).decodedBytes, held);
      resolve(body.then((decoded) => receivedOf(answer, decoded)));
      return;
    }
    // The status and the headers of an error count, whatever becomes of its body (docs/faults.md H1, H17).
    const counts = head && (trouble !== null || head.status >= 300);
    if (counts) resolve(receivedOf({ ...head, wireBytes: 0 }, trouble ?? brokeOff));
    else reject(error);
  }
}

/** `body`: a text says why there is none. */
function receivedOf(answer: Pick<Received, 'status' | 'headers' | 'wireBytes'>, body: Decoded): Received {
  return typeof body === 'string' ? { ...answer, body: nothing, trouble: body } : { ...answer, body, trouble: null };
}

/** A body, or why there is none. */
type Decoded = Buffer | string;

const brokeOff = 'it ended before it was complete';

/** A client of MCP may give any text as the reason why it cancels. */
function errorOf(reason: unknown): Error {
  return reason instanceof Error ? reason : new DOMException(String(reason), 'AbortError');
}

/** What is no longer to be sent was not. */
export class HeldBack extends Error {}

/** Our own end of a body that is over its cap. */
class TooLarge extends Error {}

/** And of one that has no room beside the others. */
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
async function decode(bytes: Buffer, headers: AnswerHeaders, maxBytes: number, held: HeldAnswer): Promise<Decoded> {
  const encoding = String(headers['content-encoding'] ?? '')
    .trim()
    .toLowerCase();
  if (encoding === '' || encoding === 'identity') return bytes;
  if (encoding !== 'gzip' && encoding !== 'x-gzip')
    return `it is encoded as ${quote(encoding)}, which Warmwarden did not request`;
  try {
    const decoded = await unzip(bytes, { maxOutputLength: Math.min(maxBytes, smallBytes) });
    return held.add(decoded.length) ? decoded : noRoom;
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code !== 'ERR_BUFFER_TOO_LARGE')
      return code === 'Z_BUF_ERROR' ? brokeOff : 'it says that it is gzip, but it is not';
    return maxBytes > smallBytes ? unzipLarge(bytes, maxBytes, held) : tooLarge;
  }
}

/** Piece by piece, each counted as it comes: what a small gzip unfolds to is known only then. */
async function unzipLarge(bytes: Buffer, maxBytes: number, held: HeldAnswer): Promise<Decoded> {
  const unzipping = createGunzip({ chunkSize: 256 * 1024 });
  unzipping.end(bytes);
  const pieces: Buffer[] = [];
  let length = 0;
  try {
    for await (const piece of unzipping as AsyncIterable<Buffer>) {
      length += piece.length;
      if (length > maxBytes) return tooLarge;
      if (!held.add(piece.length)) return noRoom;
      pieces.push(piece);
    }
  } catch {
    return brokeOff;
  }
  return Buffer.concat(pieces);
}
