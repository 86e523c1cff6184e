// Limits of what a client of the tool server may send: the bytes of a line, and the requests at once.
import { Transform, type TransformCallback } from 'node:stream';

const maxLineBytes = 1024 * 1024;
/** Bytes kept of the beginning and of the end of a line that is left out, to find the request's id in. */
const keptBytes = 512;
const lineBreak = 0x0a;

const idText = '(-?\\d{1,16}|"[^"\\\\]{1,200}")';
/** Clients write the id of a request first, or last. */
const idAtBeginning = new RegExp(`^\\s*\\{\\s*(?:"jsonrpc"\\s*:\\s*"2\\.0"\\s*,\\s*)?"id"\\s*:\\s*${idText}\\s*,`);
const idAtEnd = new RegExp(`,\\s*"id"\\s*:\\s*${idText}\\s*(?:,\\s*"jsonrpc"\\s*:\\s*"2\\.0"\\s*)?\\}\\s*$`);

type RequestId = number | string | null;

/** Passes whole lines on. `refuse` gets the id of a request whose line is too long; null if none was found. */
export class BoundedLines extends Transform {
  readonly #refuse: (id: RequestId) => void;
  #line = Buffer.alloc(0);
  #isLong = false;

  constructor(refuse: (id: RequestId) => void) {
    super();
    this.#refuse = refuse;
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    let rest = chunk;
    while (rest.length > 0) {
      const end = rest.indexOf(lineBreak) + 1 || rest.length;
      this.#take(rest.subarray(0, end));
      rest = rest.subarray(end);
    }
    done();
  }

  #take(piece: Buffer): void {
    const line = Buffer.concat([this.#line, piece]);
    this.#isLong ||= line.length > maxLineBytes;
    const isCut = this.#isLong && line.length > 2 * keptBytes;
    this.#line = isCut ? Buffer.concat([line.subarray(0, keptBytes), line.subarray(-keptBytes)]) : line;
    if (piece.at(-1) !== lineBreak) return;
    if (this.#isLong) this.#refuse(idIn(this.#line.toString('utf8')));
    else this.push(this.#line);
    this.#line = Buffer.alloc(0);
    this.#isLong = false;
  }
}

function idIn(line: string): RequestId {
  const found = idAtBeginning.exec(line)?.[1] ?? idAtEnd.exec(line)?.[1];
  return found === undefined ? null : JSON.parse(found);
}

/** Answer to a request whose line was left out, as one line of JSON-RPC. */
export function lineTooLong(id: RequestId): string {
  const message = `The line is longer than ${maxLineBytes / 1024 / 1024} MiB and was not read.`;
  return `${JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32_600, message } })}\n`;
}

/** Carries out a few requests at once; others wait for their turn, and too many are refused. */
export class Turnstile {
  readonly #atOnce: number;
  readonly #mayWait: number;
  #underWay = 0;
  /** Waiting calls in their order. */
  readonly #waiting: (() => void)[] = [];

  constructor(limits: { readonly atOnce: number; readonly waiting: number }) {
    this.#atOnce = limits.atOnce;
    this.#mayWait = limits.waiting;
  }

  /** Runs the work in its turn; null if too many wait already and the work was not begun. */
  async take<Result>(work: () => Promise<Result>): Promise<Result | null> {
    if (this.#underWay < this.#atOnce) this.#underWay += 1;
    else if (this.#waiting.length >= this.#mayWait) return null;
    // A request that ends hands its place on.
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
