// Output that never makes the program wait and never throws: a line that cannot be written is dropped and counted.
import { constants, fstatSync, openSync, writeSync } from 'node:fs';

/** Writes as many bytes as fit at once, and returns their number. Throws a system error. */
export type WriteBytes = (bytes: Buffer) => number;

export interface Patience {
  later(ms: number, run: () => void): void;
  /** Blocks the thread for `ms`. Only for the last moments of a process. */
  block(ms: number): void;
}

export interface OutputOptions {
  readonly write: WriteBytes;
  readonly patience: Patience;
  readonly droppedLine: (dropped: number) => string;
}

/** Maximum number of bytes that wait for a stalled reader; newer lines are dropped. */
export const maxWaitingBytes = 256 * 1_024;
const retryMs = 50;
/** Maximum wait of the last lines of a process for a slow reader. */
const exitWaitMs = 1_000;
const exitStepMs = 10;
const newLine = 10;
const stalls = ['EAGAIN', 'EWOULDBLOCK'];

export class Output {
  readonly #options: OutputOptions;
  #waiting: Buffer = Buffer.alloc(0);
  /** True if the last written byte ended no line. */
  #torn = false;
  #retrying = false;
  #dropped = 0;
  #unreported = 0;
  /** Dropped lines that a report among the waiting bytes counts. */
  #reporting = 0;

  constructor(options: OutputOptions) {
    this.#options = options;
  }

  get dropped(): number {
    return this.#dropped;
  }

  /** Keeps the line for a stalled reader, or drops it. Returns at once and never throws. */
  write(line: string): void {
    const isIdle = this.#waiting.length === 0;
    const report = isIdle && this.#unreported > 0 ? this.#options.droppedLine(this.#unreported) : '';
    const bytes = Buffer.from(`${isIdle && this.#torn ? '\n' : ''}${report}${line}`);
    if (this.#waiting.length + bytes.length > maxWaitingBytes) {
      this.#drop(1);
      return;
    }
    if (report !== '') [this.#reporting, this.#unreported] = [this.#unreported, 0];
    this.#waiting = Buffer.concat([this.#waiting, bytes]);
    if (!this.#retrying) this.#drain();
  }

  /** Blocks for at most `exitWaitMs`. */
  flush(): void {
    this.#drain();
    for (let waited = 0; waited < exitWaitMs && this.#waiting.length > 0; waited += exitStepMs) {
      this.#options.patience.block(exitStepMs);
      this.#drain();
    }
  }

  #drop(lines: number): void {
    this.#dropped += lines;
    this.#unreported += lines;
  }

  #drain(): void {
    try {
      while (this.#waiting.length > 0) {
        const written = this.#options.write(this.#waiting);
        if (written > 0) this.#torn = this.#waiting[written - 1] !== newLine;
        this.#waiting = this.#waiting.subarray(written);
      }
      this.#reporting = 0;
    } catch (error) {
      if (stalls.includes((error as NodeJS.ErrnoException).code ?? '')) this.#retryLater();
      else this.#giveUp();
    }
  }

  #retryLater(): void {
    if (this.#retrying) return;
    this.#retrying = true;
    this.#options.patience.later(retryMs, () => {
      this.#retrying = false;
      this.#drain();
      if (this.#waiting.length === 0 && this.#unreported > 0) this.write('');
    });
  }

  /** Discards the waiting lines, for a full disk or a reader that has died. The next line tries again. */
  #giveUp(): void {
    // A line break at the beginning ends a line that broke off before.
    const lines = this.#waiting.subarray(1).filter((byte) => byte === newLine).length;
    const reports = this.#reporting > 0 ? 1 : 0;
    this.#waiting = Buffer.alloc(0);
    this.#unreported += this.#reporting;
    this.#reporting = 0;
    this.#drop(Math.max(0, lines - reports));
  }
}

/**
 * Writer to a descriptor of another process. A pipe or a terminal gets a non-blocking descriptor of our own, since
 * `O_NONBLOCK` on the shared one would change it for all users. A socket is non-blocking already; files do not block.
 */
export function writerTo(descriptor: number): WriteBytes {
  let opened: number | null = null;
  return (bytes) => {
    opened ??= nonBlocking(descriptor);
    return writeSync(opened, bytes);
  };
}

function nonBlocking(descriptor: number): number {
  try {
    const kind = fstatSync(descriptor);
    if (!kind.isFIFO() && !kind.isCharacterDevice()) return descriptor;
    const { O_WRONLY, O_NONBLOCK, O_NOCTTY } = constants;
    return openSync(`/proc/self/fd/${descriptor}`, O_WRONLY | O_NONBLOCK | O_NOCTTY);
  } catch {
    // The descriptor is used as it is without Linux, without our terminal, or without a reader.
    return descriptor;
  }
}
