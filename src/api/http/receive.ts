// Makes one request through a dispatcher, up to its decoded bytes, with deadlines and caps on the received and the
// decoded bytes.
import { promisify } from 'node:util';
import { createGunzip, gunzip } from 'node:zlib';
import type { Agent, Dispatcher } from 'undici';
import { quote } from './failure.ts';

const unzip = promisify(gunzip);

/** Headers with names in lower case. */
export type AnswerHeaders = Readonly<Record<string, string | string[] | undefined>>;

/** Deadlines in milliseconds of real time, because they concern sockets, not mailboxes. */
export interface Deadlines {
  /** Longest wait for the head of the answer. */
  readonly headersMs: number;
  /** Longest pause between two pieces of the body. */
  readonly idleMs: number;
  /** Longest time in total. */
  readonly totalMs: number;
}

/** Maximum size of one body. */
export interface Caps {
  /** Bytes as received over the wire. */
  readonly wireBytes: number;
  /** Bytes after decoding. */
  readonly decodedBytes: number;
}

/** An answer whose head has come. `trouble` explains a missing body, completing "HTTP 200, but ...". */
export interface Received {
  readonly status: number;
  readonly headers: AnswerHeaders;
  /** Decoded body, empty if there is trouble. */
  readonly body: Buffer;
  /** Bytes of the body, as received over the wire. */
  readonly wireBytes: number;
  readonly trouble: string | null;
}

export interface Dispatched {
  /** Request with the deadlines of its head and of the pauses in its body. */
  readonly request: Dispatcher.DispatchOptions;
  readonly signal: AbortSignal | null;
  /** Deadlines. The total one is enforced here. */
  readonly deadlines: Deadlines;
  /** Caps by status. An error needs less room than an answer. */
  readonly capsOf: (status: number) => Caps;
  /** Counter for the bytes of the answer. The caller releases it. */
  readonly held: HeldAnswer;
  /** Called right before the first byte is sent. If it returns false, nothing is sent. */
  readonly mayLeave: (() => boolean) | undefined;
}

const tooLarge = 'the answer is larger than Warmwarden accepts';
const noRoom = 'too many answers are in progress to accept one this large';
const nothing = Buffer.alloc(0);
/**
 * Size below which an answer is decoded in one go, and accepted however many others are held. Most answers are smaller.
 */
const smallBytes = 1024 * 1024;

/**
 * Counts the bytes of all held answers. Answers beyond the maximum are refused, so that large answers cannot exhaust
 * the memory.
 */
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

/** Counter for the bytes of one answer. */
export interface HeldAnswer {
  /** Counts more bytes. Returns false if there is no room for them. */
  add(bytes: number): boolean;
  release(): void;
}

/**
 * Sends a request and receives its answer. Rejects if no head came, a deadline passed or the signal aborted. A
 * truncated body is reported as trouble, and the status and the headers stay valid.
 */
export function receive(agent: Agent, wanted: Dispatched): Promise<Received> {
  return new Promise((resolve, reject) => new Receiving(wanted, { resolve, reject }).begin(agent));
}

interface ReceiveOutcome {
  readonly resolve: (received: Received | Promise<Received>) => void;
  readonly reject: (error?: Error) => void;
}

/** Callbacks of undici for one request. */
class Receiving implements Dispatcher.DispatchHandler {
  readonly #wanted: Dispatched;
  readonly #outcome: ReceiveOutcome;
  readonly #ending: AbortSignal;
  /** Controller, or null until undici begins. There is nothing to abort before. */
  #controller: Dispatcher.DispatchController | null = null;
  #head: { readonly status: number; readonly headers: AnswerHeaders } | null = null;
  readonly #chunks: Buffer[] = [];
  #bytes = 0;

  constructor(wanted: Dispatched, outcome: ReceiveOutcome) {
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
    // The status and the headers of an error are valid even without its body (docs/faults.md H1, H17).
    const counts = head && (trouble !== null || head.status >= 300);
    if (counts) resolve(receivedOf({ ...head, wireBytes: 0 }, trouble ?? brokeOff));
    else reject(error);
  }
}

/** Builds the received answer. A text as `body` explains why there is no body. */
function receivedOf(answer: Pick<Received, 'status' | 'headers' | 'wireBytes'>, body: Decoded): Received {
  return typeof body === 'string' ? { ...answer, body: nothing, trouble: body } : { ...answer, body, trouble: null };
}

/** A body, or a text that explains why there is none. */
type Decoded = Buffer | string;

const brokeOff = 'it ended before it was complete';

/** Converts an abort reason into an error. An MCP client may give any text as the reason. */
function errorOf(reason: unknown): Error {
  return reason instanceof Error ? reason : new DOMException(String(reason), 'AbortError');
}

/** Error for a request that was withdrawn before it was sent. */
export class HeldBack extends Error {}

/** Error for a body that exceeds its cap. */
class TooLarge extends Error {}

/** Error for a body without room beside the other held answers. */
class NoRoom extends Error {}

/** Returns the text for an incomplete body, or null if a deadline or our own stop ended it. */
function troubleOf(error: Error): string | null {
  if (error instanceof TooLarge) return tooLarge;
  if (error instanceof NoRoom) return noRoom;
  if (error instanceof HeldBack) return null;
  const ended = error.name === 'TimeoutError' || error.name === 'AbortError' || 'code' in error === false;
  return ended || String((error as NodeJS.ErrnoException).code).endsWith('_TIMEOUT') ? null : brokeOff;
}

/**
 * Returns the decoded bytes, or a text if they cannot be decoded. Only gzip is requested, so only gzip is accepted
 * (docs/faults.md H16).
 */
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

/** Decodes piece by piece and counts each piece. The decoded size of a gzip is not known before. */
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
