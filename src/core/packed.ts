// Numbers as one short text, a string of JSON: a fleet keeps hundreds of thousands of days, and an object a day takes ten times
// the room.
import { type Exact, exact } from './exact.ts';

/** Five bits a letter, the lowest first. The last letter of a number is '0' to 'O', those before it are ']' to '|'. */
const bitsALetter = 5;
const lettersOfAKind = 1 << bitsALetter;
const lastFrom = '0'.charCodeAt(0);
const earlierFrom = ']'.charCodeAt(0);

const unknown = '~'.charCodeAt(0);
const absent = '-'.charCodeAt(0);
/** On both sides of a number that is written out. */
const written = '!';
const writtenCode = written.charCodeAt(0);
const quote = '"'.charCodeAt(0);

/** A number that is written out. No letter of a packed value has to be escaped in JSON. */
const writtenNumber = /^-?\d+(?:\.\d+)?(?:e[+-]\d{1,3})?$/;

/** null: not known; undefined: not there. What is packed is read again exactly as it was, but -0 as 0. */
export type Packable = number | null | undefined;

/** What the packer before wrote into: statistics are packed a thousand times a second, and a list of their letters takes twenty times as much. */
let spare: Buffer | null = null;
const noLetters = Buffer.alloc(0);
const usualBytes = 4 * 1024;
/** A larger one is not kept. */
const spareBytes = 64 * 1024;

/** Writes one text. */
export class Packer {
  #letters: Buffer;
  #length = 0;

  constructor() {
    this.#letters = spare ?? Buffer.alloc(usualBytes);
    spare = null;
    this.#addLetter(quote);
  }

  /** `scale`: most often the value is a multiple of 1 / scale. */
  add(value: Packable, scale = 1): this {
    if (value === null) this.#addLetter(unknown);
    else if (value === undefined) this.#addLetter(absent);
    else {
      const whole = Math.round(value * scale);
      // What is negative, huge, or no multiple after all is written out.
      if (whole >= 0 && Number.isSafeInteger(whole) && whole / scale === value) this.#addWhole(whole);
      else this.#addWritten(value);
    }
    return this;
  }

  addExact(value: Exact): this {
    if (value >= 0 && value <= Number.MAX_SAFE_INTEGER) this.#addWhole(Number(value));
    else this.#addWritten(value);
    return this;
  }

  /** Letters so far, the quote before them included. */
  get length(): number {
    return this.#length;
  }

  /** The text, with its quotes; nothing can be added after. Made in one go: one that is put together of parts would keep the parts. */
  packed(): string {
    this.#addLetter(quote);
    const [letters, length] = [this.#letters, this.#length];
    if (letters.length <= spareBytes) spare = letters;
    this.#letters = noLetters;
    return letters.toString('latin1', 0, length);
  }

  #addLetter(code: number): void {
    if (this.#length >= this.#letters.length) this.#grow();
    this.#letters[this.#length] = code;
    this.#length += 1;
  }

  #grow(): void {
    if (this.#letters === noLetters) throw new Error('a packer writes one text');
    const letters = Buffer.alloc(2 * this.#letters.length);
    this.#letters.copy(letters);
    this.#letters = letters;
  }

  #addWhole(whole: number): void {
    let left = whole;
    while (left >= lettersOfAKind) {
      this.#addLetter(earlierFrom + (left % lettersOfAKind));
      left = Math.floor(left / lettersOfAKind);
    }
    this.#addLetter(lastFrom + left);
  }

  #addWritten(value: number | bigint): void {
    for (const letter of `${written}${value}${written}`) this.#addLetter(letter.charCodeAt(0));
  }
}

/** Reads what a Packer wrote, in the same order. What is no packed value is read as NaN. */
export class Unpacker {
  readonly #text: string;
  #at: number;

  /** `from`: behind the quote, or behind a value. */
  constructor(text: string, from = 1) {
    this.#text = text;
    this.#at = from;
  }

  /** Behind what was read. */
  get at(): number {
    return this.#at;
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#text.length - 1;
  }

  /** `scale`: the one that it was packed with. */
  next(scale = 1): Packable {
    const code = this.#text.charCodeAt(this.#at);
    if (code === unknown || code === absent) {
      this.#at += 1;
      return code === unknown ? null : undefined;
    }
    return code === writtenCode ? Number(this.#written()) : this.#whole() / scale;
  }

  /** What `addExact` packed. */
  nextExact(): Exact {
    return this.#text.charCodeAt(this.#at) === writtenCode ? exact(BigInt(this.#written())) : this.#whole();
  }

  #whole(): number {
    let whole = 0;
    for (let worth = 1; ; worth *= lettersOfAKind) {
      const code = this.#text.charCodeAt(this.#at);
      this.#at += 1;
      const earlier = code - earlierFrom;
      if (!(earlier >= 0 && earlier < lettersOfAKind)) {
        const last = code - lastFrom;
        return last >= 0 && last < lettersOfAKind ? whole + last * worth : Number.NaN;
      }
      whole += earlier * worth;
    }
  }

  #written(): string {
    const end = this.#text.indexOf(written, this.#at + 1);
    const text = end === -1 ? '' : this.#text.slice(this.#at + 1, end);
    this.#at = end === -1 ? this.#text.length : end + 1;
    return writtenNumber.test(text) ? text : 'NaN';
  }
}
