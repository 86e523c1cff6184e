// The lease of the active process: the right to write to the store and to change mailboxes. A SQLite store belongs to
// one process. On PostgreSQL one process is active and others stand by (postgres/lease.ts, docs/postgresql.md).

export interface Lease {
  readonly isShared: boolean;
  /** True if the previous process ended without releasing the lease: its last POST may still be in progress. */
  readonly isInherited: boolean;
  readonly isHeld: boolean;
  /** True if a POST that starts now ends before another process can take the lease. */
  mayPost(): boolean;
  /** Reason why this process can't renew an expired lease, or null if it has the lease. */
  readonly overdue: Error | null;
}

export const ownLease: Lease = {
  isShared: false,
  isInherited: false,
  isHeld: true,
  mayPost: () => true,
  overdue: null,
};

/** Time after the active process sent its last acknowledged heartbeat. A standby waits as long. */
export const leaseMs = 15_000;
/** Longest duration of a POST with its response. */
export const postMs = 10_000;
const readBackMs = 15_000;
/** After a takeover, a mailbox with an open intent is left alone for this long: the POST may still be in progress. */
export const inheritedWaitMs = postMs + readBackMs;
/** A larger difference between two readings means that the machine slept, or that the clock was set. */
const toleratedJumpMs = 2_000;

export interface Moment {
  /** Monotonic clock: never jumps, and stops while the machine sleeps. */
  readonly monotonic: number;
  readonly wall: number;
}

/** `sent`: the time at which the last acknowledged heartbeat was sent, not that of its response. */
export function leaseLeftMs(sent: Moment, now: Moment): number {
  const passed = now.monotonic - sent.monotonic;
  const jumped = Math.abs(now.wall - sent.wall - passed) > toleratedJumpMs;
  return jumped ? 0 : leaseMs - passed;
}

const largeSkewMs = 2_000;
export const longestSkewMs = 30_000;

export type Skew = 'small' | 'large' | 'excessive';

/** `aheadMs`: milliseconds by which the database's clock is ahead of this machine's. */
export function skewOf(aheadMs: number): Skew {
  const ms = Math.abs(aheadMs);
  return ms > longestSkewMs ? 'excessive' : ms > largeSkewMs ? 'large' : 'small';
}
