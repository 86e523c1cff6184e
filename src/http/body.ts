// The body of a success as text and as JSON. Apart from the sockets, so that a thread may read without them.
import { malformed, quote, type Result } from './failure.ts';
import type { Redactor } from './redactor.ts';

/** Made once: making one takes longer than decoding a small body. */
const decoder = new TextDecoder();

/** The text of a body, without a byte order mark. */
export function textOf(body: Uint8Array): string {
  return decoder.decode(body);
}

/** A success as text. */
export interface ReadText {
  readonly status: number;
  readonly text: string;
}

/** The JSON of a success, whatever its shape (docs/faults.md H2, H5), without secrets. */
export function jsonOf({ status, text }: ReadText, redactor: Redactor): Result<unknown> {
  try {
    return { ok: true, value: redactor.json(text) };
  } catch {
    const said = text.trim() === '' ? 'the body is empty' : `the body is not valid JSON: ${quote(redactor.text(text))}`;
    return malformed(status, said);
  }
}

/** What a large body may grow to when it is parsed. */
const maxParsedBytes = 256 * 1024 * 1024;
/** What values take at most beside their text: an empty object is two characters long and takes 64 bytes. */
const holderBytes = 64;
const itemBytes = 24;
const textBytes = 32;

const [quotationMark, comma, colon, bracket, brace] = [0x22, 0x2c, 0x3a, 0x5b, 0x7b];

/** The JSON of a large body, as `jsonOf`. One of so many values that they would fill the memory is not parsed. */
export function largeJsonOf(status: number, body: Uint8Array, redactor: Redactor): Result<unknown> {
  if (parsedBytes(body) > maxParsedBytes) {
    return malformed(status, `its values would take more than ${maxParsedBytes / 1024 / 1024} MiB`);
  }
  return jsonOf({ status, text: textOf(body) }, redactor);
}

/** At most so many bytes; what stands inside texts counts as if it were structure. */
function parsedBytes(body: Uint8Array): number {
  let [holders, items, quotationMarks, names] = [0, 0, 0, 0];
  // By index: an iterator takes five times as long, and this is done for every large body.
  for (let at = 0; at < body.length; at += 1) {
    const byte = body[at];
    if (byte === comma) items += 1;
    else if (byte === quotationMark) quotationMarks += 1;
    else if (byte === colon) names += 1;
    else if (byte === brace || byte === bracket) holders += 1;
  }
  const texts = Math.max(0, quotationMarks / 2 - names);
  return holderBytes * holders + itemBytes * items + textBytes * texts + 2 * body.length;
}
