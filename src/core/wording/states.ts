// Words for the guard's states, in the terminal, on the page, and in the documents.

import type { Action, Person } from '../action.ts';
import type { RecordedDecision } from '../decision.ts';
import type { AccountState, Change, GuardState, MailboxState } from '../mailbox.ts';
import type { EpochMs } from '../time.ts';
import type { Claim, Verdict, VerdictAction } from '../verdict.ts';
import { rateText, sentence } from './explain.ts';
import { betweenText, counted, momentText } from './phrases.ts';

/** Labels that fit a row in a terminal of 80 columns. */
export const stateWords: Readonly<Record<GuardState, string>> = {
  ok: 'OK',
  near_limit: 'Near limit',
  over_limit: 'Over limit',
  held: 'Held',
  recovering: 'Recovering',
  paused_by_guard: 'Paused by Warmwarden',
  paused_by_others: 'Paused by others',
  not_running: 'Not running',
  no_warmup: 'No warm-up',
  not_judged: 'Not judged',
};

/** Reason why Warmwarden can't act on or read the account. */
export function accountTrouble({
  keyRejected,
  failingSince,
  keyWrites,
}: Pick<AccountState, 'keyRejected' | 'keyWrites'> & { readonly failingSince: unknown }): string | null {
  if (keyRejected) return 'key rejected';
  if (failingSince !== null) return 'API down';
  return keyWrites === false ? 'read-only key' : null;
}

/** Words for an API that answers, but refuses the statistics or the warm-up. */
export const noneJudged = 'no mailbox can be judged';

// Decisions as labels.

export function actionWord(action: VerdictAction): string {
  return action === 'none' ? 'no action' : action;
}

/** `pause (bounce rate over limit)` */
export function decisionWords({ action, reason }: Pick<Verdict, 'action' | 'reason'>): string {
  return `${actionWord(action)} (${reasonWords(reason)})`;
}

export function reasonWords(reason: string): string {
  return reason.replaceAll('_', ' ');
}

// The decision on a mailbox at a moment, with exact counts or their range.

export interface DecisionAt {
  /** False if only the counts of answers before and after the moment are known. */
  readonly exact: boolean;
  readonly text: string;
}

/** `decision`: the newest that had begun by then. */
export function decisionAt(decision: RecordedDecision | undefined, at: EpochMs, zone: string): DecisionAt {
  const when = momentText(at, zone);
  if (!decision) return { exact: true, text: `Warmwarden has no decision on this mailbox from ${when} or earlier.` };
  const { since, until, firstSent, verdict } = decision;
  const what = decisionWords(verdict);
  const bounces = counted(verdict.bounced, 'bounce');
  if (at >= until || at === since) {
    const [judgedAt, sent] = at >= until ? [until, verdict.sent] : [since, firstSent];
    const counts = `${bounces} in ${counted(sent, 'email')}`;
    return {
      exact: true,
      text: `At ${when}, the newest decision was from ${momentText(judgedAt, zone)}: ${what}, with ${counts}.`,
    };
  }
  const sent =
    firstSent === verdict.sent
      ? `${bounces} in ${counted(firstSent, 'email')} at both times`
      : `${bounces} in ${counted(firstSent, 'email')} at first, and in ${counted(verdict.sent, 'email')} at the end`;
  const span = `It was the same from ${betweenText(since, until, zone)}, with ${sent}`;
  return { exact: false, text: `At ${when}, the decision was ${what}. ${span}; the counts in between are not kept.` };
}

// Reason, time and author of a pause.

export interface PausedFacts {
  readonly claim: Claim | null;
  /** The newest first. */
  readonly actions: readonly Action[];
  /** The newest first. */
  readonly changes: readonly Change[];
}

/** `Warmwarden paused the warm-up on 22 November 21:56 UTC. 16 bounces in 52 emails since 21 November: 30.77 %.` */
export function pausedText({ claim, actions, changes }: PausedFacts, zone: string): string {
  if (claim?.kind === 'pause') {
    const action = actions.find(({ id }) => id === claim.actionId);
    const since = `Warmwarden paused the warm-up on ${momentText(action?.openedAt ?? claim.since, zone)}`;
    return action ? `${since}. ${rateText(action.verdict)}` : `${since}.`;
  }
  const { done, change } = newestOf({ actions, changes });
  if (change)
    return `Somebody else paused the warm-up between ${momentText(change.since, zone)} and ${momentText(change.at, zone)}, not through Warmwarden.`;
  if (done?.kind !== 'pause' || !done.by) return 'Somebody else paused the warm-up. Warmwarden does not know when.';
  const { name, reason } = done.by;
  const since = `${name} paused the warm-up through Warmwarden on ${momentText(done.openedAt ?? done.plannedAt, zone)}`;
  return reason === '' ? `${since}.` : `${since}. ${sentence(`Reason: ${reason}`)}`;
}

export function factsOf({ action, changes }: Pick<MailboxState, 'action' | 'changes'>) {
  return { actions: action ? [action] : [], changes: changes.toReversed() };
}

/** Person who paused the warm-up through Warmwarden, if the guard did not. */
export function pausedBy(facts: Pick<PausedFacts, 'actions' | 'changes'>): Person | null {
  const { done, change } = newestOf(facts);
  return done?.kind === 'pause' && !change ? done.by : null;
}

/** Latest start or stop of the warm-up. `change`: by others, after what Warmwarden did. */
function newestOf({ actions, changes }: Pick<PausedFacts, 'actions' | 'changes'>) {
  const done = actions.find(isRunChange);
  const change = changes.find(({ what }) => what === 'warm-up');
  return { done, change: change && (!done || change.at > done.plannedAt) ? change : null };
}

function isRunChange({ kind, state }: Action): boolean {
  return state === 'confirmed' && (kind === 'pause' || kind === 'resume');
}
