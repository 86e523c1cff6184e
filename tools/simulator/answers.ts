// The API's answers, field by field as its document (section 2) shows them.
import { dnsRecords, listings, listsChecked, sendingIp } from './checks.ts';
import { type DayRow, dayMs, healthScore, percent } from './day-row.ts';
import type { Mailbox, SentMail } from './mailbox.ts';
import { targetLimit, type WarmupConfig } from './warmup-config.ts';

const iso = (epochMs: number) => new Date(epochMs).toISOString();

/** An entry of GET /v1/mailboxes. `now` is in epoch milliseconds, here and below. */
export function listEntry(mailbox: Mailbox, now: number) {
  return { ...shared(mailbox, now), created_at: iso(mailbox.createdAt) };
}

/** GET /v1/mailboxes/:id. `measuredAt` is the time of the newest DNS measurement. */
export function detail(mailbox: Mailbox, now: number, measuredAt: number) {
  const { spf, dkim, dmarc } = dnsRecords(mailbox, measuredAt);
  return {
    ...shared(mailbox, now),
    warmup_started_at: iso(mailbox.warmupStartedAt),
    dns_status: { spf: spf.status, dkim: dkim.status, dmarc: dmarc.status },
    connection_error: connectionError(mailbox, now),
  };
}

/** GET /v1/warmup. */
export function warmupStatus(mailbox: Mailbox) {
  return {
    mailbox_id: mailbox.id,
    email: mailbox.email,
    status: mailbox.running ? 'active' : 'paused',
    health_score: mailbox.healthScore,
    daily_limit: mailbox.dailyLimit,
    warmup_day: mailbox.warmupDay,
    warmup_mode: mailbox.config.mode,
    config: config(mailbox.config),
    recent_emails: mailbox.recentMails.map(recentEmail),
  };
}

/** The answer to each action of POST /v1/warmup; the document calls for a config and does not show its mode. */
export function actionDone(mailbox: Mailbox, message: string) {
  return { success: true, message, config: { ...config(mailbox.config), warmup_mode: mailbox.config.mode } };
}

/** GET /v1/stats: the last `days` days, today last; days before the warm-up are absent. */
export function statistics(mailbox: Mailbox, days: number) {
  const { rows } = mailbox;
  const first = Math.max(0, rows.length - days);
  const stats = rows.slice(first).map((row, index) => statsEntry(row, healthScore(rows, first + index)));
  return { mailbox_id: mailbox.id, period: `${days}d`, stats };
}

/** GET /v1/dns. */
export function dnsCheck(mailbox: Mailbox, measuredAt: number, source: 'cached' | 'live') {
  const { domain } = mailbox;
  return { mailbox_id: mailbox.id, domain, checked_at: iso(measuredAt), source, ...dnsRecords(mailbox, measuredAt) };
}

/** GET /v1/blacklist. */
export function blacklistCheck(mailbox: Mailbox, measuredAt: number) {
  const found = listings(mailbox, measuredAt);
  return {
    mailbox_id: mailbox.id,
    domain: mailbox.domain,
    ip: sendingIp(mailbox),
    checked_at: iso(measuredAt),
    listed: found.length > 0,
    blacklists_found: found,
    total_checked: listsChecked,
  };
}

function shared(mailbox: Mailbox, now: number) {
  return {
    id: mailbox.id,
    email: mailbox.email,
    provider: mailbox.provider,
    status: connectionError(mailbox, now) === null ? 'active' : 'disconnected',
    health_score: mailbox.healthScore,
    daily_limit: mailbox.dailyLimit,
    warmup_day: mailbox.warmupDay,
  };
}

function connectionError(mailbox: Mailbox, now: number): string | null {
  for (const incident of mailbox.incidentsAt(now)) if (incident.kind === 'disconnect') return incident.error;
  return null;
}

function config(settings: WarmupConfig) {
  return {
    target_daily_limit: targetLimit(settings),
    reply_rate: settings.replyRate,
    thread_rate: settings.threadRate,
    weekdays_only: settings.weekdaysOnly,
    send_window_start: settings.windowStart,
    send_window_end: settings.windowEnd,
  };
}

function recentEmail(mail: Readonly<SentMail>) {
  return {
    id: mail.id,
    status: mail.status,
    landed_in: mail.landedIn,
    subject: mail.subject,
    scheduled_at: iso(mail.scheduledAt),
    sent_at: iso(mail.sentAt),
    bounce_type: mail.bounce?.type ?? null,
    bounce_category: mail.bounce?.category ?? null,
  };
}

function statsEntry(row: Readonly<DayRow>, health: number) {
  return {
    date: iso(row.day * dayMs).slice(0, 10),
    sent: row.sent,
    delivered: row.delivered,
    opened: row.opened,
    replied: row.replied,
    bounced: row.bounced,
    spam_landed: row.spamLanded,
    inbox_rate: percent(row.delivered - row.spamLanded, row.delivered),
    bounce_rate: percent(row.bounced, row.sent),
    reply_rate: percent(row.replied, row.sent),
    health_score: health.toFixed(2),
  };
}
