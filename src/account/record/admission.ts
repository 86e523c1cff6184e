// Asks the breaker before a verdict becomes an action. Pure. docs/guard.md, "When it does nothing, on purpose".
import { admit, type BreakerState, heldByBreaker, withdraw } from '../../core/guard/breaker.ts';
import { domainOf, type MailboxState, mailboxKey } from '../../core/mailbox.ts';
import { newcomerAnswers, type Policy, ratePpm } from '../../core/policy.ts';
import type { EpochMs } from '../../core/time.ts';
import type { Verdict } from '../../core/verdict.ts';
import { isActive } from './plan.ts';

/** Returns the verdict that the breaker lets pass, and the breaker after it. A restore passes unasked. */
export function askBreaker(
  mailbox: MailboxState,
  verdict: Verdict,
  given: {
    readonly breaker: BreakerState;
    readonly policy: Policy;
    readonly mayWrite: boolean;
    readonly running: () => number;
    readonly now: EpochMs;
  },
): { readonly verdict: Verdict; readonly breaker: BreakerState } {
  const { breaker, policy, mayWrite, running, now } = given;
  const key = mailboxKey(mailbox.account, mailbox.id);
  const protects = verdict.action === 'recovery' || verdict.action === 'pause';
  // A hold says nothing about the bounces, so the breaker keeps what it holds.
  if (verdict.action === 'hold') return { verdict, breaker };
  // No action waits for the breaker while writes are off.
  if (!protects || !mayWrite) return { verdict, breaker: withdraw(breaker, key) };
  // An action in progress was admitted before. A worse verdict only changes its kind.
  if (isActive(mailbox.action) && mailbox.action.kind !== 'restore') return { verdict, breaker };
  const { account, email } = mailbox;
  const statsAt = now - verdict.dataAgeMs;
  const about = {
    key,
    account,
    email,
    domain: domainOf(email),
    weight: weightOf(verdict),
    firstSight: isNewcomer(mailbox),
    statsAt,
  };
  const candidate = verdict.reason === 'emergency' ? { ...about, emergency: true as const } : about;
  const { state, admitted } = admit(breaker, candidate, { policy: policy.breaker, running, now });
  if (admitted) return { verdict, breaker: state };
  return { verdict: heldByBreaker(verdict), breaker: state };
}

function isNewcomer({ memory }: MailboxState): boolean {
  return (memory?.answersJudged ?? 0) <= newcomerAnswers;
}

/** Returns the rate as a multiple of the limit. Without a limit, it returns the rate itself, which is larger. */
function weightOf(verdict: Verdict): number {
  const rate = ratePpm(verdict.emergency ?? verdict) ?? 0;
  return verdict.limitPpm ? rate / verdict.limitPpm : rate;
}
