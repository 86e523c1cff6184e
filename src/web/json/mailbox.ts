// GET /api/mailboxes/ACCOUNT/ID: a mailbox with everything that was read of it.
import { z } from 'zod';
import type {
  BlacklistAnswer,
  DnsAnswer,
  MailboxDetail,
  MailboxEntry,
  Observed,
  StatsAnswer,
  StatsRow,
  WarmupAnswer,
} from '../../core/answers.ts';
import { rowOf } from '../overview/fleet-view.ts';
import { noSuchMailbox, type RouteParts } from '../route-parts.ts';
import { email, action as exampleAction, decision as exampleDecision, id, mailbox } from './example-facts.ts';
import {
  action,
  actionJson,
  change,
  changeJson,
  count,
  decision,
  decisionJson,
  iso,
  listOf,
  mailboxFields,
  moment,
  number,
  rowJson,
  text,
  texts,
} from './facts.ts';
import { fleetRoute, unknownMailbox } from './route.ts';

const word = text.nullable();
const figure = number.nullable();

/** What one request to the mailbox API showed; null: it was not read yet. */
function observed<Shape extends z.ZodRawShape>(shape: Shape) {
  return z.strictObject({ at: moment.describe('When it was read.'), answer: z.strictObject(shape) }).nullable();
}

const dnsRecord = z.strictObject({
  status: word.describe('In the words of the mailbox API.'),
  pass: z.boolean().nullable().describe('null: inconclusive.'),
  record: word,
});

const statsDay = z.strictObject({
  date: z.iso.date().nullable(),
  sent: figure,
  bounced: figure,
  delivered: figure,
  opened: figure,
  replied: figure,
  spam_landed: figure,
  inbox_rate_percent: figure,
  bounce_rate_percent: figure,
  health_score: figure,
});

const warmupShape = {
  status: word,
  mode: word,
  daily_limit: figure,
  warmup_day: figure,
  health_score: figure,
  config: z.strictObject({
    target_daily_limit: figure,
    reply_rate: figure,
    thread_rate: figure,
    weekdays_only: z.boolean().nullable(),
    send_window_start: figure,
    send_window_end: figure,
  }),
  recent_bounces: listOf(z.strictObject({ type: word, category: word })),
  recent_emails: z
    .strictObject({
      placed: count.describe('Those whose folder is known.'),
      in_spam: count,
      waiting_since: moment.nullable().describe('When the oldest waiting email was scheduled to be sent.'),
      last_sent_at: moment.nullable(),
    })
    .nullable(),
};

function observedJson<Answer, Json>(one: Observed<Answer> | null, json: (answer: Answer) => Json) {
  return one && { at: iso(one.at), answer: json(one.answer) };
}

function entryJson({ id, email, provider, status, healthScore, dailyLimit, warmupDay }: MailboxEntry) {
  return {
    id,
    email,
    provider,
    status,
    health_score: healthScore,
    daily_limit: dailyLimit,
    warmup_day: warmupDay,
  };
}

function warmupJson(answer: WarmupAnswer) {
  const { config, recentEmails: emails } = answer;
  return {
    status: answer.status,
    mode: answer.mode,
    daily_limit: answer.dailyLimit,
    warmup_day: answer.warmupDay,
    health_score: answer.healthScore,
    config: {
      target_daily_limit: config.targetDailyLimit,
      reply_rate: config.replyRate,
      thread_rate: config.threadRate,
      weekdays_only: config.weekdaysOnly,
      send_window_start: config.sendWindowStart,
      send_window_end: config.sendWindowEnd,
    },
    recent_bounces: answer.recentBounces.map(({ type, category }) => ({ type, category })),
    recent_emails: emails
      ? {
          placed: emails.placed,
          in_spam: emails.inSpam,
          waiting_since: iso(emails.waitingSince),
          last_sent_at: iso(emails.lastSentAt),
        }
      : null,
  };
}

function statsJson({ rows }: StatsAnswer) {
  return { rows: rows?.map(statsDayJson) ?? null };
}

function statsDayJson(row: StatsRow) {
  return {
    date: row.date,
    sent: row.sent,
    bounced: row.bounced,
    delivered: row.delivered,
    opened: row.opened,
    replied: row.replied,
    spam_landed: row.spamLanded,
    inbox_rate_percent: row.inboxRatePercent,
    bounce_rate_percent: row.bounceRatePercent,
    health_score: row.healthScore ?? null,
  };
}

function detailJson({ status, healthScore, dailyLimit, connection, connectionError }: MailboxDetail) {
  return {
    status,
    health_score: healthScore,
    daily_limit: dailyLimit,
    connection,
    connection_error: connectionError,
  };
}

function dnsJson({ domain, checkedAt, records }: DnsAnswer) {
  return { domain, checked_at: checkedAt, records };
}

function blacklistJson({ domain, ip, checkedAt, listed, lists, found, checked }: BlacklistAnswer) {
  return { domain, ip, checked_at: checkedAt, listed, lists, found, checked };
}

const readAt = '2026-03-10T12:29:00.248Z';
const exampleRecord = { status: 'pass', pass: true, record: 'v=spf1 ip4:203.0.113.83 -all' };

const decisionsShown = 50;

export const mailboxRoute = fleetRoute({
  path: '/api/mailboxes/:account/:id',
  id: 'getMailbox',
  summary: 'A mailbox with everything that was read of it, and its last 50 decisions',
  description: 'An observation that was not made yet is null.',
  names: { account: 'The name of the account.', id: 'The id of the mailbox.' },
  query: {},
  named: true,
  shape: z.strictObject({
    ...mailboxFields,
    first_seen_at: moment,
    missing_lists: count.describe('Consecutive mailbox lists without it.'),
    entry: observed({
      id: text,
      email: text,
      provider: word,
      status: word,
      health_score: figure,
      daily_limit: figure,
      warmup_day: figure,
    }).describe('Its entry in the mailbox list.'),
    warmup: observed(warmupShape),
    stats: observed({
      rows: listOf(statsDay).nullable().describe('A row per day; null: the API sent no list.'),
    }),
    detail: observed({
      status: word,
      health_score: figure,
      daily_limit: figure,
      connection: z.enum(['connected', 'error', 'unclear']),
      connection_error: word,
    }),
    dns: observed({
      domain: word,
      checked_at: word,
      records: z.strictObject({ spf: dnsRecord, dkim: dnsRecord, dmarc: dnsRecord }),
    }),
    blacklist: observed({
      domain: word,
      ip: word,
      checked_at: word,
      listed: z.boolean().nullable().describe('null: inconclusive.'),
      lists: texts,
      found: figure,
      checked: figure,
    }),
    action: action.nullable().describe('The newest change that Warmwarden planned or made.'),
    changes: listOf(change).describe('What others changed.'),
    decisions: listOf(decision).describe('The last 50, the newest first.'),
  }),
  example: {
    ...mailbox,
    first_seen_at: '2026-03-10T08:30:00.000Z',
    missing_lists: 0,
    entry: {
      at: readAt,
      answer: {
        id,
        email,
        provider: 'microsoft',
        status: 'active',
        health_score: 86.53,
        daily_limit: 27,
        warmup_day: 8,
      },
    },
    warmup: null,
    stats: {
      at: readAt,
      answer: {
        rows: [
          {
            date: '2026-03-09',
            sent: 18,
            bounced: 1,
            delivered: 17,
            opened: 9,
            replied: 4,
            spam_landed: 0,
            inbox_rate_percent: 100,
            bounce_rate_percent: 5.6,
            health_score: 90.77,
          },
        ],
      },
    },
    detail: {
      at: readAt,
      answer: {
        status: 'active',
        health_score: 90.77,
        daily_limit: 27,
        connection: 'connected',
        connection_error: null,
      },
    },
    dns: {
      at: readAt,
      answer: {
        domain: 'brightpath.example',
        checked_at: '2026-03-10T11:45:40.570Z',
        records: { spf: exampleRecord, dkim: exampleRecord, dmarc: exampleRecord },
      },
    },
    blacklist: {
      at: readAt,
      answer: {
        domain: 'brightpath.example',
        ip: '203.0.113.83',
        checked_at: '2026-03-10T11:45:40.570Z',
        listed: false,
        lists: [],
        found: 0,
        checked: 24,
      },
    },
    action: exampleAction,
    changes: [],
    decisions: [exampleDecision],
  },
  read: async (
    parts: Pick<RouteParts, 'fleet' | 'decisions' | 'explain' | 'nearLimitPpmOf' | 'timeZone'>,
    _query,
    { account = '', id: mailboxId = '' },
  ) => {
    const { fleet, explain, nearLimitPpmOf } = parts;
    const found = fleet.mailbox(account, mailboxId);
    if (!found) return unknownMailbox(noSuchMailbox);
    const decisions = await parts.decisions(account, mailboxId, decisionsShown);
    const zone = parts.timeZone();
    const row = rowOf(fleet, found, nearLimitPpmOf);
    return {
      ...rowJson(row, explain),
      first_seen_at: iso(row.mailbox.firstSeenAt),
      missing_lists: row.mailbox.missingLists,
      entry: observedJson(row.mailbox.entry, entryJson),
      warmup: observedJson(row.mailbox.warmup, warmupJson),
      stats: observedJson(row.mailbox.stats, statsJson),
      detail: observedJson(row.mailbox.detail, detailJson),
      dns: observedJson(row.mailbox.dns, dnsJson),
      blacklist: observedJson(row.mailbox.blacklist, blacklistJson),
      action: row.mailbox.action && actionJson(row.mailbox.action, explain),
      changes: row.mailbox.changes.map((change) => changeJson(change, zone)),
      decisions: decisions.map((decision) => decisionJson(decision, explain)),
    };
  },
});
