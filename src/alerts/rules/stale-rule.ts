// stale_data: statistics, DNS or blacklists too old to rely on, and counts that stand still while the warm-up runs.
import { type MeasuredRoute, measuredAt, type Route } from '../../core/answers.ts';
import { countExpectedDays } from '../../core/daily-counts.ts';
import { awaitsJudgement, domainOf, type MailboxState } from '../../core/mailbox.ts';
import { addDays, dayMs, type EpochMs, hourMs, type IsoDate, utcDate } from '../../core/time.ts';
import { explainVerdict } from '../../core/wording/explain.ts';
import { momentText } from '../../core/wording/phrases.ts';
import {
  ageNumber,
  type Condition,
  condition,
  type MailboxContext,
  type MailboxRule,
  type RulesAfter,
  subjectOf,
} from '../condition.ts';

const dnsStale: MailboxRule = (...sight) => measurementStale('dns', ...sight);
const blacklistStale: MailboxRule = (...sight) => measurementStale('blacklist', ...sight);
export const staleRules: RulesAfter = {
  stats: [staleData],
  warmup: [staleData],
  dns: [dnsStale],
  blacklist: [blacklistStale],
  time: [staleData, dnsStale, blacklistStale],
};

/** Time after the end of a day in UTC at which the day is over in every time zone. */
const lastTimeZoneMs = 12 * hourMs;
/** Whole sending days without a single email after which the counts stand still (docs/faults.md S11). */
const frozenSendingDays = 2;

/** Statistics alone, without the warm-up, do not count. */
export function knownSince({ verdict, stats, firstSeenAt }: MailboxState): EpochMs {
  return verdict === null ? firstSeenAt : Math.min(verdict.at, stats?.at ?? firstSeenAt);
}

export function isWarmupStale({ warmup }: MailboxState, warmupStaleBefore: EpochMs): boolean {
  return warmup !== null && warmup.at < warmupStaleBefore;
}

/** Returns true if the statistics were read but cannot be judged, because the warm-up was not read. */
function lacksWarmup(mailbox: MailboxState): boolean {
  return mailbox.verdict === null ? mailbox.stats !== null : awaitsJudgement(mailbox);
}

/** Ends only with a judgement of the current answer: just after a start, the verdict is an earlier process's. */
function staleData(mailbox: MailboxState, context: MailboxContext): Condition {
  const { email, stats, verdict, warmup, firstSeenAt } = mailbox;
  const isStale = isWarmupStale(mailbox, context.warmupStaleBefore);
  const isOld = knownSince(mailbox) < context.staleBefore;
  const lacks = lacksWarmup(mailbox) || (isStale && !isOld);
  const isOldDay = verdict?.answer.reason === 'stale_data';
  const found = standStillOf(mailbox, context.now);
  const still = typeof found === 'string' ? null : found.since;
  const isJudgedNow = verdict?.at === context.now;
  const bad = isStale || isOld || isOldDay || still !== null;
  // Moments instead of ages: a text that changes every minute would be stored every minute.
  const moment = (at: EpochMs) => momentText(at, context.rules.timeZone);
  return condition(subjectOf('stale_data', mailbox, 'statistics'), {
    active: bad ? true : isJudgedNow && found === 'none' ? false : 'unknown',
    firing: () =>
      lacks
        ? [
            `${email}: NOT GUARDED, the warm-up cannot be read`,
            verdict === null
              ? `Warmwarden has not read the warm-up since it first saw the mailbox on ${moment(firstSeenAt)}.`
              : `Warmwarden last judged the mailbox on ${moment(verdict.at)}. It has not read the warm-up since ${moment(warmup?.at ?? firstSeenAt)}.`,
            'Warmwarden needs the mode from the warm-up to know the bounce limit. Until it has read the warm-up, the mailbox is not guarded.',
            'Check whether the API answers requests for the warm-up of this mailbox. The log has the last failure.',
          ]
        : [
            `${email}: NOT GUARDED, stale statistics`,
            (isStale || isOld) &&
              (stats === null
                ? `Warmwarden has not read any statistics since it first saw the mailbox on ${moment(firstSeenAt)}.`
                : `Warmwarden last read the statistics on ${moment(stats.at)}. Three polls have been due since then, and none of them returned statistics.`),
            isOldDay
              ? explainVerdict(verdict.answer)
              : still !== null &&
                `The counts do not change: the warm-up runs, but the API has counted no email since ${still}, for two whole days on which the mailbox sends.`,
            'Warmwarden decides nothing on old data: the mailbox is not guarded until fresh statistics arrive.',
            'Check whether the API is up and whether the mailbox still sends.',
          ],
    ended: () => [
      `${email}: statistics are fresh again`,
      stats && `Warmwarden read the statistics on ${moment(stats.at)}.`,
    ],
    numbers: () => ({
      read_at: stats && new Date(stats.at).toISOString(),
      newest_day: verdict?.answer.windowTo ?? null,
      ...ageNumber(stats?.at, context.now),
    }),
  });
}

/** The date is that of the last email. Counts of a mailbox that is paused, or never sent, do not stand still. */
type StandStill = { readonly since: IsoDate } | 'none' | 'unknown';

/** Two changes of the status within this time mean that it toggles, as at night or at weekends. */
const habitMs = 8 * dayMs;

/** Unknown until two whole sending days after a resume, and while the status toggles. */
function standStillOf({ verdict, stats, warmup, memory, changes }: MailboxState, now: EpochMs): StandStill {
  const { run, action } = verdict?.answer ?? {};
  const toggles = changes.filter(({ what, at }) => what === 'warm-up' && now - at < habitMs).length > 1;
  if (run === 'paused' || run === 'not_running') return toggles ? 'unknown' : 'none';
  const rows = stats?.answer.rows;
  if (run !== 'running' || !rows) return 'unknown';
  let last: IsoDate | null = null;
  for (const { date, sent } of rows) {
    if (date !== null && sent !== null && sent > 0 && (last === null || date > last)) last = date;
  }
  if (last === null) return action === 'hold' ? 'unknown' : 'none';
  const newest = last;
  const known = rows.filter(({ date }) => date !== null && date <= newest);
  const weekdaysOnly = warmup?.answer.config.weekdaysOnly === true;
  const over = utcDate(now - dayMs - lastTimeZoneMs);
  const quietDays = (from: IsoDate) => countExpectedDays([from, over], frozenSendingDays, { weekdaysOnly, known });
  if (quietDays(addDays(last, 1)) < frozenSendingDays) return 'none';
  const evidence = memory?.evidence;
  const resumedOn = !toggles && evidence?.before === null && evidence.from > last ? evidence.from : null;
  return resumedOn !== null && quietDays(resumedOn) < frozenSendingDays ? 'unknown' : { since: last };
}

const checks: Readonly<Record<MeasuredRoute, { readonly name: string; readonly unseen: string }>> = {
  dns: { name: 'DNS check', unseen: 'when SPF, DKIM or DMARC stops passing' },
  blacklist: { name: 'blacklist check', unseen: 'new blacklist entries' },
};

/** Fires after two observations, of which the second asks the API to measure now (refresh=true). */
function measurementStale(
  route: MeasuredRoute,
  mailbox: MailboxState,
  context: MailboxContext,
  answered: Route | 'time',
): Condition {
  const { email, firstSeenAt } = mailbox;
  const observed = mailbox[route];
  const madeAt = measuredAt(observed?.answer);
  const { olderThanMs, unreadSince } = context.staleMeasurement(route);
  const isUnread = (observed?.at ?? firstSeenAt) < unreadSince;
  const isOld = madeAt !== null && observed !== null && observed.at - madeAt > olderThanMs;
  const { name, unseen } = checks[route];
  const moment = (at: EpochMs) => momentText(at, context.rules.timeZone);
  const unread = () =>
    observed
      ? `Warmwarden last read the ${name} on ${moment(observed.at)}. Four polls have been due since then, and none brought one.`
      : `Warmwarden has not read any ${name} since it first saw the mailbox on ${moment(firstSeenAt)}: four polls were due.`;
  const old = () =>
    `The API made its last ${name} of ${domainOf(email)} on ${moment(madeAt ?? context.now)}, although Warmwarden asked it for a new one.`;
  return condition(subjectOf('stale_data', mailbox, route), {
    active: isUnread ? true : answered === 'time' ? 'unknown' : isOld,
    observations: 2,
    firing: () => [
      `${email}: the ${name} is out of date`,
      isUnread ? unread() : old(),
      `The bounces are guarded. Until a fresh check arrives, Warmwarden does not notice ${unseen}.`,
      isUnread
        ? 'If they failed, the log says why.'
        : 'Run the check in the warm-up service. If it stays out of date, ask its support.',
    ],
    ended: () => [
      `${email}: the ${name} is ${madeAt === null ? 'read' : 'up to date'} again`,
      madeAt !== null && `The API made the ${name} on ${moment(madeAt)}.`,
    ],
    numbers: () => ({
      checked_at: madeAt === null ? null : new Date(madeAt).toISOString(),
      ...ageNumber(madeAt, context.now),
    }),
  });
}
