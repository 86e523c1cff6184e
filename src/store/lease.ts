// The lease of the active process: who may write to the store and change mailboxes. A process with a SQLite store has its file alone.
// On PostgreSQL one process is active and others stand by (postgres/lease.ts, docs/replicas.md).

export interface Lease {
  /** Whether another process can take it. */
  readonly isShared: boolean;
  /** Whether the process before ended without releasing it: its last POST may be under way. */
  readonly isInherited: boolean;
  /** Whether it has not expired. */
  readonly isHeld: boolean;
  /** Whether a POST that begins now ends before another process can take the lease. */
  mayPost(): boolean;
  /** Why this process can't prolong it, once it has expired; null while it has it. */
  readonly overdue: Error | null;
}

/** Lease of a process that has its store alone. */
export const ownLease: Lease = {
  isShared: false,
  isInherited: false,
  isHeld: true,
  mayPost: () => true,
  overdue: null,
};

/** The active process has the lease until so long after it sent its last acknowledged heartbeat; a standby waits as long. */
export const leaseMs = 15_000;
/** A POST and its answer take at most this long; an attempt to send a message that takes longer ends as soon as less is left. */
export const postMs = 10_000;
/** The effect of a POST shows within this after its answer. */
const readBackMs = 15_000;
/** A process that took the lease over leaves a mailbox with an open intent alone for so long: the POST may be under way. */
export const inheritedWaitMs = postMs + readBackMs;
/** Two clocks that differ more than this between two readings: the machine slept, or somebody set the clock. */
const toleratedJumpMs = 2_000;

/** One moment on both clocks, in milliseconds. */
export interface Moment {
  /** Never jumps, and stands still while the machine sleeps. */
  readonly monotonic: number;
  readonly wall: number;
}

/** How long the lease still lasts. `sent`: when the last acknowledged heartbeat was sent, not when its answer came. */
export function leaseLeftMs(sent: Moment, now: Moment): number {
  const passed = now.monotonic - sent.monotonic;
  const jumped = Math.abs(now.wall - sent.wall - passed) > toleratedJumpMs;
  return jumped ? 0 : leaseMs - passed;
}

const largeSkewMs = 2_000;
/** A process whose clock is further away from that of the database does not become active. */
export const longestSkewMs = 30_000;

export type Skew = 'small' | 'large' | 'excessive';

/** `aheadMs`: how far the clock of the database is ahead of this machine's. */
export function skewOf(aheadMs: number): Skew {
  const ms = Math.abs(aheadMs);
  return ms > longestSkewMs ? 'excessive' : ms > largeSkewMs ? 'large' : 'small';
}

/** Connections of a process on PostgreSQL: one writes, four read, one is for heartbeats, two are for recipes. */
export const connectionsAProcess = 8;
