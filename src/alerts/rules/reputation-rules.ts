// Rules about how a mailbox's emails are received: the share that reaches the inbox, and the API's own health score.
import type { AlertFacts } from '../../core/alert.ts';
import { dailyRows, inboxRatio, lastDays, sumOf } from '../../core/daily-counts.ts';
import type { MailboxState } from '../../core/mailbox.ts';
import { addDays, utcDate } from '../../core/time.ts';
import { counted, onDatesText, percentText } from '../../core/wording/phrases.ts';
import { atOnce, type Condition, type MailboxContext, pageLink, subjectOf, wordedLater } from '../condition.ts';

/** Calendar days that both rules examine. */
const days = 7;
/** Points by which a value must recover beyond its threshold before the alert ends. */
const hysteresisPoints = 5;
const onePointPpm = 10_000;

/** reputation_low, inbox rate: the share of delivered emails that reached the inbox, pooled over seven days. */
export function inboxRateLow(mailbox: MailboxState, context: MailboxContext): Condition {
  const { inboxBelowPpm: belowPpm, minMails } = context.rules.reputationLow;
  const rows = lastDays(dailyRows(mailbox.stats?.answer, context.now), days);
  const ratio = inboxRatio(rows);
  const delivered = sumOf(rows, 'delivered') ?? 0;
  const ppm = ratio === null || delivered < minMails ? null : Math.round(ratio * 1e6);
  const low = ppm !== null && ppm < belowPpm;
  return condition(
    'inbox rate',
    mailbox,
    ppm === null ? 'unknown' : low ? true : ppm >= belowPpm + hysteresisPoints * onePointPpm ? false : 'unknown',
    () => {
      const share = ppm === null ? '' : percentText(ppm, belowPpm);
      const [from, to] = [rows[0]?.date, rows.at(-1)?.date];
      const when = from && to ? ` ${onDatesText(from, to)}` : '';
      return {
        title: low
          ? `${mailbox.email}: only ${share} of emails reach the inbox`
          : `${mailbox.email}: ${share} of emails reach the inbox again`,
        sentences: [
          `Of ${counted(delivered, 'delivered email')}${when}, ${share} reached the inbox. The threshold is ${percentText(belowPpm)}.`,
          ...(low
            ? [
                'Warmwarden changed nothing because of this. Check what the mailbox sends and to whom, and check the DNS of its domain.',
              ]
            : []),
        ],
        numbers: {
          inbox_percent: ppm === null ? null : ppm / onePointPpm,
          below_percent: belowPpm / onePointPpm,
          delivered,
          ...pageLink(context.pageUrl, mailbox.account, mailbox.id),
        },
      };
    },
  );
}

/**
 * reputation_low, health score: the score is below the best of seven days. Older days do not count, so the alert ends
 * by itself.
 */
export function healthScoreDrop(mailbox: MailboxState, context: MailboxContext): Condition {
  const { scoreDrop: points } = context.rules.reputationLow;
  const score = mailbox.entry.answer.healthScore;
  const from = addDays(utcDate(context.now), 1 - days);
  let best: number | null = null;
  for (const { date, healthScore } of dailyRows(mailbox.stats?.answer, context.now))
    if (date >= from && typeof healthScore === 'number') best = Math.max(best ?? healthScore, healthScore);
  const drop = best === null || score === null ? null : best - score;
  const fell = drop !== null && drop >= points;
  return condition(
    'health score',
    mailbox,
    drop === null ? 'unknown' : fell ? true : drop <= points - hysteresisPoints ? false : 'unknown',
    () => ({
      title: fell
        ? `${mailbox.email}: health score fell from ${best} to ${score}`
        : `${mailbox.email}: health score is ${score ?? 'not shown'} again`,
      sentences: fell
        ? [
            `The API's health score was ${best} within the last ${days} days and is ${score} now. It fell by ${counted(Number(drop?.toFixed(2)), 'point')}; the threshold is ${points}.`,
            'Warmwarden changed nothing because of this. Check the bounces, placement, DNS and blacklists of the mailbox.',
          ]
        : [
            `The health score is at most ${counted(points - hysteresisPoints, 'point')} below the best of the last ${days} days.`,
          ],
      numbers: {
        health_score: score,
        best_of_seven_days: best,
        ...pageLink(context.pageUrl, mailbox.account, mailbox.id),
      },
    }),
  );
}

function condition(
  cause: string,
  mailbox: MailboxState,
  active: Condition['active'],
  facts: () => AlertFacts,
): Condition {
  return wordedLater(
    { subject: subjectOf('reputation_low', mailbox, cause), severity: 'warning', active, ...atOnce },
    facts,
  );
}
