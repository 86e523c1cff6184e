// Why the warm-up of a mailbox is paused, since when, and who paused it, in sentences.
import type { Action, Person } from '../action.ts';
import type { Change } from '../change.ts';
import type { MailboxState } from '../mailbox.ts';
import type { Claim } from '../verdict.ts';
import { rateText, sentence } from './explain.ts';
import { momentText } from './phrases.ts';

export interface PausedFacts {
  /** Claim on the mailbox, or null if no change of Warmwarden's is in force. */
  readonly claim: Claim | null;
  /** Actions on the mailbox, the newest first. */
  readonly actions: readonly Action[];
  /** Seen on the mailbox, the newest first. */
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

/** Facts as far as the picture of the fleet has them. */
export function factsOf({ action, changes }: Pick<MailboxState, 'action' | 'changes'>) {
  return { actions: action ? [action] : [], changes: changes.toReversed() };
}

/**
 * Person who paused the warm-up through Warmwarden, as far as these facts show, of a mailbox that the guard did not
 * pause.
 */
export function pausedBy(facts: Pick<PausedFacts, 'actions' | 'changes'>): Person | null {
  const { done, change } = newestOf(facts);
  return done?.kind === 'pause' && !change ? done.by : null;
}

/** Latest start or stop of the warm-up. `change`: what others did after what was done through Warmwarden. */
function newestOf({ actions, changes }: Pick<PausedFacts, 'actions' | 'changes'>) {
  const done = actions.find(isRunChange);
  const change = changes.find(({ what }) => what === 'warm-up');
  return { done, change: change && (!done || change.at > done.plannedAt) ? change : null };
}

function isRunChange({ kind, state }: Action): boolean {
  return state === 'confirmed' && (kind === 'pause' || kind === 'resume');
}
