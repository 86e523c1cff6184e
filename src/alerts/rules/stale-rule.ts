// stale_data: statistics that are too old to rely on, because no answer comes or because the counts stand still.
import { isUsuallyQuiet } from '../../core/daily-counts.ts';
import { awaitsJudgement, type MailboxState } from '../../core/mailbox.ts';
import { addDays, dayMs, type EpochMs, hourMs, type IsoDate, isWeekend, secondMs, utcDate } from '../../core/time.ts';
import { explainVerdict } from '../../core/wording/explain.ts';
import { momentText } from '../../core/wording/phrases.ts';
import { atOnce, type Condition, type MailboxContext, pageLink, subjectOf, wordedLater } from '../condition.ts';

/** Time after the end of a day in UTC at which the day is over in every time zone. */
const lastTimeZoneMs = 12 * hourMs;
/**
 * Number of whole sending days without a single email that are no pause in sending: the counts stand still
 * (docs/faults.md S11).
 */
const frozenSendingDays = 2;

/**
 * Returns the moment since which no newer data for a verdict is known. Statistics alone, without the warm-up, do not
 * count.
 */
export function knownSince({ verdict, stats, firstSeenAt }: MailboxState): EpochMs {
  return verdict === null ? firstSeenAt : Math.min(verdict.at, stats?.at ?? firstSeenAt);
}

/** Returns true if the warm-up behind the verdict may have changed since it was read. */
export function isWarmupStale({ warmup }: MailboxState, warmupStaleBefore: EpochMs): boolean {
  return warmup !== null && warmup.at < warmupStaleBefore;
}

/** Returns true if the statistics were read but cannot be judged, because the warm-up was not read. */
function lacksWarmup(mailbox: MailboxState): boolean {
  return mailbox.verdict === null ? mailbox.stats !== null : awaitsJudgement(mailbox);
}

/**
 * stale_data, statistics: the answer is too old, the verdict says that its newest day is too old, or the counts stand
 * still. Only a judgement of the current answer can end it: just after a start nothing is too old yet, and the verdict
 * comes from an earlier process.
 */
export function staleData(mailbox: MailboxState, context: MailboxContext): Condition {
  const readAt = mailbox.stats?.at ?? null;
  const age = Math.max(0, context.now - (readAt ?? mailbox.firstSeenAt));
  const isStale = isWarmupStale(mailbox, context.warmupStaleBefore);
  const tooOld = isStale || knownSince(mailbox) < context.staleBefore;
  const lacks = lacksWarmup(mailbox) || (isStale && knownSince(mailbox) >= context.staleBefore);
  const verdict = mailbox.verdict?.answer;
  const found = standStillOf(mailbox, context.now);
  const still = found === 'moves' || found === 'unknown' ? null : found;
  const frozen = verdict?.reason === 'stale_data' || still !== null;
  const judgedNow = mailbox.verdict?.at === context.now;
  const active = tooOld || frozen ? true : judgedNow && found === 'moves' ? false : 'unknown';
  const zone = context.rules.timeZone;
  return wordedLater(
    {
      subject: subjectOf('stale_data', mailbox, 'statistics'),
      severity: 'warning',
      active,
      ...atOnce,
    },
    () => ({
      title: `${mailbox.email}: ${active === true ? staleTitle(lacks) : 'statistics are fresh again'}`,
      sentences:
        active === true ? staleSentences(mailbox, { lacks, tooOld, still, zone }) : freshSentences(readAt, zone),
      numbers: {
        read_at: readAt === null ? null : new Date(readAt).toISOString(),
        newest_day: verdict?.windowTo ?? null,
        data_age_seconds: readAt === null ? null : Math.round(age / secondMs),
        ...pageLink(context.pageUrl, mailbox.account, mailbox.id),
      },
    }),
  );
}

function staleTitle(lacks: boolean): string {
  return lacks ? 'not judged, because the warm-up cannot be read' : 'stale statistics';
}

/** Returns sentences with moments instead of ages: a text that changes every minute would be stored every minute. */
function staleSentences(
  mailbox: MailboxState,
  {
    lacks,
    tooOld,
    still,
    zone,
  }: { readonly lacks: boolean; readonly tooOld: boolean; readonly still: IsoDate | null; readonly zone: string },
): readonly string[] {
  const verdict = mailbox.verdict?.answer;
  if (lacks)
    return [
      mailbox.verdict === null
        ? `Warmwarden has not read the warm-up since it first saw the mailbox on ${momentText(mailbox.firstSeenAt, zone)}.`
        : `Warmwarden last judged the mailbox on ${momentText(mailbox.verdict.at, zone)}. It has not read the warm-up since ${momentText(mailbox.warmup?.at ?? mailbox.firstSeenAt, zone)}.`,
      'Warmwarden needs the mode from the warm-up to know the bounce limit. Until it has read the warm-up, the mailbox is not guarded.',
      'Check whether the mailbox API answers requests for the warm-up of this mailbox. The log has the last failure.',
    ];
  const first =
    mailbox.stats === null
      ? `Warmwarden has not read any statistics since it first saw the mailbox on ${momentText(mailbox.firstSeenAt, zone)}.`
      : `Warmwarden last read the statistics on ${momentText(mailbox.stats.at, zone)}. Three polls have been due since then, and none of them returned statistics.`;
  const second = verdict?.reason === 'stale_data' ? [explainVerdict(verdict)] : [];
  const third = `The counts do not change: the warm-up runs, but the API has counted no email since ${still}, for two whole days on which the mailbox sends.`;
  return [
    ...(tooOld ? [first] : []),
    ...second,
    ...(still !== null && second.length === 0 ? [third] : []),
    'Warmwarden decides nothing on old data: the mailbox is not guarded until fresh statistics arrive.',
    'Check whether the mailbox API is up and whether the mailbox still sends.',
  ];
}

function freshSentences(readAt: number | null, zone: string): readonly string[] {
  return readAt === null ? [] : [`Warmwarden read the statistics on ${momentText(readAt, zone)}.`];
}

/** Date of the last email if the counts of a mailbox stand still, else `moves` or `unknown`. */
type StandStill = IsoDate | 'moves' | 'unknown';

/** Time within which two changes of the status mean that it toggles, as at night or at weekends. */
const habitMs = 8 * dayMs;

/**
 * Returns whether the counts stand still. Only an email, or a warm-up that does not run, shows that they move; the
 * passing of time does not. After a resume the result is unknown until two whole sending days are over. A status that
 * toggles, as at night, shows neither. A mailbox whose counts have no email at all is left to the verdict.
 */
function standStillOf({ verdict, stats, warmup, memory, changes }: MailboxState, now: EpochMs): StandStill {
  const { run, action } = verdict?.answer ?? {};
  const toggles = changes.filter(({ what, at }) => what === 'warm-up' && now - at < habitMs).length > 1;
  if (run === 'paused' || run === 'not_running') return toggles ? 'unknown' : 'moves';
  const rows = stats?.answer.rows;
  if (run !== 'running' || !rows) return 'unknown';
  let last: IsoDate | null = null;
  for (const { date, sent } of rows) {
    if (date !== null && sent !== null && sent > 0 && (last === null || date > last)) last = date;
  }
  if (last === null) return action === 'hold' ? 'unknown' : 'moves';
  const newest = last;
  const known = rows.filter(({ date }) => date !== null && date <= newest);
  const weekdaysOnly = warmup?.answer.config.weekdaysOnly === true;
  const over = utcDate(now - dayMs - lastTimeZoneMs);
  const quietDays = (from: IsoDate) => {
    let quiet = 0;
    for (let date = from; date <= over && quiet < frozenSendingDays; date = addDays(date, 1)) {
      if (!(weekdaysOnly && isWeekend(date)) && !isUsuallyQuiet(date, known)) quiet += 1;
    }
    return quiet;
  };
  if (quietDays(addDays(last, 1)) < frozenSendingDays) return 'moves';
  const evidence = memory?.evidence;
  const resumedOn = !toggles && evidence?.before === null && evidence.from > last ? evidence.from : null;
  return resumedOn !== null && quietDays(resumedOn) < frozenSendingDays ? 'unknown' : last;
}
