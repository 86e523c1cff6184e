// Lines of a client, each of bounded length: one that is longer is left out, and answered with an error.
import { Transform, type TransformCallback } from 'node:stream';

const maxLineBytes = 1024 * 1024;
/** Of a line that is left out, so much of its beginning and its end is kept to find the request's id in. */
const keptBytes = 512;

const idText = '(-?\\d{1,16}|"[^"\\\\]{1,200}")';
/** Where clients write the id of a request: first, or last. */
const idAtBeginning = new RegExp(`^\\s*\\{\\s*(?:"jsonrpc"\\s*:\\s*"2\\.0"\\s*,\\s*)?"id"\\s*:\\s*${idText}\\s*,`);
const idAtEnd = new RegExp(`,\\s*"id"\\s*:\\s*${idText}\\s*(?:,\\s*"jsonrpc"\\s*:\\s*"2\\.0"\\s*)?\\}\\s*$`);

type RequestId = number | string | null;

/** Passes whole lines on. `refuse` gets the id of a request that was left out; null where none was found. */
export class BoundedLines extends Transform {
  readonly #refuse: (id: RequestId) => void;
  #pieces: Buffer[] = [];
  #bytes = 0;

  constructor(refuse: (id: RequestId) => void) {
    super();
    this.#refuse = refuse;
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    let rest = chunk;
    for (let end = rest.indexOf('\n'); end >= 0; end = rest.indexOf('\n')) {
      this.#take(rest.subarray(0, end + 1));
      this.#endLine();
      rest = rest.subarray(end + 1);
    }
    if (rest.length > 0) this.#take(rest);
    done();
  }

  /** What stands behind the last line break is no message; the reader behind us ignores it, too. */
  override _flush(done: TransformCallback): void {
    if (this.#bytes <= maxLineBytes) for (const piece of this.#pieces) this.push(piece);
    done();
  }

  #take(piece: Buffer): void {
    this.#bytes += piece.length;
    this.#pieces.push(piece);
    if (this.#bytes <= maxLineBytes) return;
    const whole = Buffer.concat(this.#pieces);
    this.#pieces = whole.length <= 2 * keptBytes ? [whole] : [whole.subarray(0, keptBytes), whole.subarray(-keptBytes)];
    // Copies: a slice would keep all of it.
    this.#pieces = this.#pieces.map((kept) => Buffer.from(kept));
  }

  #endLine(): void {
    if (this.#bytes <= maxLineBytes) for (const piece of this.#pieces) this.push(piece);
    else this.#refuse(idIn(Buffer.concat(this.#pieces).toString('utf8')));
    this.#pieces = [];
    this.#bytes = 0;
  }
}

function idIn(line: string): RequestId {
  const found = idAtBeginning.exec(line)?.[1] ?? idAtEnd.exec(line)?.[1];
  return found === undefined ? null : JSON.parse(found);
}

/** The answer to a request whose line was left out, as one line of JSON-RPC. */
export function lineTooLong(id: RequestId): string {
  const message = `The line is longer than ${maxLineBytes / 1024 / 1024} MiB and was not read.`;
  return `${JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32_600, message } })}\n`;
}

// How many requests are carried out at once: a further one waits for its turn, and of too many the rest are refused.

export interface TurnstileLimits {
  readonly atOnce: number;
  readonly waiting: number;
}

export class Turnstile {
  readonly #limits: TurnstileLimits;
  #underWay = 0;
  /** In the order in which they came. */
  readonly #waiting: (() => void)[] = [];

  constructor(limits: TurnstileLimits) {
    this.#limits = limits;
  }

  /** Runs the work in its turn. null: refused, because too many wait already; the work was not begun. */
  async take<Result>(work: () => Promise<Result>): Promise<Result | null> {
    const { atOnce, waiting } = this.#limits;
    if (this.#underWay < atOnce) this.#underWay += 1;
    else if (this.#waiting.length >= waiting) return null;
    // Whoever ends hands its place on.
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      if (next) next();
      else this.#underWay -= 1;
    }
  }
}
