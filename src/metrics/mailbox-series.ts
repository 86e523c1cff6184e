// Metric series of one mailbox, as a pure function of its state. Unknown values give no sample.

import { dnsRecords, measuredAt } from '../core/answers.ts';
import {
  type DailyRow,
  dailyRows,
  inboxCount,
  inboxRatio,
  lastDays,
  rowsBetween,
  sumOf,
} from '../core/daily-counts.ts';
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
import type { Gauge, Part, Series, Values } from './exposition/block-cache.ts';
import type { Labels } from './exposition/text.ts';
import { prefix } from './family.ts';

const cached = 'A cached value: warmwarden_observation_timestamp_seconds says when it was read. Absent while unknown.';

const helps = {
  mailbox_info: `Always 1; labels describe the mailbox. ${cached}`,
  mailbox_status: `1 for the status of the mailbox, 0 for the others. ${cached}`,
  warmup_mode: `1 for the warm-up mode, 0 for the others; unknown: the guard has no bounce limit for the word. ${cached}`,
  guard_state: 'The state of the guard for the mailbox: 1 for its state, 0 for the others. Based on cached values.',
  mailbox_health_score: `Health score, 0 to 100 points, as the API gives it. ${cached}`,
  mailbox_daily_limit: `Daily sending limit, emails a day. ${cached}`,
  mailbox_warmup_day: `Day of the warm-up, counted in days. ${cached}`,
  mailbox_connected: `1 when the mailbox is connected, 0 when the API reports a connection error. ${cached}`,
  warmup_running: `1 when the API reports the warm-up as running, also of a mailbox that is disconnected; 0 when it reports another status. ${cached}`,
  window_sent: `Emails sent in the guard's window. ${cached}`,
  window_bounced: `Emails bounced in the guard's window. ${cached}`,
  window_delivered: `Emails delivered in the days of the guard's window. ${cached}`,
  window_replied: `Replies in the days of the guard's window. ${cached}`,
  window_inbox: `Emails that landed in the inbox in the days of the guard's window. ${cached}`,
  window_spam_landed: `Emails that landed in spam in the days of the guard's window. ${cached}`,
  bounce_ratio: `Bounced emails divided by sent emails in the guard's window, a ratio from 0 to 1. ${cached}`,
  bounce_limit_ratio: `The bounce limit of the warm-up mode, a ratio from 0 to 1. ${cached}`,
  bounces_until_breach: `How many more bounces would be a breach; 0 when there is one. ${cached}`,
  inbox_ratio: `Inbox rate over the last 7 days weighted by delivered emails, a ratio from 0 to 1. ${cached}`,
  reply_ratio: `Replies divided by delivered emails over the last 7 days, a ratio from 0 to 1. ${cached}`,
  spam_ratio: `Emails that landed in spam divided by delivered emails over the last 7 days, a ratio from 0 to 1. ${cached}`,
  dns_pass: `1 when the DNS record passes, 0 when it fails; absent when inconclusive. ${cached}`,
  blacklist_listed: `1 when the sending address or domain is on a blacklist, 0 when not; absent when inconclusive. ${cached}`,
  blacklists_found: `Number of blacklists it is on. ${cached}`,
  blacklists_checked: `Number of blacklists that were checked. ${cached}`,
  measurement_timestamp_seconds:
    'When the API measured the answer of the route (checked_at), seconds since the Unix epoch.',
  observation_timestamp_seconds: 'When the route was last read successfully, seconds since the Unix epoch.',
} as const;
export type MailboxMetric = keyof typeof helps;

/** Metrics of a mailbox, all of them gauges. */
export const mailboxMetrics = Object.fromEntries(
  Object.entries(helps).map(([metric, help]) => [metric, { name: `${prefix}${metric}`, help }]),
) as Readonly<Record<MailboxMetric, Gauge>>;

/** Number of series of a mailbox without unknown values. */
export const maxSeriesOfMailbox = 49;

export interface SeriesContext {
  readonly state: GuardState;
  readonly now: EpochMs;
}

/** Days of the inbox, reply and spam ratios. */
const ratioDays = 7;

type MailboxSeries = Series<MailboxState, MailboxMetric>;

/** Part as a pure function of the mailbox, the guard state and the day. */
export interface MailboxPart extends Pick<Part<MailboxState, MailboxMetric>, 'series' | 'kept'> {
  readonly factsOf?: (mailbox: MailboxState, state: GuardState) => readonly unknown[];
  readonly valuesOf: (mailbox: MailboxState, context: SeriesContext) => Values;
}

const statusWords = ['active', 'other', 'unknown'] as const;
const modeWords = [...warmupModes, 'unknown'] as const;
const checkRoutes = ['dns', 'blacklist'] as const;
const readRoutes = ['stats', 'warmup', 'mailbox', ...checkRoutes] as const;

/** Series of a mailbox, in parts that change at different times. A part lists its values in the order of its series. */
export const mailboxParts: readonly MailboxPart[] = [
  {
    series: [
      { gauge: 'mailbox_info', labels: infoLabels },
      ...each('mailbox_status', 'status', statusWords),
      ...each('warmup_mode', 'mode', modeWords),
      ...each('guard_state', 'state', guardStates),
    ],
    factsOf: (mailbox, state) => [mailboxStatusOf(mailbox), mailbox.warmup?.answer.mode, state],
    valuesOf: stateValues,
  },
  {
    series: [
      ...one('mailbox_health_score', 'mailbox_daily_limit', 'mailbox_warmup_day'),
      ...one('mailbox_connected', 'warmup_running'),
    ],
    valuesOf: settingValues,
  },
  {
    series: [
      ...one('window_sent', 'window_bounced', 'window_delivered', 'window_replied', 'window_inbox'),
      ...one('window_spam_landed', 'bounce_ratio', 'bounce_limit_ratio', 'bounces_until_breach'),
      ...one('inbox_ratio', 'reply_ratio', 'spam_ratio'),
    ],
    factsOf: countFacts,
    valuesOf: (mailbox, { now }) => {
      const rows = dailyRows(mailbox.stats?.answer, now);
      return [...windowValues(mailbox.verdict?.answer, rows), ...ratioValues(lastDays(rows, ratioDays))];
    },
    // The values are sums over the daily statistics, which must be unpacked first.
    kept: true,
  },
  {
    series: [
      ...each('dns_pass', 'record', dnsRecords),
      ...one('blacklist_listed', 'blacklists_found', 'blacklists_checked'),
      ...each('measurement_timestamp_seconds', 'route', checkRoutes),
    ],
    factsOf: ({ dns, blacklist }) => [dns?.answer, blacklist?.answer],
    valuesOf: checkValues,
  },
  {
    series: each('observation_timestamp_seconds', 'route', readRoutes),
    valuesOf: readTimes,
  },
];

/** Returns all samples of a mailbox, without the labels that name it. */
export function mailboxSamples(mailbox: MailboxState, context: SeriesContext) {
  return mailboxParts.flatMap((part) => {
    const values = part.valuesOf(mailbox, context);
    return part.series.flatMap(({ gauge, labels }, index) => {
      const value = values[index] ?? Number.NaN;
      const own = typeof labels === 'function' ? labels(mailbox) : labels;
      return Number.isNaN(value) ? [] : [{ gauge, labels: own, value }];
    });
  });
}

/** Returns a series without labels for each metric. */
function one(...metrics: readonly MailboxMetric[]): readonly MailboxSeries[] {
  return metrics.map((gauge) => ({ gauge, labels: {} }));
}

/** Returns a series for each of the words. */
function each(gauge: MailboxMetric, label: string, words: readonly string[]): readonly MailboxSeries[] {
  return words.map((word) => ({ gauge, labels: { [label]: word } }));
}

/**
 * Returns the labels of mailbox_info. A cache of series must treat a mailbox with another address or provider as
 * another mailbox.
 */
function infoLabels({ id, email, entry }: MailboxState): Labels {
  return { mailbox_id: id, domain: visibleText(domainOf(email)), provider: visibleText(entry.answer.provider ?? '') };
}

function stateValues(mailbox: MailboxState, { state }: SeriesContext): Values {
  const mode = mailbox.warmup?.answer.mode;
  return [
    1,
    ...flags(statusWords, statusWord(mailboxStatusOf(mailbox))),
    ...flags(modeWords, mode !== undefined && (isWarmupMode(mode) ? mode : 'unknown')),
    ...flags(guardStates, state),
  ];
}

function settingValues(mailbox: MailboxState): Values {
  const connection = mailbox.detail?.answer.connection ?? 'unclear';
  const run = mailbox.verdict?.answer.run ?? 'unknown';
  return [
    healthScoreOf(mailbox),
    dailyLimitOf(mailbox),
    warmupDayOf(mailbox),
    connection === 'unclear' ? null : flag(connection === 'connected'),
    run === 'unknown' ? null : flag(run === 'running'),
  ];
}

function statusWord(status: string | null): 'active' | 'other' | 'unknown' {
  if (status === null) return 'unknown';
  return status.trim().toLowerCase() === 'active' ? 'active' : 'other';
}

function countFacts({ stats, verdict }: MailboxState): readonly unknown[] {
  if (!verdict) return [stats?.answer];
  const { limitPpm, windowFrom, windowTo, sent, bounced, bouncesUntilBreach } = verdict.answer;
  return [stats?.answer, limitPpm, windowFrom, windowTo, sent, bounced, bouncesUntilBreach];
}

function windowValues(verdict: Verdict | undefined, rows: readonly DailyRow[]): Values {
  const limit = ratioOf(verdict?.limitPpm);
  // A verdict without a window has counts of 0 because nothing was counted.
  if (!verdict || verdict.windowFrom === null || verdict.windowTo === null)
    return [null, null, null, null, null, null, null, limit, null];
  const window = rowsBetween(rows, verdict.windowFrom, verdict.windowTo);
  const inbox = inboxCount(window);
  return [
    verdict.sent,
    verdict.bounced,
    sumOf(window, 'delivered'),
    sumOf(window, 'replied'),
    inbox === null ? null : Math.round(inbox),
    sumOf(window, 'spamLanded'),
    ratioOf(ratePpm(verdict)),
    limit,
    verdict.bouncesUntilBreach,
  ];
}

function ratioValues(rows: readonly DailyRow[]): Values {
  const delivered = sumOf(rows, 'delivered');
  const share = (count: number | null) => (count === null || !delivered ? null : count / delivered);
  return [inboxRatio(rows), share(sumOf(rows, 'replied')), share(sumOf(rows, 'spamLanded'))];
}

function checkValues({ dns, blacklist }: MailboxState): Values {
  const passes = dnsRecords.map((record) => flagIfKnown(dns?.answer.records[record].pass));
  const found = blacklist?.answer;
  const measured = [dns, blacklist].map((observed) => secondsOf(measuredAt(observed?.answer)));
  return [...passes, flagIfKnown(found?.listed), found?.found, found?.checked, ...measured];
}

function readTimes({ stats, warmup, detail, dns, blacklist }: MailboxState): Values {
  const [ofStats, ofWarmup, ofDetail] = [secondsOf(stats?.at), secondsOf(warmup?.at), secondsOf(detail?.at)];
  return [ofStats, ofWarmup, ofDetail, secondsOf(dns?.at), secondsOf(blacklist?.at)];
}

const ratioOf = (ppm: Ppm | null | undefined) => (ppm === null || ppm === undefined ? null : ppm / 1e6);

const secondsOf = (at: EpochMs | null | undefined) => (at === null || at === undefined ? null : at / 1_000);

const flag = (condition: boolean) => (condition ? 1 : 0);

const flagIfKnown = (condition: boolean | null | undefined) =>
  condition === null || condition === undefined ? null : flag(condition);

/** Returns 1 for this word and 0 for the others, or null for each if there is no word. */
function flags<Word extends string>(words: readonly Word[], word: Word | false): Values {
  return words.map((each) => (word === false ? null : flag(each === word)));
}
