// One word for what the guard makes of a mailbox, for the page, the metric and the table.

import type { GuardActionKind } from '../model/action.ts';
import { isDisconnected } from '../model/connection.ts';
import { awaitsJudgement, type GuardState, type MailboxState } from '../model/mailbox.ts';
import type { Ppm } from '../model/policy.ts';
import { isBlind, type Verdict } from '../model/verdict.ts';

/** What of a mailbox its state is read from. */
export type Judged = Pick<MailboxState, 'verdict' | 'memory' | 'entry' | 'detail' | 'stats'>;

/** The state of a mailbox. Before the first verdict, or with newer statistics than that, it is not judged; one that is disconnected is never ok. */
export function guardStateOf(mailbox: Judged, nearLimitPpm: Ppm): GuardState {
  const verdict = mailbox.verdict?.answer;
  if (verdict?.reason === 'no_warmup') return 'no_warmup';
  if (!verdict || awaitsJudgement(mailbox)) return 'not_judged';
  if (verdict.reason === 'already_paused')
    return mailbox.memory?.claim?.kind === 'pause' ? 'paused_by_guard' : 'paused_by_others';
  if (verdict.reason === 'not_running') return 'not_running';
  if (isBlind(verdict.reason)) return 'not_judged';
  if (verdict.action === 'hold') {
    return verdict.reason === 'first_sight' || verdict.reason === 'circuit_breaker' ? 'held' : 'not_judged';
  }
  if (verdict.action !== 'none') return stateAfter(verdict.action, mailbox);
  if (isOverLimit(verdict)) return 'over_limit';
  if (mailbox.memory?.claim?.kind === 'recovery') return 'recovering';
  if (isNearLimit(verdict, nearLimitPpm)) return 'near_limit';
  return isDisconnected(mailbox) ? 'not_running' : 'ok';
}

/** The state that the last verdict by itself gives, whatever was read, claimed or confirmed since. */
export function stateByVerdict(mailbox: Judged, nearLimitPpm: Ppm): GuardState {
  return guardStateOf({ ...mailbox, memory: null, stats: null }, nearLimitPpm);
}

/** While an action is wanted, and from its confirmation until the next answer is judged. */
function stateAfter(wanted: GuardActionKind, { memory, verdict }: Judged): GuardState {
  const claim = memory?.claim;
  if (wanted === 'restore') return claim ? 'recovering' : 'ok';
  if (!verdict || claim?.kind !== wanted || claim.since < verdict.at) return 'held';
  return wanted === 'pause' ? 'paused_by_guard' : 'recovering';
}

/** Over the limit and not acted on: too few bounces, or the configuration asks for an alert only. */
function isOverLimit({ limitPpm, bounced, sent }: Verdict): boolean {
  return limitPpm !== null && bounced * 1e6 > limitPpm * sent;
}

/** rate >= nearLimitPpm of the limit. */
function isNearLimit(verdict: Verdict, nearLimitPpm: Ppm): boolean {
  if (verdict.limitPpm === null || verdict.bounced === 0) return false;
  return verdict.bounced * 1e12 >= verdict.limitPpm * nearLimitPpm * verdict.sent;
}
