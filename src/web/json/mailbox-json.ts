// GET /api/mailboxes/ACCOUNT/ID: one mailbox with everything that was read of it, as JSON.
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
import type { RecordedDecision } from '../../core/decision.ts';
import type { MailboxRow } from '../overview/fleet-view.ts';
import { actionJson, changeJson, decisionJson, type Explain, iso, rowJson } from './json-answers.ts';

export function mailboxJson(
  row: MailboxRow,
  decisions: readonly RecordedDecision[],
  { explain, zone }: { readonly explain: Explain; readonly zone: string },
) {
  const { mailbox } = row;
  return {
    ...rowJson(row, explain),
    first_seen_at: iso(mailbox.firstSeenAt),
    missing_lists: mailbox.missingLists,
    entry: observed(mailbox.entry, entryJson),
    warmup: observed(mailbox.warmup, warmupJson),
    stats: observed(mailbox.stats, statsJson),
    detail: observed(mailbox.detail, detailJson),
    dns: observed(mailbox.dns, dnsJson),
    blacklist: observed(mailbox.blacklist, blacklistJson),
    action: mailbox.action && actionJson(mailbox.action, explain),
    changes: mailbox.changes.map((change) => changeJson(change, zone)),
    decisions: decisions.map((decision) => decisionJson(decision, explain)),
  };
}

function observed<Answer, Json>(one: Observed<Answer> | null, json: (answer: Answer) => Json) {
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
