// What the pooled counts of many mailboxes say: of a domain, and of an account. docs/guard.md, "Beyond one mailbox".
import type { Exact } from './exact.ts';
import type { IsoDate } from './time.ts';

/** Sums over some days of some mailboxes. Exact, whatever an API sends. */
export interface PooledSum {
  readonly sent: Exact;
  readonly bounced: Exact;
  /** Each day's emails times its limit in ppm: a million times the bounces that the limits allow. */
  readonly allowed: Exact;
}

/** The sums of the days from one date to another, both included. */
export interface PooledWindow extends PooledSum {
  readonly from: IsoDate;
  readonly to: IsoDate;
}

/** The newest days in which a domain had at least three bounces more than its limits allow. */
export interface DomainExcess extends PooledWindow {
  /** Those that sent or bounced in these days. */
  readonly mailboxes: number;
}

/** The last seven days of a domain. */
export interface DomainWeek extends PooledWindow {
  /** They are at the limits or below, and so is each shorter stretch of them: otherwise one more bounce would fire again. */
  readonly isWithinLimits: boolean;
}

/** The last two days of an account against the 28 before them. */
export interface AccountShift {
  readonly last: PooledWindow;
  readonly before: PooledWindow;
  /** With bounces in the last days. */
  readonly domains: number;
  /** Twice the earlier rate, and at least 12 bounces more, on at least five domains. */
  readonly isShifted: boolean;
  /** Less than one and a half times the earlier rate. */
  readonly isOver: boolean;
}
