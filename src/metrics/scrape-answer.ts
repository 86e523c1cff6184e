// One scrape's answer: which format and encoding the scraper takes, and the pieces as a stream that yields the event loop.
import { createPacer, type Pacer } from '../world/world.ts';
import { crcWith, gzipHead, gzipTail, gzipTailBytes, inflate, joined, type Piece } from './exposition/piece.ts';
import type { Format } from './exposition/text.ts';

export interface ScrapeRequest {
  /** The scraper's headers. */
  readonly accept: string | undefined;
  readonly acceptEncoding: string | undefined;
  /** Whether /readyz answers 200 at that moment. */
  readonly ready: boolean;
  /** Resolves when nobody reads the answer any more; absent: nobody says so. */
  readonly over?: Promise<void>;
}

export interface Answer {
  readonly headers: Readonly<Record<string, string>>;
  /** The bytes; not to be called for HEAD. Cancelled when the scraper leaves. */
  body(): ReadableStream<Uint8Array>;
}

const contentTypes: Readonly<Record<Format, string>> = {
  text: 'text/plain; version=0.0.4; charset=utf-8',
  openmetrics: 'application/openmetrics-text; version=1.0.0; charset=utf-8',
};

/** Pieces are small: they go out together, so many bytes of text at a time. */
const portionBytes = 256 * 1024;
const sliceMs = 2;

/** OpenMetrics when Accept names it with at least the weight of plain text; text for everybody else. */
export function formatFor(accept: string | undefined): Format {
  const weightOf = weightsOf(accept);
  const openmetrics = weightOf('application/openmetrics-text');
  return openmetrics > 0 && openmetrics >= weightOf('text/plain') ? 'openmetrics' : 'text';
}

/** Yields the event loop: a large fleet has tens of thousands of pieces. */
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

/** Reads as fast as the receiver does. */
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

/** The weights of a header such as Accept: of the first name that it lists, 0 when it lists none of them. */
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
