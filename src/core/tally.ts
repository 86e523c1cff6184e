// Counters that rooms increment. metrics/ implements them.
import type { GuardActionKind, Outcome } from './action.ts';
import type { RequestCount } from './mailbox.ts';
import type { Reason, VerdictAction } from './verdict.ts';

export interface Tally {
  decision(account: string, action: VerdictAction, reason: Reason): void;
  /** An action of the guard's own was settled. */
  action(account: string, kind: GuardActionKind, outcome: Outcome): void;
  /** A request to the mailbox API ended after `seconds`. */
  request(count: RequestCount, seconds: number): void;
  notification(channel: string, outcome: 'sent' | 'failed' | 'undelivered'): void;
}

/** Counts nothing: for commands, which show no metrics. */
export const noTally: Tally = { decision() {}, action() {}, request() {}, notification() {} };
