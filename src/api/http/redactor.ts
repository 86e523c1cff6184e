// Removes our own secrets from foreign texts: a key that a service echoes must not reach a page or the store.
import { withoutNul } from '../../core/nearest.ts';

/** A shorter key of our own could be an ordinary word of an answer. */
const minOwnLetters = 6;
/** Other secrets of the configuration are unlikely to appear in an answer. */
const minOtherLetters = 12;
const keyBeginning = 'sk_live_';
/** Includes unknown or truncated keys. */
const keyShape = /sk_live_[\w-]+/g;

/** Built once for many texts. */
export class Redactor {
  /** Key of the service that we call, or null if there is none. */
  readonly own: string | null;
  /** Longest first, because one may be the beginning of another. */
  readonly #secrets: readonly string[];

  /** `leastLetters`: shorter secrets among the others are left as they are. */
  constructor(own: string | null, others: readonly string[], leastLetters = minOtherLetters) {
    this.own = own;
    const ours = own !== null && own.length >= minOwnLetters ? [own] : [];
    const known = new Set([...ours, ...others.filter((secret) => secret.length >= leastLetters)]);
    this.#secrets = [...known].sort((a, b) => b.length - a.length);
  }

  /** Writes [key] for each key, and [hidden] for any other secret. */
  text(text: string): string {
    const known = this.#secrets.reduce((rest, secret) => rest.replaceAll(secret, this.#markOf(secret)), text);
    return known.replace(keyShape, '[key]');
  }

  /** Texts and field names of the value hold no secret and no NUL. Throws when JSON.parse does. */
  json(text: string): unknown {
    const value: unknown = JSON.parse(this.text(text));
    // The search in the text misses what is written with escapes.
    return text.includes('\\') ? this.#inPlace(value) : value;
  }

  /** Works without recursion: a value may be nested as deep as a body is long. */
  #inPlace(value: unknown): unknown {
    const whole = { value };
    const left: unknown[] = [whole];
    for (let holder = left.pop(); holder !== undefined; holder = left.pop()) {
      const fields = holder as Record<string | number, unknown>;
      const names = Array.isArray(holder) ? holder.keys() : Object.keys(fields);
      for (const name of names) {
        const item = fields[name];
        if (typeof item === 'object' && item !== null) left.push(item);
        else if (typeof item === 'string') fields[name] = withoutNul(this.text(item));
        if (typeof name === 'string') this.#rename(fields, name);
      }
    }
    return whole.value;
  }

  #rename(fields: Record<string, unknown>, name: string): void {
    const shown = withoutNul(this.text(name));
    if (shown === name) return;
    fields[shown] = fields[name];
    delete fields[name];
  }

  #markOf(secret: string): string {
    return secret === this.own || secret.startsWith(keyBeginning) ? '[key]' : '[hidden]';
  }
}
