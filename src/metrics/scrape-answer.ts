// Response to a scrape: pieces of text, compressed once and sent many times, that together form one gzip member.
import { constants, crc32, deflateRawSync, inflateRawSync } from 'node:zlib';
import { parseAccept } from 'hono/utils/accept';
import { createPacer } from '../world/world.ts';

export interface Piece {
  /** Raw deflate that ends with a full flush, so it depends on nothing before it. */
  readonly deflated: Uint8Array;
  readonly bytes: number;
  /** CRC of the text, XOR the CRC of as many zeros. */
  readonly check: number;
}

/** Higher levels take twice the time for a tenth. The small window and few hashes need a sixth of the memory. */
const settings = { level: 1, windowBits: 12, memLevel: 5, finishFlush: constants.Z_FULL_FLUSH } as const;

/** Nearly every text shrinks to this share: zlib's usual chunks of 16 KB would be mostly garbage. */
const usualShare = 0.25;

export function pieceOf(text: string): Piece {
  const plain = Buffer.from(text);
  const chunkSize = Math.max(constants.Z_MIN_CHUNK, Math.ceil(plain.length * usualShare));
  // zlib returns the beginning of its chunk, and the whole chunk is too large to keep.
  const deflated = new Uint8Array(deflateRawSync(plain, { ...settings, chunkSize }));
  return { deflated, bytes: plain.length, check: crc32(plain) ^ crc32(zeros(plain.length)) };
}

let someZeros = Buffer.alloc(64 * 1024);

function zeros(bytes: number): Buffer {
  if (bytes > someZeros.length) someZeros = Buffer.alloc(2 * bytes);
  return someZeros.subarray(0, bytes);
}

/** CRCs are affine: the CRC of A and B is the CRC of A and zeros, XOR the CRC of B, XOR the CRC of the zeros. */
function crcWith(crc: number, { bytes, check }: Piece): number {
  return (crc32(zeros(bytes), crc) ^ check) >>> 0;
}

/** Gzip header before the first piece: deflate, no file name, no time, unknown operating system. */
const gzipHead = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff]);
const gzipTailBytes = 10;

/** Builds an empty final block, the CRC of all texts, and their length. */
function gzipTail(crc: number, bytes: number): Buffer {
  const tail = Buffer.alloc(gzipTailBytes);
  tail[0] = 3;
  tail.writeUInt32LE(crc, 2);
  tail.writeUInt32LE(bytes % 2 ** 32, 6);
  return tail;
}

export interface ScrapeRequest {
  readonly acceptEncoding: string | undefined;
  readonly ready: boolean;
}

export interface Answer {
  readonly headers: Readonly<Record<string, string>>;
  /** The stream is cancelled if the scraper leaves. Must not be called for HEAD. */
  body(): ReadableStream<Uint8Array>;
}

/** Minimum text that is sent together, because single pieces are small. */
const portionBytes = 256 * 1024;
const sliceMs = 2;

export function answerOf(pieces: readonly Piece[], acceptEncoding: string | undefined): Answer {
  const weightOf = weightsOf(acceptEncoding);
  const isZipped = (weightOf('gzip', '*') || weightOf('x-gzip')) > 0;
  const bytes = isZipped
    ? pieces.reduce((sum, { deflated }) => sum + deflated.length, gzipHead.length + gzipTailBytes)
    : pieces.reduce((sum, piece) => sum + piece.bytes, 0);
  const headers = {
    'Content-Type': 'text/plain; version=0.0.4; charset=utf-8',
    'Content-Length': String(bytes),
    Vary: 'Accept-Encoding',
    ...(isZipped && { 'Content-Encoding': 'gzip' }),
  };
  return { headers, body: () => ReadableStream.from(isZipped ? zipped(pieces) : plain(pieces)) };
}

async function* zipped(pieces: readonly Piece[]): AsyncGenerator<Uint8Array, undefined> {
  let [crc, bytes] = [0, 0];
  yield gzipHead;
  for await (const some of portions(pieces)) {
    for (const piece of some) {
      crc = crcWith(crc, piece);
      bytes += piece.bytes;
    }
    yield deflatedOf(some);
  }
  yield gzipTail(crc, bytes);
}

async function* plain(pieces: readonly Piece[]): AsyncGenerator<Uint8Array, undefined> {
  for await (const some of portions(pieces)) {
    const bytes = some.reduce((sum, piece) => sum + piece.bytes, 0);
    const chunkSize = Math.max(constants.Z_MIN_CHUNK, bytes);
    yield inflateRawSync(deflatedOf(some), { finishFlush: constants.Z_SYNC_FLUSH, chunkSize });
  }
}

function deflatedOf(pieces: readonly Piece[]): Buffer {
  return Buffer.concat(pieces.map(({ deflated }) => deflated));
}

async function* portions(pieces: readonly Piece[]) {
  const pacer = createPacer(sliceMs);
  let some: Piece[] = [];
  let bytes = 0;
  for (const piece of pieces) {
    some.push(piece);
    bytes += piece.bytes;
    if (bytes < portionBytes) continue;
    if (pacer.due()) await pacer.turn();
    yield some;
    [some, bytes] = [[], 0];
  }
  if (some.length > 0) yield some;
}

/** Parses a header such as Accept-Encoding. The result returns the weight of the first name listed, or else 0. */
function weightsOf(header: string | undefined): (...names: string[]) => number {
  const weights = new Map<string, number>();
  for (const { type, q } of parseAccept(header ?? ''))
    weights.set(type.toLowerCase(), Math.max(q, weights.get(type.toLowerCase()) ?? 0));
  return (...names) => names.map((name) => weights.get(name)).find((weight) => weight !== undefined) ?? 0;
}
