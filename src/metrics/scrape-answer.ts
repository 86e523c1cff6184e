// Response to one scrape: the format and encoding that the scraper accepts, and the pieces as a stream that yields the
// event loop.
import { createPacer, type Pacer } from '../world/world.ts';
import { crcWith, gzipHead, gzipTail, gzipTailBytes, inflate, joined, type Piece } from './exposition/piece.ts';
import type { Format } from './exposition/text.ts';

export interface ScrapeRequest {
  /** Accept header of the scraper. */
  readonly accept: string | undefined;
  readonly acceptEncoding: string | undefined;
  /** True if /readyz answers 200 at that moment. */
  readonly ready: boolean;
  /** Resolves once the response is no longer read; absent if the caller does not report that. */
  readonly over?: Promise<void>;
}

export interface Answer {
  readonly headers: Readonly<Record<string, string>>;
  /** Returns the bytes as a stream, cancelled if the scraper leaves. Must not be called for HEAD. */
  body(): ReadableStream<Uint8Array>;
}

const contentTypes: Readonly<Record<Format, string>> = {
  text: 'text/plain; version=0.0.4; charset=utf-8',
  openmetrics: 'application/openmetrics-text; version=1.0.0; charset=utf-8',
};

/** Minimum text that is sent together, because single pieces are small. */
const portionBytes = 256 * 1024;
const sliceMs = 2;

/** Returns `openmetrics` if Accept lists it with at least the weight of plain text, else `text`. */
export function formatFor(accept: string | undefined): Format {
  const weightOf = weightsOf(accept);
  const openmetrics = weightOf('application/openmetrics-text');
  return openmetrics > 0 && openmetrics >= weightOf('text/plain') ? 'openmetrics' : 'text';
}

/** Builds the response. Yields the event loop, because a large fleet has tens of thousands of pieces. */
export async function answerOf(
  pieces: readonly Piece[],
  format: Format,
  { acceptEncoding, pacer }: Pick<ScrapeRequest, 'acceptEncoding'> & { readonly pacer: Pacer },
): Promise<Answer> {
  const weightOf = weightsOf(acceptEncoding);
  const gzip = (weightOf('gzip', '*') || weightOf('x-gzip')) > 0;
  let bytes = gzip ? gzipHead.length + gzipTailBytes : 0;
  for (const piece of pieces) {
    bytes += gzip ? piece.deflated.length : piece.bytes;
    if (pacer.due()) await pacer.turn();
  }
  const headers = {
    'Content-Type': contentTypes[format],
    'Content-Length': String(bytes),
    Vary: 'Accept, Accept-Encoding',
  };
  return {
    headers: gzip ? { ...headers, 'Content-Encoding': 'gzip' } : headers,
    body: () => streamOf(gzip ? compressed(pieces) : plain(pieces)),
  };
}

function* compressed(pieces: readonly Piece[]): Generator<Buffer, undefined> {
  let crc = 0;
  let bytes = 0;
  yield gzipHead;
  for (const some of portions(pieces)) {
    crc = crcWith(crc, some);
    for (const piece of some) bytes += piece.bytes;
    yield joined(some);
  }
  yield gzipTail(crc, bytes);
}

function* plain(pieces: readonly Piece[]): Generator<Buffer, undefined> {
  for (const some of portions(pieces)) yield inflate(some);
}

function* portions(pieces: readonly Piece[]): Generator<readonly Piece[], undefined> {
  let some: Piece[] = [];
  let bytes = 0;
  for (const piece of pieces) {
    bytes += piece.bytes;
    some.push(piece);
    if (bytes < portionBytes) continue;
    yield some;
    some = [];
    bytes = 0;
  }
  if (some.length > 0) yield some;
}

/** Returns a stream that reads as fast as its receiver. */
function streamOf(buffers: Generator<Buffer, undefined>): ReadableStream<Uint8Array> {
  const pacer = createPacer(sliceMs);
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { value, done } = buffers.next();
      if (done) controller.close();
      else controller.enqueue(value);
      if (pacer.due()) await pacer.turn();
    },
  });
}

/**
 * Parses the weights of a header such as Accept. The result returns the weight of the first name that is listed, or 0
 * if none is.
 */
function weightsOf(header: string | undefined): (...names: string[]) => number {
  const weights = new Map<string, number>();
  for (const part of (header ?? '').split(',')) {
    const [name = '', ...parameters] = part.split(';').map((piece) => piece.trim().toLowerCase());
    const quality = parameters.find((parameter) => parameter.startsWith('q='));
    const weight = quality ? Number(quality.slice(2)) || 0 : 1;
    weights.set(name, Math.max(weight, weights.get(name) ?? 0));
  }
  return (...names) => names.map((name) => weights.get(name)).find((weight) => weight !== undefined) ?? 0;
}
