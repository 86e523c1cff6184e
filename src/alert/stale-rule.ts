// stale_data: statistics that are too old to rely on, because no answer comes or because the answers stand still.
import type { MailboxState } from '../model/mailbox.ts';
import { secondMs } from '../model/time.ts';
import { type Condition, type MailboxContext, mailboxPage, subjectOf } from './condition.ts';
import { momentText, spanText } from './phrases.ts';
import { explainVerdict } from './wording.ts';

/** Stats older than this many cadences are stale. */
const staleCadences = 3;

/** By the age of the answer, or by the verdict's word that its newest day is too old. */
export function staleData(mailbox: MailboxState, context: MailboxContext): Condition {
  const readAt = mailbox.stats?.at ?? null;
  const age = Math.max(0, context.now - (readAt ?? mailbox.firstSeenAt));
  const tooOld = age > staleCadences * context.statsCadenceMs;
  const verdict = mailbox.verdict?.answer;
  const frozen = verdict?.reason === 'stale_data';
  const judged = verdict !== undefined && readAt !== null;
  const active = tooOld || frozen ? true : judged ? false : 'unknown';
  const link = context.pageUrl === null ? {} : { page_url: mailboxPage(context.pageUrl, mailbox.account, mailbox.id) };
  return {
    subject: subjectOf('stale_data', mailbox),
    severity: 'warning',
    active,
    forMs: 0,
    observations: 1,
    clearObservations: 1,
    facts: {
      title: active === true ? `${mailbox.email}: stale statistics` : `${mailbox.email}: statistics are fresh again`,
      sentences: active === true ? staleSentences(mailbox, context, tooOld) : freshSentences(readAt),
      numbers: {
        read_at: readAt === null ? null : new Date(readAt).toISOString(),
        newest_day: verdict?.windowTo ?? null,
        cadence_seconds: Math.round(context.statsCadenceMs / secondMs),
        data_age_seconds: readAt === null ? null : Math.round(age / secondMs),
        ...link,
      },
    },
  };
}

/** Moments instead of ages: a text that changes every minute would be written every minute. */
function staleSentences(mailbox: MailboxState, context: MailboxContext, tooOld: boolean): readonly string[] {
  const verdict = mailbox.verdict?.answer;
  const due = `they are due every ${spanText(context.statsCadenceMs)}`;
  const first =
    mailbox.stats === null
      ? `The statistics could not be read since ${momentText(mailbox.firstSeenAt)}, when the mailbox was first seen; ${due}.`
      : `The statistics were read last at ${momentText(mailbox.stats.at)}; ${due}.`;
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
