// Metric series of one mailbox, as a pure function of its state. Unknown values give no sample.

import { dnsRecords, measuredAt } from '../core/answers.ts';
import { dailyRows, inboxCount, inboxRatio, lastWeek, rowsBetween, sumOf } from '../core/daily-counts.ts';
import type { DailyRow } from '../core/guard/rows.ts';
import {
  dailyLimitOf,
  domainOf,
  type GuardState,
  guardStates,
  healthScoreOf,
  type MailboxState,
  mailboxStatusOf,
  warmupDayOf,
} from '../core/mailbox.ts';
import { isWarmupMode, type Ppm, ratePpm, warmupModes } from '../core/policy.ts';
import type { EpochMs } from '../core/time.ts';
import type { Verdict } from '../core/verdict.ts';
import { visibleText } from '../core/wording/phrases.ts';
import { type Labels, prefix } from './exposition.ts';

interface SeriesLook {
  readonly mailbox: MailboxState;
  readonly state: GuardState;
  readonly verdict: Verdict | undefined;
  /** Days of the window, or null if the verdict counted nothing. */
  readonly window: readonly DailyRow[] | null;
  readonly week: readonly DailyRow[];
}

type SampleValue = number | null | undefined;

/** Gauge with a value for each of the words of a label, or one value. */
interface MailboxGauge {
  readonly name: string;
  readonly help: string;
  readonly series: readonly { readonly labels: Labels; readonly value: (look: SeriesLook) => SampleValue }[];
}

const cached = 'A cached value: warmwarden_observation_timestamp_seconds says when it was read. Absent while unknown.';

function one(name: string, help: string, value: (look: SeriesLook) => SampleValue): MailboxGauge {
  return { name: `${prefix}${name}`, help: `${help} ${cached}`, series: [{ labels: {}, value }] };
}

function each<Word extends string>(
  name: string,
  help: string,
  label: string,
  values: readonly (readonly [Word, (look: SeriesLook) => SampleValue])[],
): MailboxGauge {
  const series = values.map(([word, value]) => ({ labels: { [label]: word }, value }));
  return { name: `${prefix}${name}`, help, series };
}

/** Gives 1 to the word of the mailbox and 0 to the others, or no value if the mailbox has no word. */
function flags<Word extends string>(words: readonly Word[], wordOf: (look: SeriesLook) => Word | null) {
  return words.map((word) => {
    const value = (look: SeriesLook) => {
      const current = wordOf(look);
      return current === null ? null : Number(current === word);
    };
    return [word, value] as const;
  });
}

const ifKnown = (condition: boolean | null | undefined) => (condition == null ? null : Number(condition));
const secondsOf = (at: EpochMs | null | undefined) => (at == null ? null : at / 1_000);
const ratioOf = (ppm: Ppm | null | undefined) => (ppm == null ? null : ppm / 1e6);
const roundedOf = (count: number | null) => (count === null ? null : Math.round(count));

const inWindow = (sum: (window: readonly DailyRow[]) => SampleValue) => (look: SeriesLook) =>
  look.window && sum(look.window);

/** A verdict without a window has counts of 0 because nothing was counted. */
const ofVerdict = (count: (verdict: Verdict) => SampleValue) => (look: SeriesLook) =>
  look.window && look.verdict && count(look.verdict);

function shareOfDelivered(field: 'replied' | 'spamLanded') {
  return ({ week }: SeriesLook) => {
    const [delivered, count] = [sumOf(week, 'delivered'), sumOf(week, field)];
    return count === null || !delivered ? null : count / delivered;
  };
}

function statusWord({ mailbox }: SeriesLook): 'active' | 'other' | 'unknown' {
  const status = mailboxStatusOf(mailbox);
  if (status === null) return 'unknown';
  return status.trim().toLowerCase() === 'active' ? 'active' : 'other';
}

function modeWord({ mailbox }: SeriesLook) {
  const mode = mailbox.warmup?.answer.mode;
  if (mode === undefined) return null;
  return isWarmupMode(mode) ? mode : ('unknown' as const);
}

const readRoutes = ['stats', 'warmup', 'detail', 'dns', 'blacklist'] as const;

export const infoGauge = one('mailbox_info', 'Always 1; labels describe the mailbox.', () => 1);

/** Gauge with a series for each tag of a mailbox. */
export const tagGauge: MailboxGauge = {
  ...infoGauge,
  name: `${prefix}mailbox_tag_info`,
  help: 'Always 1; labels give a tag of the mailbox and its value, which is true for a word.',
};

export const mailboxGauges: readonly MailboxGauge[] = [
  infoGauge,
  each(
    'mailbox_status',
    `1 for the status of the mailbox, 0 for the others. ${cached}`,
    'status',
    flags(['active', 'other', 'unknown'], statusWord),
  ),
  each(
    'warmup_mode',
    `1 for the warm-up mode, 0 for the others; unknown: the guard has no bounce limit for the word. ${cached}`,
    'mode',
    flags([...warmupModes, 'unknown'], modeWord),
  ),
  each(
    'guard_state',
    'The state of the guard for the mailbox: 1 for its state, 0 for the others. Based on cached values.',
    'state',
    flags(guardStates, ({ state }) => state),
  ),
  one('mailbox_health_score', 'Health score, 0 to 100 points, as the API gives it.', ({ mailbox }) =>
    healthScoreOf(mailbox),
  ),
  one('mailbox_daily_limit', 'Daily sending limit, emails a day.', ({ mailbox }) => dailyLimitOf(mailbox)),
  one('mailbox_warmup_day', 'Day of the warm-up, counted in days.', ({ mailbox }) => warmupDayOf(mailbox)),
  one(
    'mailbox_connected',
    '1 when the mailbox is connected, 0 when the API reports a connection error.',
    ({ mailbox }) => {
      const connection = mailbox.detail?.answer.connection ?? 'unclear';
      return connection === 'unclear' ? null : Number(connection === 'connected');
    },
  ),
  one(
    'warmup_running',
    '1 when the API reports the warm-up as running, also of a mailbox that is disconnected; 0 when it reports another status.',
    ({ verdict }) => (!verdict || verdict.run === 'unknown' ? null : Number(verdict.run === 'running')),
  ),
  one(
    'window_sent',
    "Emails sent in the guard's window.",
    ofVerdict(({ sent }) => sent),
  ),
  one(
    'window_bounced',
    "Emails bounced in the guard's window.",
    ofVerdict(({ bounced }) => bounced),
  ),
  one(
    'window_delivered',
    "Emails delivered in the days of the guard's window.",
    inWindow((window) => sumOf(window, 'delivered')),
  ),
  one(
    'window_replied',
    "Replies in the days of the guard's window.",
    inWindow((window) => sumOf(window, 'replied')),
  ),
  one(
    'window_inbox',
    "Emails that landed in the inbox in the days of the guard's window.",
    inWindow((window) => roundedOf(inboxCount(window))),
  ),
  one(
    'window_spam_landed',
    "Emails that landed in spam in the days of the guard's window.",
    inWindow((window) => sumOf(window, 'spamLanded')),
  ),
  one(
    'bounce_ratio',
    "Bounced emails divided by sent emails in the guard's window, a ratio from 0 to 1.",
    ofVerdict((verdict) => ratioOf(ratePpm(verdict))),
  ),
  one('bounce_limit_ratio', 'The bounce limit of the warm-up mode, a ratio from 0 to 1.', ({ verdict }) =>
    ratioOf(verdict?.limitPpm),
  ),
  one(
    'bounces_until_breach',
    'How many more bounces would be a breach; 0 when there is one.',
    ofVerdict(({ bouncesUntilBreach }) => bouncesUntilBreach),
  ),
  one('inbox_ratio', 'Inbox rate over the last 7 days weighted by delivered emails, a ratio from 0 to 1.', ({ week }) =>
    inboxRatio(week),
  ),
  one(
    'reply_ratio',
    'Replies divided by delivered emails over the last 7 days, a ratio from 0 to 1.',
    shareOfDelivered('replied'),
  ),
  one(
    'spam_ratio',
    'Emails that landed in spam divided by delivered emails over the last 7 days, a ratio from 0 to 1.',
    shareOfDelivered('spamLanded'),
  ),
  each(
    'dns_pass',
    `1 when the DNS record passes, 0 when it fails; absent when inconclusive. ${cached}`,
    'record',
    dnsRecords.map((record) => [record, ({ mailbox }) => ifKnown(mailbox.dns?.answer.records[record].pass)]),
  ),
  one(
    'blacklist_listed',
    '1 when the sending address or domain is on a blacklist, 0 when not; absent when inconclusive.',
    ({ mailbox }) => ifKnown(mailbox.blacklist?.answer.listed),
  ),
  one('blacklists_found', 'Number of blacklists it is on.', ({ mailbox }) => mailbox.blacklist?.answer.found),
  one(
    'blacklists_checked',
    'Number of blacklists that were checked.',
    ({ mailbox }) => mailbox.blacklist?.answer.checked,
  ),
  each(
    'measurement_timestamp_seconds',
    'When the API measured the answer of the route (checked_at), seconds since the Unix epoch.',
    'route',
    (['dns', 'blacklist'] as const).map((route) => [
      route,
      ({ mailbox }) => secondsOf(measuredAt(mailbox[route]?.answer)),
    ]),
  ),
  each(
    'observation_timestamp_seconds',
    'When the route was last read successfully, seconds since the Unix epoch.',
    'route',
    readRoutes.map((route) => [route === 'detail' ? 'mailbox' : route, ({ mailbox }) => secondsOf(mailbox[route]?.at)]),
  ),
];

const valuesOfSeries = mailboxGauges.flatMap(({ series }) => series.map(({ value }) => value));

/**
 * Values are in the order of the gauges; NaN gives no sample. `now` is only good for the day: they are asked for again
 * when the mailbox has changed, so a value that grows with time would not move.
 */
export function mailboxValues(mailbox: MailboxState, state: GuardState, now: EpochMs): readonly number[] {
  const verdict = mailbox.verdict?.answer;
  const rows = dailyRows(mailbox.stats?.answer, now);
  const [from, to] = [verdict?.windowFrom, verdict?.windowTo];
  const window = from && to ? rowsBetween(rows, from, to) : null;
  const look = { mailbox, state, verdict, window, week: lastWeek(mailbox.stats?.answer, now) };
  return valuesOfSeries.map((value) => value(look) ?? Number.NaN);
}

export function infoLabels({ id, email, entry }: MailboxState): Labels {
  return { mailbox_id: id, domain: visibleText(domainOf(email)), provider: visibleText(entry.answer.provider ?? '') };
}
