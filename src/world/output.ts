// Output of lines that never makes the program wait and never throws: a line that cannot be written is dropped and
// counted.
import { constants, fstatSync, openSync, writeSync } from 'node:fs';

/** Writes as many bytes as fit at once, and returns their number. Throws a system error. */
export type WriteBytes = (bytes: Buffer) => number;

/** Timers that an output needs. */
export interface Patience {
  /** Calls `run` after `ms`, without keeping the process alive for it. */
  later(ms: number, run: () => void): void;
  /** Blocks the thread for `ms`. Only for the last moments of a process. */
  block(ms: number): void;
}

export interface OutputOptions {
  readonly write: WriteBytes;
  readonly patience: Patience;
  /** Line that reports the number of dropped lines once writing works again. */
  readonly droppedLine: (dropped: number) => string;
}

/** Maximum number of bytes that wait for a stalled reader; newer lines are dropped. */
export const maxWaitingBytes = 256 * 1_024;
/** Wait before the next try at a stalled reader. */
const retryMs = 50;
/** Maximum wait of the last lines of a process for a slow reader. */
const exitWaitMs = 1_000;
const exitStepMs = 10;
const newLine = Buffer.of(10);
/** Errors of a full pipe, as opposed to a broken one. */
const stalls = ['EAGAIN', 'EWOULDBLOCK'];

interface WaitingLines {
  readonly bytes: Buffer;
  /** Count of dropped lines that this line reports, or null for a line of the log. */
  readonly reports: number | null;
}

export class Output {
  readonly #options: OutputOptions;
  readonly #waiting: WaitingLines[] = [];
  #waitingBytes = 0;
  /** Bytes of the first waiting line that are already written. */
  #begun = 0;
  /** True if a line broke off halfway: the next one begins on a new line. */
  #torn = false;
  #retrying = false;
  #dropped = 0;
  #reported = 0;

  constructor(options: OutputOptions) {
    this.#options = options;
  }

  /** Number of lines that could not be written since the start. */
  get dropped(): number {
    return this.#dropped;
  }

  /** Writes a line, keeps it for a stalled reader, or drops it. Returns at once and never throws. */
  write(line: string): void {
    if (this.#waiting.length === 0) this.#report();
    this.#add({ bytes: Buffer.from(line), reports: null });
  }

  /** Writes the rest at the end of the process, blocking for at most `exitWaitMs`. */
  flush(): void {
    this.#drain();
    for (let waited = 0; waited < exitWaitMs && this.#waiting.length > 0; waited += exitStepMs) {
      this.#options.patience.block(exitStepMs);
      this.#drain();
    }
  }

  #report(): void {
    if (this.#dropped === this.#reported) return;
    const text = this.#options.droppedLine(this.#dropped - this.#reported);
    this.#add({ bytes: Buffer.from(text), reports: this.#dropped });
  }

  #add(line: WaitingLines): void {
    if (this.#waitingBytes + line.bytes.length > maxWaitingBytes) {
      this.#drop(line);
      return;
    }
    this.#waiting.push(line);
    this.#waitingBytes += line.bytes.length;
    if (!this.#retrying) this.#drain();
  }

  #drop({ reports }: WaitingLines): void {
    if (reports === null) this.#dropped += 1;
  }

  /** Writes as much as it can of the waiting lines. After a stall, reports at once how many were dropped. */
  #drain(): void {
    try {
      while (this.#waiting[0]) this.#writeOn(this.#waiting[0]);
    } catch (error) {
      if (stalls.includes((error as NodeJS.ErrnoException).code ?? '')) this.#retryLater();
      else this.#giveUp();
    }
  }

  #writeOn(line: WaitingLines): void {
    const { write } = this.#options;
    if (this.#torn && write(newLine) > 0) this.#torn = false;
    this.#begun += write(line.bytes.subarray(this.#begun));
    if (this.#begun < line.bytes.length) return;
    this.#begun = 0;
    this.#waiting.shift();
    this.#waitingBytes -= line.bytes.length;
    if (line.reports !== null) this.#reported = line.reports;
  }

  #retryLater(): void {
    if (this.#retrying) return;
    this.#retrying = true;
    this.#options.patience.later(retryMs, () => {
      this.#retrying = false;
      this.#drain();
      if (this.#waiting.length === 0) this.#report();
    });
  }

  /** Discards the waiting lines, for a full disk or a reader that has died. The next line tries again. */
  #giveUp(): void {
    this.#torn ||= this.#begun > 0;
    this.#begun = 0;
    this.#waitingBytes = 0;
    for (const line of this.#waiting.splice(0)) this.#drop(line);
  }
}

/**
 * Writer to a descriptor that another process opened. A pipe or a terminal gets a non-blocking descriptor of our own,
 * since `O_NONBLOCK` on the shared one would change it for all of its users, and any of them could remove it. Sockets
 * can't be opened again, and Node made them non-blocking when `process.stdout` was touched. Files do not block.
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
