// Which target daily limits were set through Warmwarden, are still in force, and what was there before. Pure.
import type { Action } from '../model/action.ts';
import { type MailboxKey, type MailboxState, mailboxKey } from '../model/mailbox.ts';
import type { EpochMs } from '../model/time.ts';

/** A limit that people set, in emails a day, perhaps in several steps, and the one before the first of them. */
export interface SetLimit {
  readonly set: number;
  readonly earlier: number;
  /** When the last step was read back. */
  readonly at: EpochMs;
}

/** By mailbox. `confirmed`: actions that were read back, the oldest first. */
export function setLimitsIn(confirmed: readonly Action[]): ReadonlyMap<MailboxKey, SetLimit> {
  const limits = new Map<MailboxKey, SetLimit>();
  for (const { account, mailboxId, targetLimit: set, undoesLimit, before, settledAt } of confirmed) {
    if (set === undefined || settledAt === null) continue;
    const key = mailboxKey(account, mailboxId);
    const last = limits.get(key);
    // Where others changed it between two steps, only the second can be taken back.
    const earlier = last && last.set === before.targetLimit ? last.earlier : before.targetLimit;
    if (undoesLimit !== undefined || typeof earlier !== 'number') limits.delete(key);
    else limits.set(key, { set, earlier, at: settledAt });
  }
  return limits;
}

/** Whether the mailbox has it, and nobody changed it away and back in between. */
export function isInForce({ set, earlier, at }: SetLimit, { warmup, changes }: MailboxState): boolean {
  const changed = changes.some((change) => change.what === 'target_daily_limit' && change.at > at);
  return !changed && set !== earlier && warmup?.answer.config.targetDailyLimit === set;
}
