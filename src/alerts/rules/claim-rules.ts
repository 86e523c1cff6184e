// Rules about Warmwarden's own changes over time: contested, without effect, overdue to end.
import type { Subject } from '../../core/alert.ts';
import { type MailboxState, typedName } from '../../core/mailbox.ts';
import { maxPerDay } from '../../core/policy.ts';
import { dayMs, hourMs } from '../../core/time.ts';
import { explainVerdict } from '../../core/wording/explain.ts';
import { momentText } from '../../core/wording/phrases.ts';
import { atOnce, type Condition, type MailboxContext, pageLink, subjectOf, wordedLater } from '../condition.ts';

/** Time after the switch within which recovery lowers the daily limit to its maximum. */
const effectWithinMs = 24 * hourMs;
/** Length of a recovery after which a person should look at it. */
const overdueAfterMs = 45 * dayMs;

/** Returns the conditions of all three rules, after an answer or the passing of time. */
export function claimConditions(mailbox: MailboxState, context: MailboxContext): readonly Condition[] {
  return [contested(mailbox, context), withoutEffect(mailbox, context), overdue(mailbox, context)];
}

interface ClaimWords {
  readonly title: string;
  readonly sentences: readonly string[];
}

function condition(
  subject: Subject,
  mailbox: MailboxState,
  context: MailboxContext,
  { active, words }: { readonly active: Condition['active']; readonly words: () => ClaimWords },
): Condition {
  return wordedLater({ subject, severity: 'warning', active, ...atOnce }, () => {
    const claim = mailbox.memory?.claim ?? null;
    const link = pageLink(context.pageUrl, mailbox.account, mailbox.id);
    const { title, sentences } = words();
    return {
      title: `${mailbox.email}: ${title}`,
      sentences,
      numbers: { claim: claim?.kind ?? null, since: claim ? new Date(claim.since).toISOString() : null, ...link },
    };
  });
}

/** contested: two outside reversals within a day. The guard does not enter a quarrel. */
function contested(mailbox: MailboxState, context: MailboxContext): Condition {
  const verdict = mailbox.verdict?.answer;
  const active = verdict === undefined ? 'unknown' : verdict.reason === 'contested';
  return condition(subjectOf('contested', mailbox), mailbox, context, {
    active,
    words: () => ({
      title: active === true ? "somebody reversed Warmwarden's changes" : 'no longer contested',
      sentences:
        active === true && verdict
          ? [
              explainVerdict(verdict),
              'Find out which person or tool changes it. Warmwarden judges the mailbox again after a day.',
            ]
          : [],
    }),
  });
}

function withoutEffect(mailbox: MailboxState, context: MailboxContext): Condition {
  const claim = mailbox.memory?.claim;
  const limit = mailbox.warmup?.answer.dailyLimit ?? null;
  const ripe = claim?.kind === 'recovery' && context.now - claim.since >= effectWithinMs;
  const active = !ripe ? false : limit === null ? 'unknown' : limit > maxPerDay.recovery;
  return condition(subjectOf('recovery_without_effect', mailbox, 'daily limit'), mailbox, context, {
    active,
    words: () => ({
      title: active === true ? 'recovery mode without effect' : 'recovery mode works, or has ended',
      sentences:
        active === true && claim
          ? [
              `It has been in recovery mode since ${momentText(claim.since, context.rules.timeZone)}, but its daily limit is still ${limit} emails, over the ${maxPerDay.recovery} that recovery mode should allow.`,
              `Lower the daily limit: \`${context.command} limit ${typedName(mailbox)} ${maxPerDay.recovery}\`. If that has no effect either, pause the warm-up: \`${context.command} pause ${typedName(mailbox)}\`.`,
            ]
          : [],
    }),
  });
}

function overdue(mailbox: MailboxState, context: MailboxContext): Condition {
  const claim = mailbox.memory?.claim;
  const active = claim?.kind === 'recovery' && context.now - claim.since >= overdueAfterMs;
  const verdict = mailbox.verdict?.answer;
  return condition(subjectOf('recovery_without_effect', mailbox, 'overdue'), mailbox, context, {
    active,
    words: () => ({
      title: active ? 'in recovery for over 45 days' : 'no longer in recovery for over 45 days',
      sentences:
        active && claim
          ? [
              `Warmwarden switched it to recovery mode on ${momentText(claim.since, context.rules.timeZone)}, and it has not been clean enough to go back.`,
              ...(verdict ? [explainVerdict(verdict)] : []),
              'Look for the cause: its recipient list, its DNS, its reputation. Or set the mode yourself.',
            ]
          : [],
    }),
  });
}
