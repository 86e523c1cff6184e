// Makes one request through a dispatcher, up to its decoded bytes, with deadlines and caps.
import { promisify } from 'node:util';
import { createGunzip, gunzip } from 'node:zlib';
import type { Agent, Dispatcher } from 'undici';
import { quote } from './failure.ts';

const unzip = promisify(gunzip);

/** Names are in lower case. */
export type AnswerHeaders = Readonly<Record<string, string | string[] | undefined>>;

/** Milliseconds of real time, because they concern sockets, not mailboxes. */
export interface Deadlines {
  readonly headersMs: number;
  /** Longest pause between two pieces of the body. */
  readonly idleMs: number;
  readonly totalMs: number;
}

export interface Caps {
  readonly wireBytes: number;
  readonly decodedBytes: number;
}

/** An answer whose head has come. `trouble` explains a missing body, completing "HTTP 200, but ...". */
export interface Received {
  readonly status: number;
  readonly headers: AnswerHeaders;
  /** Empty if there is trouble. */
  readonly body: Buffer;
  /** Bytes of the body, before decoding. */
  readonly wireBytes: number;
  readonly trouble: string | null;
}

export interface Dispatched {
  readonly request: Dispatcher.DispatchOptions;
  readonly signal: AbortSignal | null;
  /** Deadlines of the request: the total one is enforced here, the others by undici. */
  readonly deadlines: Deadlines;
  /** An error needs less room than an answer. */
  readonly capsOf: (status: number) => Caps;
  /** The caller releases it. */
  readonly held: HeldAnswer;
  /** Called right before the first byte. If it returns false, nothing is sent. */
  readonly mayLeave: (() => boolean) | undefined;
}

const tooLarge = 'the answer is larger than Warmwarden accepts';
const noRoom = 'too many answers are in progress to accept one this large';
const nothing = Buffer.alloc(0);
/** Smaller answers, which most are, are decoded in one go, and accepted however many others are held. */
const smallBytes = 1024 * 1024;

/** Counts the bytes of all held answers. A maximum keeps large answers from exhausting the memory. */
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

export interface HeldAnswer {
  /** Returns false if there is no room. */
  add(bytes: number): boolean;
  release(): void;
}

/** Rejects if no head came, a deadline passed or the signal aborted. A truncated body is trouble with a valid head. */
export function receive(agent: Agent, wanted: Dispatched): Promise<Received> {
  return new Promise((resolve, reject) => new Receiving(wanted, { resolve, reject }).begin(agent));
}

interface ReceiveOutcome {
  readonly resolve: (received: Received | Promise<Received>) => void;
  readonly reject: (error?: Error) => void;
}

class Receiving implements Dispatcher.DispatchHandler {
  readonly #wanted: Dispatched;
  readonly #outcome: ReceiveOutcome;
  readonly #ending: AbortSignal;
  /** Controller of the request, or null until undici begins: there is nothing to abort before. */
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

function receivedOf(answer: Pick<Received, 'status' | 'headers' | 'wireBytes'>, body: Decoded): Received {
  return typeof body === 'string' ? { ...answer, body: nothing, trouble: body } : { ...answer, body, trouble: null };
}

/** A body, or a text that explains why there is none. */
type Decoded = Buffer | string;

const brokeOff = 'it ended before it was complete';

/** An MCP client may give any text as the reason of an abort. */
function errorOf(reason: unknown): Error {
  return reason instanceof Error ? reason : new DOMException(String(reason), 'AbortError');
}

export class HeldBack extends Error {}

class TooLarge extends Error {}

class NoRoom extends Error {}

/** Returns null if a deadline or our own stop ended the body. */
function troubleOf(error: Error): string | null {
  if (error instanceof TooLarge) return tooLarge;
  if (error instanceof NoRoom) return noRoom;
  if (error instanceof HeldBack) return null;
  const ended = error.name === 'TimeoutError' || error.name === 'AbortError' || 'code' in error === false;
  return ended || String((error as NodeJS.ErrnoException).code).endsWith('_TIMEOUT') ? null : brokeOff;
}

/** Accepts only gzip, as only gzip is requested (docs/faults.md H16). */
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

/** Counts each piece. The decoded size of a gzip is not known before. */
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
