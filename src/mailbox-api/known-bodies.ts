// An answer whose body is the one that the known answer was read from is that answer: the body is not read again.
import { hash } from 'node:crypto';
import type { Success } from '../http/exchange.ts';
import type { Result } from '../http/failure.ts';

/** Hashing takes about a millisecond a megabyte, in one turn of the event loop: what is larger is read each time. */
const maxHashedBytes = 4 * 1024 * 1024;

export class KnownBodies {
  /** By answer: the hash of the body that it was read from. It lives as long as somebody keeps the answer. */
  readonly #hashes = new WeakMap<object, string>();

  /** The answer that a body holds: `known` itself where it was read from the same bytes, otherwise what `read` makes of them. */
  async read<Answer>(
    { body, headers }: Pick<Success, 'body' | 'headers'>,
    known: Answer | null,
    read: () => Promise<Result<Answer>>,
  ): Promise<Result<Answer>> {
    if (body.length > maxHashedBytes) return read();
    // A Link header says whether a list is whole.
    const hashed = hash('sha1', body, 'base64') + String(headers['link'] ?? '');
    if (isObject(known) && this.#hashes.get(known) === hashed) return { ok: true, value: known };
    const result = await read();
    if (result.ok && isObject(result.value)) this.#hashes.set(result.value, hashed);
    return result;
  }
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;
