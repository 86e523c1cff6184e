// Which of the changes that others made people are notified of: a pause, a raised mode, a raised limit. Pure.
import type { OutsideChange } from '../alert/rules/changed-rule.ts';
import { type StatusWords, wordState } from '../guard/run-state.ts';
import { stateByVerdict } from '../guard/state.ts';
import type { Change } from '../model/change.ts';
import type { MailboxState } from '../model/mailbox.ts';
import { isWarmupMode, type Policy } from '../model/policy.ts';

/** Those of the changes between two looks that let more mail out, or none. */
export function outsideChanges(
  changes: readonly Change[],
  { words, policy }: { readonly words: StatusWords; readonly policy: Policy },
): readonly OutsideChange[] {
  return changes.flatMap((change) => {
    const kind = kindOf(change, words, policy);
    return kind ? [{ kind, change }] : [];
  });
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

/** Whether the mailbox was near its limit, or over it, at its last verdict, even if statistics came since that nothing judged. */
export function isNearOrOver(mailbox: MailboxState, policy: Policy): boolean {
  const state = stateByVerdict(mailbox, policy.nearLimitPpm);
  return state === 'near_limit' || state === 'over_limit' || state === 'held';
}
