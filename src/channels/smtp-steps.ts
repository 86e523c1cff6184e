// The steps of an SMTP conversation, each with its deadline, read from the log that nodemailer keeps of it.

import { minuteMs } from '../model/time.ts';

/** How long the server may take for each, milliseconds. */
export interface SmtpPatience {
  /** From the first packet to the greeting. */
  readonly greetingMs: number;
  /** EHLO, signing in, MAIL, RCPT. */
  readonly commandMs: number;
  readonly dataMs: number;
  /** To take the text. */
  readonly blockMs: number;
  /** To say what becomes of it, after the dot at its end. */
  readonly endMs: number;
}

/** Section 4.5.3.2. */
export const rfc5321: SmtpPatience = {
  greetingMs: 5 * minuteMs,
  commandMs: 5 * minuteMs,
  dataMs: 2 * minuteMs,
  blockMs: 3 * minuteMs,
  endMs: 10 * minuteMs,
};

/** The part of an entry of nodemailer's log that matters here: `client` and `server` are lines, `message` the end of the text. */
interface Logged {
  readonly tnx?: string;
}

export class SmtpSteps {
  readonly #patience: SmtpPatience;
  readonly #late = new AbortController();
  #step = 0;
  /** Whether the whole text was sent, with the dot at its end. */
  isWhole = false;

  constructor(patience: SmtpPatience) {
    this.#patience = patience;
    this.#begin(patience.greetingMs);
  }

  /** Aborts when a step takes too long. */
  get signal(): AbortSignal {
    return this.#late.signal;
  }

  /** Options for the creation of a nodemailer transport. */
  get log() {
    const entry = ({ tnx }: Logged = {}, line = '') => this.#heard(tnx, line);
    return { transactionLog: true, logger: { debug: entry, info: entry } };
  }

  #heard(tnx: string | undefined, line: string): void {
    const { commandMs, dataMs, blockMs, endMs } = this.#patience;
    if (tnx === 'client') this.#begin(line === 'DATA' ? dataMs : commandMs);
    if (tnx === 'server' && line.startsWith('354')) this.#begin(blockMs);
    if (tnx !== 'message') return;
    this.isWhole = true;
    this.#begin(endMs);
  }

  #begin(ms: number): void {
    this.#step += 1;
    const step = this.#step;
    AbortSignal.timeout(ms).addEventListener('abort', () => {
      if (step === this.#step) this.#late.abort();
    });
  }
}
