// Chance that depends only on what it is asked for, so that no request and no neighbour disturbs it.
import { createHash } from 'node:crypto';

/** What a draw decides. Each purpose has its own stream. */
const purposes = {
  sendTime: 1,
  bounce: 2,
  spam: 3,
  open: 4,
  reply: 5,
  delay: 6,
  phase: 7,
  latePhase: 8,
  schedule: 9,
  subject: 10,
} as const;

/** A 32-bit number out of a text: the key of one mailbox's chance. */
export function chanceKey(text: string): number {
  return createHash('sha256').update(text).digest().readUInt32BE(0);
}

/** A number in [0, 1), the same whenever it is asked for the same (key, day, index, purpose). */
export function draw(key: number, day: number, index: number, purpose: keyof typeof purposes): number {
  let mixed = mix(key ^ Math.imul(day, 0x9e3779b1));
  mixed = mix(mixed ^ Math.imul(index + 1, 0x85ebca77));
  mixed = mix(mixed ^ Math.imul(purposes[purpose], 0xc2b2ae3d));
  return mixed / 2 ** 32;
}

/** Whether event number `count` (from 0) happens, when `rate` of them do, evenly spread from `phase` in [0, 1). */
export function evenly(rate: number, phase: number, count: number): boolean {
  return Math.floor(phase + (count + 1) * rate) > Math.floor(phase + count * rate);
}

/** A UUID derived from a text: the same text, the same id. */
export function derivedUuid(text: string): string {
  const bytes = createHash('sha256').update(text).digest().subarray(0, 16);
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

/** The finaliser of MurmurHash3: every bit of the input changes about half of the output's bits. */
function mix(value: number): number {
  let bits = value | 0;
  bits = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b);
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35);
  return (bits ^ (bits >>> 16)) >>> 0;
}
