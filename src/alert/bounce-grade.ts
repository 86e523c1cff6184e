// How the kinds of recent bounces grade a message: what bounced for good is graver than a full mailbox. No decision rests on it.
import type { Severity } from '../model/alert.ts';
import type { RecentBounce } from '../model/answers.ts';
import type { MailboxState } from '../model/mailbox.ts';
import type { Policy } from '../model/policy.ts';

/** The API documents no words for the kinds of bounces: these are the usual ones for an address or a sender that is refused for good. */
const forGood = /(^|[^a-z])(hard|block|blocked|permanent)([^a-z]|$)/;

/** Why a message is graver than usual. */
export const graverText = 'All recent bounces were hard or blocks, so this alert is critical.';

/** A warning about bounces that are all hard, or blocked, is critical; too few to act on stay what they are. */
export function gradedBy(mailbox: MailboxState, { minBounces }: Policy, severity: Severity): Severity {
  const bounces = mailbox.warmup?.answer.recentBounces ?? [];
  const grave = bounces.length >= Math.max(2, minBounces) && bounces.every(isForGood);
  return grave && severity === 'warning' ? 'critical' : severity;
}

function isForGood({ type, category }: RecentBounce): boolean {
  return forGood.test((type ?? category ?? '').toLowerCase());
}
