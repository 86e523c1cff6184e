// Words for the guard's states, in the terminal, on the page, and in the documents.

import type { Action, Person } from '../action.ts';
import { type Change, type GuardState, type MailboxState, stateTable } from '../mailbox.ts';
import type { Claim, Verdict, VerdictAction } from '../verdict.ts';
import { rateText, sentence } from './explain.ts';
import { betweenText, momentText } from './phrases.ts';

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

// Reason, time and author of a pause.

export interface PausedFacts {
  readonly claim: Claim | null;
  readonly actions: readonly Action[];
  /** The newest first. */
  readonly changes: readonly Change[];
}

/** `Warmwarden paused the warm-up on 22 November 21:56 UTC. 16 bounces in 52 emails since 21 November: 30.77%.` */
export function pausedText({ claim, actions, changes }: PausedFacts, zone: string): string {
  if (claim?.kind === 'pause') {
    const action = actions.find(({ id }) => id === claim.actionId);
    const since = `Warmwarden paused the warm-up on ${momentText(action?.openedAt ?? claim.since, zone)}`;
    return action ? `${since}. ${rateText(action.verdict)}` : `${since}.`;
  }
  const { done, change } = newestOf({ actions, changes });
  if (change)
    return `Somebody else paused the warm-up ${betweenText(change.since, change.at, zone)}, not through Warmwarden.`;
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
  const done = actions.find(({ kind, state }) => state === 'confirmed' && (kind === 'pause' || kind === 'resume'));
  const change = changes.find(({ what }) => what === 'warm-up');
  return { done, change: change && (!done || change.at > done.plannedAt) ? change : null };
}

/** Returns why nothing is judged of a mailbox without a breach, or null if something is: no day counts yet, or no email. */
export function uncountedBy(state: GuardState, { sent, days }: { readonly sent: number; readonly days: number }) {
  if (state !== 'ok' || sent > 0) return null;
  return days === 0 ? 'tomorrow' : 'noEmails';
}

const uncountedWords = { tomorrow: 'Counting from tomorrow', noEmails: 'No emails counted yet' } as const;

/** State in words. What is OK without a counted email says so. */
export function stateText(
  state: GuardState,
  verdict: { readonly sent: number; readonly days: number; readonly isEmergency: boolean } | null,
): string {
  if (state === 'held' && verdict?.isEmergency) return `${stateTable.held.label}, emergency`;
  const uncounted = verdict && uncountedBy(state, verdict);
  return uncounted ? uncountedWords[uncounted] : stateTable[state].label;
}
