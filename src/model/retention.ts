// How long history is kept. Milliseconds.
import { dayMs } from './time.ts';

export interface Retention {
  /** Since a decision was last given. */
  readonly decisionsMs: number;
  /** Since a message was sent. */
  readonly deliveriesMs: number;
  /** Since what others changed was seen. */
  readonly changesMs: number;
  /** Answers about a mailbox that was removed, since its removal. */
  readonly observationsMs: number;
  /** Since a run of a recipe began. */
  readonly runsMs: number;
  /** That a mailbox was there, since its removal. */
  readonly departedMs: number;
}

const leastOfAuditMs = 5 * 366 * dayMs;

/** Actions and operator commands are kept longest: five years, or as long as anything else. */
export function auditRetentionMs(retention: Retention): number {
  return Math.max(leastOfAuditMs, ...Object.values(retention));
}
