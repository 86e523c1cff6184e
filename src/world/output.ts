// Lines to standard output that never make the program wait and never throw: what cannot be written is dropped and counted.
import { constants, fstatSync, openSync, writeSync } from 'node:fs';

/** Where bytes go. Writes what fits at once and returns how many bytes that were. Throws a system error. */
export type WriteBytes = (bytes: Buffer) => number;

/** The timers that an output needs. */
export interface Patience {
  /** Calls `run` after `ms`, without keeping the process alive for it. */
  later(ms: number, run: () => void): void;
  /** Blocks the thread for `ms`: for the last moments of a process only. */
  block(ms: number): void;
}

export interface OutputOptions {
  readonly write: WriteBytes;
  readonly patience: Patience;
  /** The line that says, once writing works again, how many lines were dropped. */
  readonly droppedLine: (dropped: number) => string;
}

/** Lines beyond this wait for a reader that has stalled; newer ones are dropped. */
export const maxWaitingBytes = 256 * 1_024;
/** How soon a reader that has stalled is tried again. */
const retryMs = 50;
/** How long the last lines of a process wait for a slow reader. */
const exitWaitMs = 1_000;
const exitStepMs = 10;
const newLine = Buffer.of(10);
/** The errors of a full pipe, not of a broken one. */
const stalls = ['EAGAIN', 'EWOULDBLOCK'];

interface Waiting {
  readonly bytes: Buffer;
  /** The count of dropped lines that this line reports; null in a line of the log. */
  readonly reports: number | null;
}

export class Output {
  readonly #options: OutputOptions;
  readonly #waiting: Waiting[] = [];
  #waitingBytes = 0;
  /** How much of the first waiting line is written already. */
  #begun = 0;
  /** A line broke off halfway: the next one begins on a new line. */
  #torn = false;
  #retrying = false;
  #dropped = 0;
  #reported = 0;

  constructor(options: OutputOptions) {
    this.#options = options;
  }

  /** How many lines could not be written since the start. */
  get dropped(): number {
    return this.#dropped;
  }

  /** Writes a line, keeps it for a reader that has stalled, or drops it. Returns at once and never throws. */
  write(line: string): void {
    if (this.#waiting.length === 0) this.#report();
    this.#add({ bytes: Buffer.from(line), reports: null });
  }

  /** Waits at most `exitWaitMs` for what is left, by blocking: for the end of the process. */
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

  #add(line: Waiting): void {
    if (this.#waitingBytes + line.bytes.length > maxWaitingBytes) {
      this.#drop(line);
      return;
    }
    this.#waiting.push(line);
    this.#waitingBytes += line.bytes.length;
    if (!this.#retrying) this.#drain();
  }

  #drop({ reports }: Waiting): void {
    if (reports === null) this.#dropped += 1;
  }

  /** Writes what it can of the waiting lines. After a stall, what was dropped meanwhile is reported at once. */
  #drain(): void {
    try {
      while (this.#waiting[0]) this.#writeOn(this.#waiting[0]);
    } catch (error) {
      if (stalls.includes((error as NodeJS.ErrnoException).code ?? '')) this.#retryLater();
      else this.#giveUp();
    }
  }

  #writeOn(line: Waiting): void {
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

  /** A full disk or a reader that has died: what waits is lost. The next line tries again. */
  #giveUp(): void {
    this.#torn ||= this.#begun > 0;
    this.#begun = 0;
    this.#waitingBytes = 0;
    for (const line of this.#waiting.splice(0)) this.#drop(line);
  }
}

/**
 * Writes to a descriptor of the process that somebody else opened. A pipe or a terminal gets a descriptor of our own that
 * does not block (`O_NONBLOCK` on the shared one would change it for everybody, and anybody could take it away). Sockets
 * can't be opened again: Node has made them non-blocking when `process.stdout` was touched. Files do not block.
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
    // Not Linux, not our terminal, or nobody reads: then as it is.
    return descriptor;
  }
}
