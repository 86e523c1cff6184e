// A piece of an answer that is compressed once and sent many times: raw deflate that ends at a byte, with its CRC.
// Pieces put one behind the other are one gzip member, so an unchanged block costs a copy, not a compression.
import { constants, crc32, deflateRawSync, inflateRawSync } from 'node:zlib';

export interface Piece {
  /** Raw deflate, ended by a full flush: depends on nothing before it. */
  readonly deflated: Buffer;
  /** Of the text. */
  readonly crc: number;
  /** Of the text. */
  readonly bytes: number;
}

/**
 * Level 1: higher ones shrink this text by another tenth, for twice the time and more. A window of 4 KB and few hashes shrink a
 * piece as well as the usual ones: they are quicker to set up, and a sixth of the memory, whose coming and going makes V8's
 * garbage collector work.
 */
const settings = { level: 1, windowBits: 12, memLevel: 5 } as const;

/** Nearly all texts shrink to this share at least: zlib's own chunks of 16 KB would be garbage of tens of MB a scrape. */
const usualShare = 0.25;
/** A piece that is written anew is seldom longer than the one before by a larger share. */
const slack = 1.1;

/** Where a text is for as long as it is compressed: a buffer for each would be as much garbage again. */
let scratch = Buffer.allocUnsafeSlow(16 * 1024);

/** A letter takes three bytes at most. */
const bytesALetter = 3;

function plainOf(text: string): Buffer {
  if (text.length * bytesALetter > scratch.length) scratch = Buffer.allocUnsafeSlow(text.length * bytesALetter);
  return scratch.subarray(0, scratch.write(text));
}

/** `before`: a piece that nobody needs any more. Its memory is written anew where the text fits: each scrape would leave megabytes behind. */
export function pieceOf(text: string, before?: Piece): Piece {
  const plain = plainOf(text);
  // Node.js keeps each chunk for as long as the object behind it, which V8 takes for an old one.
  const likely = before ? before.deflated.length * slack : plain.length * usualShare;
  const chunkSize = Math.max(constants.Z_MIN_CHUNK, Math.ceil(likely));
  const chunk = deflateRawSync(plain, { ...settings, chunkSize, finishFlush: constants.Z_FULL_FLUSH });
  // What zlib hands out is the beginning of its chunk, too much to be kept.
  const deflated = roomFor(chunk.length, before);
  chunk.copy(deflated);
  return { deflated, crc: crc32(plain), bytes: plain.length };
}

function roomFor(bytes: number, before: Piece | undefined): Buffer {
  const room = before?.deflated.buffer;
  const fits = room !== undefined && bytes <= room.byteLength && room.byteLength <= 2 * bytes;
  if (fits) return Buffer.from(room, 0, bytes);
  return before ? Buffer.allocUnsafeSlow(Math.ceil(bytes * slack)).subarray(0, bytes) : Buffer.allocUnsafeSlow(bytes);
}

/** The deflated pieces, one behind the other. */
export function joined(pieces: readonly Piece[]): Buffer {
  return Buffer.concat(pieces.map(({ deflated }) => deflated));
}

/** The texts, one behind the other, in UTF-8. Not for no text at all. */
export function inflate(pieces: readonly Piece[]): Buffer {
  const chunkSize = Math.max(
    constants.Z_MIN_CHUNK,
    pieces.reduce((sum, { bytes }) => sum + bytes, 0),
  );
  return inflateRawSync(joined(pieces), { finishFlush: constants.Z_SYNC_FLUSH, chunkSize });
}

/** Before the first piece: deflate, no name, no time, made by no particular system. */
export const gzipHead = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff]);

export const gzipTailBytes = 10;

/** Behind the last one: an empty final block, the CRC of all texts together, and their length. */
export function gzipTail(crc: number, bytes: number): Buffer {
  const tail = Buffer.alloc(gzipTailBytes);
  tail[0] = 3;
  tail.writeUInt32LE(crc, 2);
  tail.writeUInt32LE(bytes % 2 ** 32, 6);
  return tail;
}

/** The CRC of a text and the texts of these pieces behind it, of the CRC of that text; 0 is that of none. */
export function crcWith(crc: number, pieces: Iterable<Piece>): number {
  let whole = crc;
  for (const piece of pieces) whole = (multiply(powerOfBytes(piece.bytes), whole) ^ piece.crc) >>> 0;
  return whole;
}

// A CRC is a polynomial over GF(2), its highest bit the power 0. Behind A comes B: CRC(A) times x^(8 * bytes of B), plus CRC(B).
const divisor = 0xedb88320;
const one = 0x80000000;

function multiply(a: number, b: number): number {
  let product = 0;
  let factor = b;
  for (let bits = a; bits !== 0; bits <<= 1) {
    if (bits < 0 || bits >= one) product ^= factor;
    factor = factor & 1 ? (factor >>> 1) ^ divisor : factor >>> 1;
  }
  return product;
}

/** x^(8 * 2^n) for n from 0. */
const powers: readonly number[] = (() => {
  const list = [0x00800000];
  for (let n = 1; n < 32; n += 1) {
    const last = list[n - 1] ?? 0;
    list.push(multiply(last, last));
  }
  return list;
})();

/** Pieces of equally many items have similar lengths, so the same few lengths come again and again. */
const known = new Map<number, number>();
const mostKnown = 10_000;

/** x^(8 * bytes). */
function powerOfBytes(bytes: number): number {
  const before = known.get(bytes);
  if (before !== undefined) return before;
  let power = one;
  for (let n = 0, rest = bytes; rest > 0; n += 1, rest = Math.floor(rest / 2)) {
    if (rest % 2 === 1) power = multiply(powers[n] ?? 0, power);
  }
  if (known.size >= mostKnown) known.clear();
  known.set(bytes, power);
  return power;
}
