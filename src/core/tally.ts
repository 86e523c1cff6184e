// Counters, which metrics/ implements.
import type { GuardActionKind, Outcome } from './action.ts';
import type { RequestCount } from './mailbox.ts';
import type { Reason, VerdictAction } from './verdict.ts';

export interface Tally {
  decision(account: string, action: VerdictAction, reason: Reason): void;
  action(account: string, kind: GuardActionKind, outcome: Outcome): void;
  request(count: RequestCount, seconds: number): void;
  notification(channel: string, outcome: 'sent' | 'failed' | 'undelivered'): void;
}

/** Counts nothing, for commands. */
export const noTally: Tally = { decision() {}, action() {}, request() {}, notification() {} };
