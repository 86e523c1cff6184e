// Checked answers of the API, a type for each. null means "not known", never 0 or "healthy". Source:
// api/mailbox-api.md section 2; fields that it calls "not shown" are kept raw.
import type { EpochMs, IsoDate } from './time.ts';

/** An answer with the wall-clock time at which it was complete. */
export interface Observed<Answer> {
  readonly at: EpochMs;
  readonly answer: Answer;
}

export const routes = ['health', 'mailboxes', 'stats', 'warmup', 'mailbox', 'dns', 'blacklist'] as const;
export type Route = (typeof routes)[number];

export interface HealthAnswer {
  readonly status: string | null;
  readonly version: string | null;
  readonly timestamp: EpochMs | null;
}

export interface MailboxEntry {
  readonly id: string;
  readonly email: string;
  readonly provider: string | null;
  readonly status: string | null;
  readonly healthScore: number | null;
  readonly dailyLimit: number | null;
  readonly warmupDay: number | null;
  readonly createdAt?: EpochMs;
}

/** GET /v1/mailboxes. `truncated` means that the answer announces further pages. */
export interface MailboxList {
  readonly mailboxes: readonly MailboxEntry[];
  readonly truncated: boolean;
}

export interface MailboxDetail {
  readonly status: string | null;
  readonly healthScore: number | null;
  readonly dailyLimit: number | null;
  /** unclear: the field was absent or an empty text or object (docs/faults.md S7). */
  readonly connection: 'connected' | 'error' | 'unclear';
  readonly connectionError: string | null;
  readonly warmupStartedAt?: EpochMs;
}

interface WarmupConfig {
  readonly targetDailyLimit: number | null;
  readonly replyRate: number | null;
  readonly threadRate: number | null;
  readonly weekdaysOnly: boolean | null;
  readonly sendWindowStart: number | null;
  readonly sendWindowEnd: number | null;
}

export interface RecentBounce {
  readonly type: string | null;
  readonly category: string | null;
}

export interface WarmupAnswer {
  /** The status word as sent. The guard decides which words mean paused or running. */
  readonly status: string | null;
  /** The warmup_mode as sent: a WarmupMode or an unknown word. */
  readonly mode: string | null;
  readonly dailyLimit: number | null;
  readonly warmupDay: number | null;
  readonly healthScore: number | null;
  readonly config: WarmupConfig;
  /** Bounces among recent_emails, for show only. */
  readonly recentBounces: readonly RecentBounce[];
  /** Marks a listed mailbox without a warm-up: both the warm-up and the statistics were answered with 404. */
  readonly isAbsent?: true;
}

/** Counts are raw: the guard checks them. */
export interface StatsRow {
  readonly date: IsoDate | null;
  readonly sent: number | null;
  readonly bounced: number | null;
  readonly delivered: number | null;
  readonly opened: number | null;
  readonly replied: number | null;
  readonly spamLanded: number | null;
  /** Percent, 0 to 100. For show and cross-check only. */
  readonly inboxRatePercent: number | null;
  readonly bounceRatePercent: number | null;
  readonly healthScore: number | null;
}

type Count = number | null;
type StatsValues = readonly [IsoDate | null, Count, Count, Count, Count, Count, Count, Count, Count, Count];

/** Values of a row, in the order of its fields. */
export function statsValues(row: StatsRow): StatsValues {
  const counts = [row.date, row.sent, row.bounced, row.delivered, row.opened, row.replied, row.spamLanded] as const;
  return [...counts, row.inboxRatePercent, row.bounceRatePercent, row.healthScore];
}

/** Makes every row: rows of one shape are smaller, and V8 reads them faster. */
export function statsRow(values: StatsValues): StatsRow {
  const [date, sent, bounced, delivered, opened, replied, spamLanded, ...rates] = values;
  const [inboxRatePercent, bounceRatePercent, healthScore] = rates;
  return {
    date,
    sent,
    bounced,
    delivered,
    opened,
    replied,
    spamLanded,
    inboxRatePercent,
    bounceRatePercent,
    healthScore,
  };
}

/** GET /v1/stats. `rows` is null when `stats` was no array. */
export interface StatsAnswer {
  readonly rows: readonly StatsRow[] | null;
}

export const dnsRecords = ['spf', 'dkim', 'dmarc'] as const;
export type DnsRecordName = (typeof dnsRecords)[number];

/** GET /v1/dns. `pass` null: inconclusive (temperror, pending), never an alert nor a resolve. */
export interface DnsAnswer {
  readonly domain: string | null;
  readonly checkedAt: string | null;
  readonly source?: string;
  readonly records: Readonly<Record<DnsRecordName, DnsRecord>>;
}
export interface DnsRecord {
  readonly status: string | null;
  readonly pass: boolean | null;
  readonly record: string | null;
  /** Marks a word that is in no list of `api.dns_words`. */
  readonly isUnlisted?: true;
}

/** GET /v1/blacklist. `listed` null: inconclusive (nothing was checked). */
export interface BlacklistAnswer {
  readonly domain: string | null;
  readonly ip: string | null;
  readonly checkedAt: string | null;
  readonly listed: boolean | null;
  readonly lists: readonly string[];
  readonly found: number | null;
  readonly checked: number | null;
}

/** Routes whose answers are measurements that the API makes in its own time, or on refresh=true. */
export const measuredRoutes = ['dns', 'blacklist'] as const;
export type MeasuredRoute = (typeof measuredRoutes)[number];

type Measured = DnsAnswer | BlacklistAnswer;

export function measuredAt(answer: Measured | undefined): EpochMs | null {
  const at = Date.parse(answer?.checkedAt ?? '');
  return Number.isNaN(at) ? null : at;
}

/** True if two answers show the same cached measurement. Answers without a moment always differ. */
export function isSameMeasurement(one: Measured | undefined, other: Measured | undefined): boolean {
  if (one?.checkedAt !== other?.checkedAt || measuredAt(one) === null) return false;
  return JSON.stringify({ ...one, source: null }) === JSON.stringify({ ...other, source: null });
}

export interface StaleMeasurement {
  /** Age in milliseconds at the reading from which a measurement is stale. */
  readonly olderThanMs: number;
  /** An answer from before this moment is stale: later polls brought none. -Infinity if no poll was due. */
  readonly unreadSince: EpochMs;
}

// Meanings of the API's words for a DNS record. Its document shows `pass` alone.

export interface DnsWords {
  readonly passing: readonly string[];
  readonly failing: readonly string[];
  /** Words for a pending or failed check, which neither fires an alert nor ends one. */
  readonly unclear: readonly string[];
}

export const usualDnsWords: DnsWords = {
  passing: ['pass', 'passed', 'passing', 'valid', 'ok'],
  failing: ['fail', 'failed', 'failing', 'softfail', 'missing', 'none', 'invalid', 'not_found', 'permerror'],
  unclear: ['temperror', 'unknown', 'pending', 'checking', 'not_checked', 'error', 'timeout', 'neutral'],
};

/** Returns whether the record passes, `unlisted` for a word in no list, or null if the word is unclear or missing. */
export function dnsWordState(status: string | null, words: DnsWords): boolean | 'unlisted' | null {
  const word = status?.trim().toLowerCase() ?? '';
  if (word === '' || words.unclear.includes(word)) return null;
  if (words.passing.includes(word)) return true;
  return words.failing.includes(word) ? false : 'unlisted';
}
