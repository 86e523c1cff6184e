// stale_data: statistics that are too old to rely on, because no answer comes or because the answers stand still.
import type { MailboxState } from '../model/mailbox.ts';
import { secondMs } from '../model/time.ts';
import { type Condition, type MailboxContext, pageLink, subjectOf } from './condition.ts';
import { momentText } from './phrases.ts';
import { explainVerdict } from './wording.ts';

/** By the age of the answer, or by the verdict's word that its newest day is too old. */
export function staleData(mailbox: MailboxState, context: MailboxContext): Condition {
  const readAt = mailbox.stats?.at ?? null;
  const age = Math.max(0, context.now - (readAt ?? mailbox.firstSeenAt));
  const tooOld = (readAt ?? mailbox.firstSeenAt) < context.staleBefore;
  const verdict = mailbox.verdict?.answer;
  const frozen = verdict?.reason === 'stale_data';
  const judged = verdict !== undefined && readAt !== null;
  const active = tooOld || frozen ? true : judged ? false : 'unknown';
  const link = pageLink(context.pageUrl, mailbox.account, mailbox.id);
  return {
    subject: subjectOf('stale_data', mailbox),
    severity: 'warning',
    active,
    forMs: 0,
    observations: 1,
    clearObservations: 1,
    facts: {
      title: active === true ? `${mailbox.email}: stale statistics` : `${mailbox.email}: statistics are fresh again`,
      sentences: active === true ? staleSentences(mailbox, tooOld) : freshSentences(readAt),
      numbers: {
        read_at: readAt === null ? null : new Date(readAt).toISOString(),
        newest_day: verdict?.windowTo ?? null,
        data_age_seconds: readAt === null ? null : Math.round(age / secondMs),
        ...link,
      },
    },
  };
}

/** Moments instead of ages: a text that changes every minute would be written every minute. */
function staleSentences(mailbox: MailboxState, tooOld: boolean): readonly string[] {
  const verdict = mailbox.verdict?.answer;
  const first =
    mailbox.stats === null
      ? `The statistics were never read since ${momentText(mailbox.firstSeenAt)}, when the mailbox was first seen.`
      : `The statistics were read last at ${momentText(mailbox.stats.at)}; three polls that were due since brought nothing.`;
  const second = verdict?.reason === 'stale_data' ? [explainVerdict(verdict)] : [];
  return [
    ...(tooOld ? [first] : []),
    ...second,
    'Nothing is decided on old data: the mailbox is not guarded until fresh statistics come.',
    'Check whether the mailbox API is up and whether the mailbox still sends.',
  ];
}

function freshSentences(readAt: number | null): readonly string[] {
  return readAt === null ? [] : [`The statistics were read at ${momentText(readAt)}.`];
}
