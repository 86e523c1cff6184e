// Why the warm-up of a mailbox is paused, since when, and who paused it, in sentences.
import type { Action } from '../model/action.ts';
import type { Change } from '../model/change.ts';
import type { Claim } from '../model/verdict.ts';
import { rateText, sentence } from './explain.ts';
import { momentText } from './phrases.ts';

export interface PausedFacts {
  /** Of the mailbox; null when no change of Warmwarden's is in force. */
  readonly claim: Claim | null;
  /** On the mailbox, the newest first. */
  readonly actions: readonly Action[];
  /** Seen on the mailbox, the newest first. */
  readonly changes: readonly Change[];
}

/** `Warmwarden paused the warm-up on 22 November 21:56 UTC. 16 bounces in 52 emails since 21 November: 30.77 %.` */
export function pausedText({ claim, actions, changes }: PausedFacts, zone = 'UTC'): string {
  if (claim?.kind === 'pause') {
    const action = actions.find(({ id }) => id === claim.actionId);
    const since = `Warmwarden paused the warm-up on ${momentText(action?.openedAt ?? claim.since, zone)}`;
    return action ? `${since}. ${rateText(action.verdict)}` : `${since}.`;
  }
  const done = actions.find(isRunChange);
  const change = changes.find(({ what }) => what === 'warm-up');
  if (change && (!done || change.at > done.plannedAt)) {
    return `Somebody else paused the warm-up between ${momentText(change.since, zone)} and ${momentText(change.at, zone)}, not through Warmwarden.`;
  }
  if (done?.kind !== 'pause' || !done.by) return 'Somebody else paused the warm-up. Warmwarden does not know when.';
  const { name, reason } = done.by;
  const since = `${name} paused the warm-up through Warmwarden on ${momentText(done.openedAt ?? done.plannedAt, zone)}`;
  return reason === '' ? `${since}.` : `${since}: ${sentence(reason)}`;
}

function isRunChange({ kind, state }: Action): boolean {
  return state === 'confirmed' && (kind === 'pause' || kind === 'resume');
}
