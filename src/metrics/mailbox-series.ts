// The metric series of one mailbox, as a pure function of its state. Unknown values give no sample.

import { dailyLimitOf, healthScoreOf, mailboxStatusOf, warmupDayOf } from '../fleet/newest-value.ts';
import { dnsRecords } from '../model/answers.ts';
import {
  type DailyRow,
  dailyRows,
  inboxCount,
  inboxRatio,
  lastDays,
  rowsBetween,
  sumOf,
} from '../model/daily-counts.ts';
import { domainOf, type GuardState, guardStates, type MailboxState } from '../model/mailbox.ts';
import { measuredAt } from '../model/measurement.ts';
import { isWarmupMode, warmupModes } from '../model/policy.ts';
import { ratePpm } from '../model/rate.ts';
import type { EpochMs } from '../model/time.ts';
import { visibleText } from '../wording/visible-text.ts';
import type { Gauge, ItemSample } from './exposition/block-cache.ts';
import type { Labels } from './exposition/text.ts';
import { prefix } from './prefix.ts';

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
  warmup_running: `1 when the warm-up runs, 0 when it is paused or does not run. ${cached}`,
  window_sent: `Emails sent in the guard's evidence window. ${cached}`,
  window_bounced: `Emails bounced in the guard's evidence window. ${cached}`,
  window_delivered: `Emails delivered in the days of the guard's evidence window. ${cached}`,
  window_replied: `Replies in the days of the guard's evidence window. ${cached}`,
  window_inbox: `Emails that landed in the inbox in the days of the guard's evidence window. ${cached}`,
  window_spam_landed: `Emails that landed in spam in the days of the guard's evidence window. ${cached}`,
  bounce_ratio: `Bounced by sent in the guard's evidence window, a ratio from 0 to 1. ${cached}`,
  bounce_limit_ratio: `The bounce limit of the warm-up mode, a ratio from 0 to 1. ${cached}`,
  bounces_until_breach: `How many more bounces would be a breach; 0 when there is one. ${cached}`,
  inbox_ratio: `Inbox rate over the last 7 days weighted by delivered emails, a ratio from 0 to 1. ${cached}`,
  reply_ratio: `Replies by delivered emails over the last 7 days, a ratio from 0 to 1. ${cached}`,
  spam_ratio: `Landed in spam by delivered emails over the last 7 days, a ratio from 0 to 1. ${cached}`,
  dns_pass: `1 when the DNS record passes, 0 when it fails; absent when inconclusive. ${cached}`,
  blacklist_listed: `1 when the sending address or domain is on a blacklist, 0 when not; absent when inconclusive. ${cached}`,
  blacklists_found: `Number of blacklists it is on. ${cached}`,
  blacklists_checked: `Number of blacklists that were checked. ${cached}`,
  measurement_timestamp_seconds:
    'When the API measured the answer of the route (checked_at), seconds since the Unix epoch.',
  observation_timestamp_seconds: 'When the route was last read successfully, seconds since the Unix epoch.',
} as const;
export type MailboxMetric = keyof typeof helps;

/** Every metric of a mailbox. All are gauges. */
export const mailboxMetrics = Object.fromEntries(
  Object.entries(helps).map(([metric, help]) => [metric, { name: `${prefix}${metric}`, help }]),
) as Readonly<Record<MailboxMetric, Gauge>>;

/** What a mailbox of which everything is known has. */
export const maxSeriesOfMailbox = 48;

export interface SeriesContext {
  readonly state: GuardState;
  readonly now: EpochMs;
}

type MailboxSample = ItemSample<MailboxMetric>;

const noLabels: Labels = {};

/** Days of the inbox, reply and spam ratios. */
const ratioDays = 7;

/** The mailbox's series, in parts that change at different times: who polls a mailbox changes a few of them. */
export const mailboxParts: readonly MailboxPart[] = [
  {
    metrics: [
      ...(['mailbox_info', 'mailbox_status', 'warmup_mode', 'guard_state', 'mailbox_health_score'] as const),
      ...(['mailbox_daily_limit', 'mailbox_warmup_day', 'mailbox_connected', 'warmup_running'] as const),
    ],
    factsOf: stateFacts,
    add: addState,
  },
  {
    metrics: [
      ...(['window_sent', 'window_bounced', 'window_delivered', 'window_replied', 'window_inbox'] as const),
      ...(['window_spam_landed', 'bounce_ratio', 'bounce_limit_ratio', 'bounces_until_breach'] as const),
      ...(['inbox_ratio', 'reply_ratio', 'spam_ratio'] as const),
    ],
    factsOf: countFacts,
    add: addCounts,
  },
  {
    metrics: [
      'dns_pass',
      'blacklist_listed',
      'blacklists_found',
      'blacklists_checked',
      'measurement_timestamp_seconds',
    ],
    factsOf: ({ dns, blacklist }) => [dns?.answer, blacklist?.answer],
    add: addChecks,
  },
  ...(['stats', 'warmup', 'mailbox', 'dns', 'blacklist'] as const).map(readPart),
];

/** Those of one part, without the mailbox's name. */
export function samplesOfPart(
  part: MailboxPart,
  mailbox: MailboxState,
  context: SeriesContext,
): readonly MailboxSample[] {
  const samples: MailboxSample[] = [];
  const add: Add = (metric, value, labels = noLabels) => {
    if (typeof value === 'number' && Number.isFinite(value)) samples.push({ gauge: metric, value, labels });
  };
  part.add(mailbox, context, add);
  return samples;
}

/** All samples of a mailbox, without its name. */
export function mailboxSamples(mailbox: MailboxState, context: SeriesContext): readonly MailboxSample[] {
  return mailboxParts.flatMap((part) => samplesOfPart(part, mailbox, context));
}

export interface MailboxPart {
  readonly metrics: readonly MailboxMetric[];
  /** Equal facts, one by one, give equal samples on one day. */
  readonly factsOf: (mailbox: MailboxState, state: GuardState) => readonly unknown[];
  readonly add: (mailbox: MailboxState, context: SeriesContext, add: Add) => void;
}

type Add = (metric: MailboxMetric, value: number | null | undefined, labels?: Labels) => void;

function stateFacts(mailbox: MailboxState, state: GuardState): readonly unknown[] {
  const { id, email, entry, warmup, detail, verdict } = mailbox;
  const newest = [mailboxStatusOf(mailbox), healthScoreOf(mailbox), dailyLimitOf(mailbox), warmupDayOf(mailbox)];
  const words = [entry.answer.provider, warmup?.answer.mode, detail?.answer.connection, verdict?.answer.run];
  return [id, email, state, ...newest, warmup === null, ...words];
}

function addState(mailbox: MailboxState, { state }: SeriesContext, add: Add): void {
  add('mailbox_info', 1, {
    mailbox_id: mailbox.id,
    domain: visibleText(domainOf(mailbox.email)),
    provider: visibleText(mailbox.entry.answer.provider ?? ''),
  });
  const status = statusWord(mailboxStatusOf(mailbox));
  for (const one of ['active', 'other', 'unknown'] as const)
    add('mailbox_status', flag(one === status), { status: one });
  if (mailbox.warmup) {
    const { mode } = mailbox.warmup.answer;
    const known = isWarmupMode(mode) ? mode : 'unknown';
    for (const one of [...warmupModes, 'unknown']) add('warmup_mode', flag(one === known), { mode: one });
  }
  for (const one of guardStates) add('guard_state', flag(one === state), { state: one });
  add('mailbox_health_score', healthScoreOf(mailbox));
  add('mailbox_daily_limit', dailyLimitOf(mailbox));
  add('mailbox_warmup_day', warmupDayOf(mailbox));
  const connection = mailbox.detail?.answer.connection ?? 'unclear';
  if (connection !== 'unclear') add('mailbox_connected', flag(connection === 'connected'));
  const run = mailbox.verdict?.answer.run ?? 'unknown';
  if (run !== 'unknown') add('warmup_running', flag(run === 'running'));
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

function addCounts(mailbox: MailboxState, { now }: SeriesContext, add: Add): void {
  const rows = dailyRows(mailbox.stats?.answer, now);
  addWindow(mailbox, rows, add);
  addRatios(lastDays(rows, ratioDays), add);
}

function addWindow(mailbox: MailboxState, rows: readonly DailyRow[], add: Add): void {
  const verdict = mailbox.verdict?.answer;
  if (!verdict) return;
  if (verdict.limitPpm !== null) add('bounce_limit_ratio', verdict.limitPpm / 1e6);
  // Without a window the counts of a verdict are 0 because nothing was counted.
  if (verdict.windowFrom === null || verdict.windowTo === null) return;
  add('window_sent', verdict.sent);
  add('window_bounced', verdict.bounced);
  const rate = ratePpm(verdict);
  if (rate !== null) add('bounce_ratio', rate / 1e6);
  add('bounces_until_breach', verdict.bouncesUntilBreach);
  const window = rowsBetween(rows, verdict.windowFrom, verdict.windowTo);
  add('window_delivered', sumOf(window, 'delivered'));
  add('window_replied', sumOf(window, 'replied'));
  const inbox = inboxCount(window);
  if (inbox !== null) add('window_inbox', Math.round(inbox));
  add('window_spam_landed', sumOf(window, 'spamLanded'));
}

function addRatios(rows: readonly DailyRow[], add: Add): void {
  add('inbox_ratio', inboxRatio(rows));
  const delivered = sumOf(rows, 'delivered');
  if (delivered === null || delivered === 0) return;
  const replied = sumOf(rows, 'replied');
  const spam = sumOf(rows, 'spamLanded');
  if (replied !== null) add('reply_ratio', replied / delivered);
  if (spam !== null) add('spam_ratio', spam / delivered);
}

function addChecks(mailbox: MailboxState, _: SeriesContext, add: Add): void {
  for (const record of dnsRecords) {
    const pass = mailbox.dns?.answer.records[record].pass ?? null;
    if (pass !== null) add('dns_pass', flag(pass), { record });
  }
  const blacklist = mailbox.blacklist?.answer;
  if (blacklist) {
    if (blacklist.listed !== null) add('blacklist_listed', flag(blacklist.listed));
    add('blacklists_found', blacklist.found);
    add('blacklists_checked', blacklist.checked);
  }
  for (const [route, observed] of Object.entries({ dns: mailbox.dns, blacklist: mailbox.blacklist })) {
    const at = measuredAt(observed?.answer);
    if (at !== null) add('measurement_timestamp_seconds', at / 1_000, { route });
  }
}

/** Each poll changes one of them. */
function readPart(route: 'stats' | 'warmup' | 'mailbox' | 'dns' | 'blacklist'): MailboxPart {
  const readAt = (mailbox: MailboxState) => mailbox[route === 'mailbox' ? 'detail' : route]?.at;
  return {
    metrics: ['observation_timestamp_seconds'],
    factsOf: (mailbox) => [readAt(mailbox)],
    add: (mailbox, _, add) => {
      const at = readAt(mailbox);
      if (at !== undefined) add('observation_timestamp_seconds', at / 1_000, { route });
    },
  };
}

function flag(condition: boolean): number {
  return condition ? 1 : 0;
}
