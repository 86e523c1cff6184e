// Piece of a response that is compressed once and sent many times: raw deflate that ends at a byte boundary, with its
// CRC. Concatenated pieces form one gzip member, so an unchanged block costs a copy, not a compression.
import { constants, crc32, deflateRawSync, inflateRawSync } from 'node:zlib';

export interface Piece {
  /** Raw deflate that ends with a full flush, so it depends on nothing before it. */
  readonly deflated: Buffer;
  /** CRC of the text. */
  readonly crc: number;
  /** Length of the text in bytes. */
  readonly bytes: number;
}

/**
 * Level 1, because higher levels shrink this text by another tenth for twice the time or more. A window of 4 KB and few
 * hashes shrink a piece as well as the defaults, are quicker to set up, and need a sixth of the memory, which spares
 * V8's garbage collector.
 */
const settings = { level: 1, windowBits: 12, memLevel: 5 } as const;

/**
 * Share of its length to which nearly every text shrinks. zlib's default chunks of 16 KB would leave tens of MB of
 * garbage per scrape.
 */
const usualShare = 0.25;
/** Factor by which a rewritten piece is seldom longer than the previous one. */
const slack = 1.1;

/** Buffer that holds a text during its compression. A buffer for each text would double the garbage. */
let scratch = Buffer.allocUnsafeSlow(16 * 1024);

/** Maximum bytes of a UTF-16 unit in UTF-8. */
const bytesALetter = 3;

function plainOf(text: string): Buffer {
  if (text.length * bytesALetter > scratch.length) scratch = Buffer.allocUnsafeSlow(text.length * bytesALetter);
  return scratch.subarray(0, scratch.write(text));
}

/**
 * Compresses a text. Reuses the memory of `before`, a piece that is no longer needed, if the text fits: each scrape
 * would otherwise leave megabytes of garbage.
 */
export function pieceOf(text: string, before?: Piece): Piece {
  const plain = plainOf(text);
  // Node.js keeps each chunk as long as its zlib object, which V8 counts as old: a tight chunk size limits that
  // garbage.
  const likely = before ? before.deflated.length * slack : plain.length * usualShare;
  const chunkSize = Math.max(constants.Z_MIN_CHUNK, Math.ceil(likely));
  const chunk = deflateRawSync(plain, { ...settings, chunkSize, finishFlush: constants.Z_FULL_FLUSH });
  // zlib returns the beginning of its chunk, and the whole chunk is too large to keep.
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

/** Concatenates the compressed pieces. */
export function joined(pieces: readonly Piece[]): Buffer {
  return Buffer.concat(pieces.map(({ deflated }) => deflated));
}

/** Concatenates the texts, in UTF-8. Requires at least one piece with text. */
export function inflate(pieces: readonly Piece[]): Buffer {
  const chunkSize = Math.max(
    constants.Z_MIN_CHUNK,
    pieces.reduce((sum, { bytes }) => sum + bytes, 0),
  );
  return inflateRawSync(joined(pieces), { finishFlush: constants.Z_SYNC_FLUSH, chunkSize });
}

/** Gzip header before the first piece: deflate, no file name, no time, unknown operating system. */
export const gzipHead = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff]);

export const gzipTailBytes = 10;

/**
 * Returns the end of the gzip member, after the last piece: an empty final block, the CRC of all texts, and their
 * length.
 */
export function gzipTail(crc: number, bytes: number): Buffer {
  const tail = Buffer.alloc(gzipTailBytes);
  tail[0] = 3;
  tail.writeUInt32LE(crc, 2);
  tail.writeUInt32LE(bytes % 2 ** 32, 6);
  return tail;
}

/**
 * Returns the CRC of a text followed by the texts of these pieces. `crc` is the CRC of the first text, 0 for an empty
 * one.
 */
export function crcWith(crc: number, pieces: Iterable<Piece>): number {
  let whole = crc;
  for (const piece of pieces) whole = (multiply(powerOfBytes(piece.bytes), whole) ^ piece.crc) >>> 0;
  return whole;
}

// A CRC is a polynomial over GF(2) whose highest bit is the power 0. The CRC of A followed by B is CRC(A) times x^(8 *
// bytes of B), plus CRC(B).
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

/** Powers x^(8 * 2^n) for n from 0. */
const powers: readonly number[] = (() => {
  const list = [0x00800000];
  for (let n = 1; n < 32; n += 1) {
    const last = list[n - 1] ?? 0;
    list.push(multiply(last, last));
  }
  return list;
})();

/** Cache of powers by length. Pieces with equally many items have similar lengths, so the same few lengths recur. */
const known = new Map<number, number>();
const mostKnown = 10_000;

/** Returns x^(8 * bytes). */
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
