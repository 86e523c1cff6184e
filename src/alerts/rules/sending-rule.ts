// sending_over_limit: a mailbox sends more emails a day than its daily limit or its mode allows.
import { dailyRows } from '../../core/daily-counts.ts';
import { type MailboxState, typedName } from '../../core/mailbox.ts';
import { isWarmupMode, limitsOn, maxPerDay } from '../../core/policy.ts';
import { addDays, type IsoDate, utcDate } from '../../core/time.ts';
import { counted, onDatesText } from '../../core/wording/phrases.ts';
import { atOnce, type Condition, type MailboxContext, pageLink, subjectOf, wordedLater } from '../condition.ts';

/** Day with more emails than allowed. */
interface Excess {
  readonly date: IsoDate;
  readonly sent: number;
  readonly daily: number | null;
  readonly mode: number | null;
}

/**
 * sending_over_limit counts yesterday and today, and tomorrow if the API's day is ahead, and ends when none of these is
 * over. Unknown if the statistics were not read today, if counts make no sense, or if limits are unknown.
 */
export function sendingOverLimit(mailbox: MailboxState, context: MailboxContext): Condition {
  const found = excessOf(mailbox, context.now);
  const excess = typeof found === 'object' ? found : null;
  return wordedLater(
    {
      subject: subjectOf('sending_over_limit', mailbox),
      severity: 'warning',
      active: excess ? true : found === 'none' ? false : 'unknown',
      ...atOnce,
    },
    () => ({
      title: excess
        ? `${mailbox.email}: sends more emails than allowed`
        : `${mailbox.email}: sends within its daily limit again`,
      sentences: excess ? sentencesOf(excess, mailbox, context.command) : [],
      numbers: {
        date: excess?.date ?? null,
        sent: excess?.sent ?? null,
        daily_limit: excess?.daily ?? null,
        mode_max_per_day: excess?.mode ?? null,
        ...pageLink(context.pageUrl, mailbox.account, mailbox.id),
      },
    }),
  );
}

function excessOf({ stats, memory }: MailboxState, now: number): Excess | 'none' | 'unknown' {
  const today = utcDate(now);
  const limits = memory?.limits ?? [];
  if (!stats?.answer.rows || utcDate(stats.at) !== today || limits.at(-1)?.day !== today) return 'unknown';
  const rows = dailyRows(stats.answer, now);
  const yesterday = addDays(today, -1);
  let isKnown = true;
  for (const { date, sent } of rows.slice(rows.findLastIndex((row) => row.date < yesterday) + 1).reverse()) {
    const on = limitsOn(limits, date);
    const valid = sent !== null && Number.isInteger(sent) && sent >= 0;
    if (!valid || !on || (on.daily === null && on.mode === null)) isKnown = false;
    else if (isOver(sent, on.daily) || isOver(sent, on.mode)) return { date, sent, ...on };
  }
  return isKnown ? 'none' : 'unknown';
}

function isOver(sent: number, limit: number | null): boolean {
  return limit !== null && sent > limit;
}

function sentencesOf(
  { date, sent, daily, mode: most }: Excess,
  mailbox: MailboxState,
  command: string,
): readonly string[] {
  const mode = mailbox.warmup?.answer.mode ?? null;
  const over = [
    isOver(sent, daily) ? `its daily limit of ${daily}` : '',
    isOver(sent, most) ? `the maximum of its mode, which is ${most} a day` : '',
  ].filter((text) => text !== '');
  const name = typedName(mailbox);
  const lower = isWarmupMode(mode) ? ` Or lower the daily limit: \`${command} limit ${name} ${maxPerDay[mode]}\`.` : '';
  return [
    `It sent ${counted(sent, 'email')} ${onDatesText(date, date)}. That is more than ${over.join(', and more than ')}.`,
    'Warmwarden changed nothing because of this.',
    `Find out what sends from the mailbox.${lower} To stop the warm-up, pause it: \`${command} pause ${name}\`.`,
  ];
}
