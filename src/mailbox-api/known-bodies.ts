// An answer whose body is the one that the known answer was read from is that answer: the body is not read again.
import { hash } from 'node:crypto';
import type { Success } from '../http/exchange.ts';
import type { Result } from '../http/failure.ts';
import type { Observed } from '../model/answers.ts';

/** Hashing takes about a millisecond a megabyte, in one turn of the event loop: what is larger is read each time. */
const maxHashedBytes = 4 * 1024 * 1024;

/** An answer, and what tells the body that it was read from. */
export type Known<Answer> = Pick<Observed<Answer>, 'answer' | 'body'>;

let made = 0;

/** What others read, with another key or fewer secrets, is read again. */
export class KnownBodies {
  readonly #mark: string;

  constructor() {
    made += 1;
    this.#mark = ` ${made}`;
  }

  /** The answer that a body holds: that of `known` where it was read from the same bytes, otherwise what `read` makes of them. */
  async read<Answer>(
    { body, headers }: Pick<Success, 'body' | 'headers'>,
    known: Known<Answer> | null,
    read: () => Promise<Result<Answer>>,
  ): Promise<Result<Known<Answer>>> {
    const isCompared = known !== null && body.length <= maxHashedBytes;
    // A Link header says whether a list is whole.
    const hashed = isCompared ? hash('sha1', body, 'base64') + (headers['link'] ?? '') + this.#mark : undefined;
    if (hashed !== undefined && known?.body === hashed) return { ok: true, value: known };
    const result = await read();
    if (!result.ok) return result;
    const answer = result.value;
    return { ok: true, value: hashed === undefined ? { answer } : { answer, body: hashed } };
  }
}
