// Asks the breaker before a verdict becomes an action. Pure. docs/guard.md, "When it does nothing, on purpose".
import { admit, heldByBreaker, withdraw } from '../guard/breaker.ts';
import type { BreakerState } from '../model/breaker.ts';
import { domainOf, type MailboxState, mailboxKey } from '../model/mailbox.ts';
import type { Policy } from '../model/policy.ts';
import { ratePpm } from '../model/rate.ts';
import type { EpochMs } from '../model/time.ts';
import type { Verdict } from '../model/verdict.ts';
import { isActive } from './plan.ts';

/** A mailbox judged so few times is seen for the first time: a breaker that trips then opens by a release only. */
const firstSightAnswers = 2;

export interface Admission {
  readonly verdict: Verdict;
  readonly breaker: BreakerState;
}

/** The verdict as the breaker lets it pass, and the breaker after it. A restore protects nobody, so the breaker is not asked. */
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
): Admission {
  const { breaker, policy, mayWrite, running, now } = given;
  const key = mailboxKey(mailbox.account, mailbox.id);
  const protects = verdict.action === 'recovery' || verdict.action === 'pause';
  // A hold says nothing about the bounces: what the breaker holds stays held.
  if (verdict.action === 'hold') return { verdict, breaker };
  if (!protects) return { verdict, breaker: withdraw(breaker, key) };
  // Where nothing may be written, nothing waits for the breaker.
  if (!mayWrite) return { verdict, breaker: withdraw(breaker, key) };
  // An action of ours that is under way was admitted; a worse verdict only makes it another one.
  if (isActive(mailbox.action) && mailbox.action.kind !== 'restore') return { verdict, breaker };
  const { account, email } = mailbox;
  const statsAt = now - verdict.dataAgeMs;
  const firstSight = (mailbox.memory?.answersJudged ?? 0) <= firstSightAnswers;
  const about = { key, account, email, domain: domainOf(email), weight: weightOf(verdict), firstSight, statsAt };
  const candidate = verdict.reason === 'emergency' ? { ...about, emergency: true as const } : about;
  const { state, admitted } = admit(breaker, candidate, { policy: policy.breaker, running, now });
  if (admitted) return { verdict, breaker: state };
  return { verdict: heldByBreaker(verdict), breaker: state };
}

/** The rate as a multiple of the limit; without a limit the rate itself, which is larger. */
function weightOf(verdict: Verdict): number {
  const rate = ratePpm(verdict.emergency ?? verdict) ?? 0;
  return verdict.limitPpm ? rate / verdict.limitPpm : rate;
}
