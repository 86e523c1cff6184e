// Changes by others that people are notified of: a pause, a raised mode or limit, many stops at once. Pure.
import type { OutsideChange } from '../../alerts/rules/event-rules.ts';
import { type StatusWords, stateByVerdict, wordState } from '../../core/guard/run-state.ts';
import type { Change, MailboxState } from '../../core/mailbox.ts';
import { isWarmupMode, type Policy } from '../../core/policy.ts';
import { dayMs, type EpochMs, hourMs } from '../../core/time.ts';

/** Returns the changes between two looks that let more mail out, or none at all. */
export function outsideChanges(
  changes: readonly Change[],
  { words, policy }: { readonly words: StatusWords; readonly policy: Policy },
): readonly OutsideChange[] {
  return changes.flatMap((change) => {
    const kind = kindOf(change, words, policy);
    return kind ? [{ kind, change }] : [];
  });
}

const togetherMs = hourMs;
/** A warm-up that stopped twice within this time stops by habit: at night, or at weekends. */
const habitMs = 8 * dayMs;

/** Returns the mailboxes that others stopped lately, not by habit, when this one makes them enough, or null. */
export function stoppedTogether(
  mailbox: MailboxState,
  changes: readonly Change[],
  { words, others, now }: Readonly<{ words: StatusWords; others: () => Iterable<MailboxState>; now: EpochMs }>,
): { readonly stopped: readonly MailboxState[]; readonly running: number } | null {
  const stops = ({ what, from, to }: Change) =>
    what === 'warm-up' && wordState(from, words) === 'running' && wordState(to, words) !== 'running';
  const stopsLately = ({ changes: all, warmup }: MailboxState) => {
    const [newest, before] = all.filter(stops).toReversed();
    const isStopped = newest && wordState(warmup?.answer.status ?? null, words) !== 'running';
    return isStopped && now - newest.at < togetherMs && !(before && newest.at - before.at < habitMs);
  };
  if (!changes.some(stops) || !stopsLately(mailbox)) return null;
  const all = [...others()];
  const stopped = [mailbox, ...all.filter(stopsLately)];
  const runs = ({ warmup }: MailboxState) => wordState(warmup?.answer.status ?? null, words) === 'running';
  // Mailboxes that stopped by habit within the hour count as running, so that a fifth stays the same number.
  const ran = (one: MailboxState) =>
    runs(one) || one.changes.some((change) => stops(change) && now - change.at < togetherMs);
  const running = 1 + all.filter(ran).length;
  return stopped.length === Math.max(leastStopped, Math.ceil(running / stoppedPart)) ? { stopped, running } : null;
}

/** People are notified when at least 5 warm-ups stopped, and a fifth of those that ran. */
const [leastStopped, stoppedPart] = [5, 5];

/** Returns true if others paused the warm-up in the last days. A paused status then proves no pause of ours. */
export function isPausedByHabit({ changes }: MailboxState, words: StatusWords, now: EpochMs): boolean {
  return changes.some(
    ({ what, to, at }) => what === 'warm-up' && wordState(to, words) === 'paused' && now - at < habitMs,
  );
}

function kindOf({ what, from, to }: Change, words: StatusWords, policy: Policy): OutsideChange['kind'] | null {
  switch (what) {
    case 'warm-up':
      return wordState(to, words) === 'paused' && wordState(from, words) !== 'paused' ? 'paused' : null;
    case 'mode':
      if (!isWarmupMode(from) || !isWarmupMode(to)) return null;
      return policy.limitsPpm[to] > policy.limitsPpm[from] ? 'mode_raised' : null;
    case 'target_daily_limit':
      return Number(to) > Number(from) ? 'limit_raised' : null;
    default:
      return null;
  }
}

/** True if the mailbox was near its limit or over it by the last verdict, even if newer statistics are unjudged. */
export function isNearOrOver(mailbox: MailboxState, policy: Policy): boolean {
  const state = stateByVerdict(mailbox, policy.nearLimitPpm);
  return state === 'near_limit' || state === 'over_limit' || state === 'held';
}
