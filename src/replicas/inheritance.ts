// What an heir does with intents that its predecessor left open: their POSTs may still be under way, or come much later.
import { postMs } from './deadline.ts';

/** The effect of a POST shows within this after its answer. */
const readBackMs = 15_000;
/** A process that was frozen within the instant before its POST sends it when it is thawed: so long after the takeover, at most. */
const lateMs = 24 * 60 * 60_000;

/** How long an heir leaves a mailbox with an open intent alone; then it looks. A mailbox without one is polled at once. */
export const inheritedWaitMs = postMs + readBackMs;

/** What an open intent was about to change, when it was inherited. */
export interface InheritedIntent {
  readonly change: string;
  /** Epoch milliseconds. */
  readonly takenOverAt: number;
}

/** Whether a change that somebody made at `at` is such a POST, and so ours: it is never taken for a person's. */
export function isLatePost(change: string, at: number, inherited: readonly InheritedIntent[]): boolean {
  return inherited.some((intent) => intent.change === change && at - intent.takenOverAt <= lateMs);
}
