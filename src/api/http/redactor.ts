// Takes our own secrets out of what others send: a service that echoes a key must not bring it onto a page or into the store.
import { withoutNul } from '../../core/nearest.ts';

/** A shorter key of our own could be an ordinary word of an answer. */
const minOwnLetters = 6;
/** And a shorter secret of another part of the configuration, which has no reason to be in this answer. */
const minOtherLetters = 12;
/** So many letters of a secret are looked for first: many keys begin alike. */
const beginningLetters = 8;
const keyBeginning = 'sk_live_';
/** At least so many of them: fewer could be part of every answer. */
const minSignLetters = 4;
/** Letters of JSON, about the most common first. Others are rarer. */
const commonLetters = '"0ea:,1t_sinrld2ochpfumb5349867gyv.-/ ';
/** Keys of the mailbox API, also those that we don't know or that were cut off. */
const keyShape = /sk_live_[\w-]+/g;

/** Made once for many texts. */
export class Redactor {
  /** The key of the service that we speak with; null without one. */
  readonly own: string | null;
  /** Whatever else is secret here. */
  readonly others: readonly string[];
  /** The longest first: one may be the beginning of another. */
  readonly #secrets: readonly string[];
  /** What a text with a secret holds in any case. */
  readonly #signs: readonly string[];

  constructor(own: string | null, others: readonly string[]) {
    this.own = own;
    this.others = others;
    const ours = own !== null && own.length >= minOwnLetters ? [own] : [];
    const known = new Set([...ours, ...others.filter((secret) => secret.length >= minOtherLetters)]);
    this.#secrets = [...known].sort((a, b) => b.length - a.length);
    const beginnings = this.#secrets.map((secret) => secret.slice(0, beginningLetters));
    this.#signs = [...new Set([keyBeginning, ...beginnings].map(fromRarestLetter))];
  }

  /** The text with [key] for each key, and [hidden] for any other secret. */
  text(text: string): string {
    if (!this.#signs.some((sign) => text.includes(sign))) return text;
    const known = this.#secrets.reduce((rest, secret) => rest.replaceAll(secret, this.#markOf(secret)), text);
    return known.replace(keyShape, '[key]');
  }

  /** Parses JSON; no text in the value, and no name of a field, holds a secret or the letter NUL. Throws where JSON.parse does. */
  json(text: string): unknown {
    const value: unknown = JSON.parse(this.text(text));
    // Written with escapes, neither is found in the text.
    return text.includes('\\') ? this.#inPlace(value) : value;
  }

  /** Without recursion: a value may be nested as deep as a body is long. */
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

/** The end of a beginning, from its rarest letter on: V8 looks for the first letter in the fastest way, and compares at each that it finds. */
function fromRarestLetter(beginning: string): string {
  const commonness = (at: number) => commonLetters.indexOf(beginning.charAt(at)) + 1 || commonLetters.length + 1;
  let rarest = 0;
  for (let at = 1; at <= beginning.length - minSignLetters; at += 1)
    if (commonness(at) > commonness(rarest)) rarest = at;
  return beginning.slice(rarest);
}
