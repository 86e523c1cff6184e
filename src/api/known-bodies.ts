// An answer whose body is the one that the known answer was read from is that answer: the body is not read again.
import { hash } from 'node:crypto';
import type { Observed } from '../core/answers.ts';
import type { EpochMs } from '../core/time.ts';
import type { Success } from './http/exchange.ts';
import type { Result } from './http/failure.ts';

/** Hashing takes about a millisecond a megabyte, in one turn of the event loop: what is larger is read each time. */
const maxHashedBytes = 4 * 1024 * 1024;

/** An answer, and what tells the body that it was read from, to those who read it; null: nothing does. */
export interface Known<Answer> {
  readonly answer: Answer;
  readonly body: string | null;
  readonly by: KnownBodies | null;
}

/** An answer that was read. What tells its body goes with it, for as long as it is believed, and nobody else sees it. */
export class Seen<Answer> implements Observed<Answer> {
  readonly at: EpochMs;
  readonly answer: Answer;
  readonly #body: string | null;
  readonly #by: KnownBodies | null;

  constructor(at: EpochMs, { answer, body, by }: Known<Answer>) {
    this.at = at;
    this.answer = answer;
    this.#body = body;
    this.#by = by;
  }

  /** Of an answer that comes from the store nobody knows the body. */
  static known<Answer>(observed: Observed<Answer>): Known<Answer> {
    const { answer } = observed;
    return #body in observed ? { answer, body: observed.#body, by: observed.#by } : { answer, body: null, by: null };
  }
}

/** What others read, with another key or fewer secrets, is read again. */
export class KnownBodies {
  /** The answer that a body holds: that of `known` where it was read from the same bytes, otherwise what `read` makes of them. */
  read<Answer>(
    { body, headers }: Pick<Success, 'body' | 'headers'>,
    known: Known<Answer> | null,
    read: () => Promise<Result<Answer>>,
  ): Result<Known<Answer>> | Promise<Result<Known<Answer>>> {
    const isCompared = known !== null && body.length <= maxHashedBytes;
    // Twenty letters in one piece, for each answer that is believed. A Link header says whether a list is whole.
    const hashed = isCompared ? hash('sha1', body, 'binary') + (headers['link'] ?? '') : null;
    const isSame = hashed !== null && known?.body === hashed && known.by === this;
    return isSame ? { ok: true, value: known } : this.#readAnew(hashed, read);
  }

  async #readAnew<Answer>(hashed: string | null, read: () => Promise<Result<Answer>>): Promise<Result<Known<Answer>>> {
    const result = await read();
    return result.ok ? { ok: true, value: { answer: result.value, body: hashed, by: this } } : result;
  }
}
