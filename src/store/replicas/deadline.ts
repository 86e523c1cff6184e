// Until when a replica may take itself for the holder of its leases. No database and no clock here: both moments come along.

/** A holder is one for so long after it sent its last acknowledged beat; an heir waits as long before it takes over. */
export const deadlineMs = 15_000;
/** A POST and its answer take at most this long; an attempt to send a message that takes longer ends as soon as less is left. */
export const postMs = 10_000;
/** Two clocks that differ more than this between two readings: the machine slept, or somebody set the clock. */
const toleratedJumpMs = 2_000;

/** One moment on both clocks, in milliseconds. */
export interface Moment {
  /** Never jumps, and stands still while the machine sleeps. */
  readonly monotonic: number;
  readonly wall: number;
}

/** Whether the leases are still ours. `sent`: when the last acknowledged beat was sent, not when its answer came. */
export function isHeld(sent: Moment, now: Moment): boolean {
  return leftMs(sent, now) > 0;
}

/** Asked right before a POST: one that begins now ends while the leases are ours. */
export function mayPost(sent: Moment, now: Moment): boolean {
  return leftMs(sent, now) >= postMs;
}

function leftMs(sent: Moment, now: Moment): number {
  const passed = now.monotonic - sent.monotonic;
  const jumped = Math.abs(now.wall - sent.wall - passed) > toleratedJumpMs;
  return jumped ? 0 : deadlineMs - passed;
}
