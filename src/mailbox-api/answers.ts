// Reads the API's answers: strict in dates and counts, tolerant elsewhere. Source: api/mailbox-api.md section 2; docs/faults.md T, S.
import { z } from 'zod';
import { jsonText, quote } from '../http/failure.ts';
import {
  type BlacklistAnswer,
  type DnsAnswer,
  type DnsRecord,
  dnsRecords,
  type HealthAnswer,
  type MailboxDetail,
  type MailboxEntry,
  type MailboxList,
  type RecentBounce,
  type RecentEmails,
  type StatsAnswer,
  type StatsRow,
  type WarmupAnswer,
} from '../model/answers.ts';
import { isoDateOf } from '../model/time.ts';

/** A number, or a plain decimal text such as "98.50" (S1, T2). Anything else is unknown. */
function readDecimal(value: unknown): number | null {
  if (typeof value === 'number') return Number.isFinite(value) ? value : null;
  const read = typeof value === 'string' && /^-?\d+(\.\d+)?$/.test(value.trim()) ? Number(value) : null;
  return read !== null && Number.isFinite(read) ? read : null;
}

/** A record's fields; of anything else (a list, PHP's empty object `[]`) none. */
function fieldsOf(value: unknown): object {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : {};
}

/** Texts are words, names and addresses; what is longer is cut. */
const maxTextLetters = 1_000;
/** More of a list is not read, and the list counts as not whole. */
const maxMailboxes = 20_000;
/** More days than an API can know are no answer. */
const maxRows = 4_000;
const maxListNames = 1_000;
const maxRecordLetters = 4_096;

function readText(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value.slice(0, maxTextLetters) : null;
}

const decimal = z.unknown().optional().transform(readDecimal);
const text = z.unknown().optional().transform(readText);
const flag = z
  .unknown()
  .optional()
  .transform((value) => (typeof value === 'boolean' ? value : null));
const identifier = z.union([z.string().min(1).max(maxTextLetters), z.number().transform(String)]);

/** Reads JSON of a checked shape; a null answer is malformed. */
export type Reader<Answer> = (body: unknown) => Answer | null;

function reader<Schema extends z.ZodType, Answer>(
  schema: Schema,
  shape: (parsed: z.output<Schema>) => Answer,
): Reader<Answer> {
  return (body) => {
    const parsed = schema.safeParse(body);
    return parsed.success ? shape(parsed.data) : null;
  };
}

export const readHealth: Reader<HealthAnswer> = reader(
  z.object({ status: text, version: text, timestamp: text }),
  ({ status, version, timestamp }) => {
    const at = Date.parse(timestamp ?? '');
    return { status: clipped(status), version: clipped(version), timestamp: Number.isNaN(at) ? null : at };
  },
);

/** One mailbox of the list, by hand: there may be thousands, and a schema costs ten times as much. null: unreadable. */
function readEntry(raw: unknown): MailboxEntry | null {
  const fields = fieldsOf(raw) as Readonly<Record<string, unknown>>;
  const { id, email } = fields;
  const known = typeof id === 'number' && Number.isFinite(id) ? String(id) : id;
  if (!isName(known) || !isName(email)) return null;
  return {
    id: known,
    email,
    provider: readText(fields['provider']),
    status: readText(fields['status']),
    healthScore: readDecimal(fields['health_score']),
    dailyLimit: readDecimal(fields['daily_limit']),
    warmupDay: readDecimal(fields['warmup_day']),
  };
}

function isName(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && value.length <= maxTextLetters;
}

/** Signs that the list goes on elsewhere (S8): nobody may be taken for gone then. */
function saysMore(body: Record<string, unknown>): boolean {
  return ['next', 'next_page', 'next_cursor', 'cursor'].some((key) => Boolean(body[key])) || body['has_more'] === true;
}

/** By hand as its entries are: no other answer is so long. */
export const readMailboxes: Reader<MailboxList> = (raw) => {
  const body = fieldsOf(raw) as Record<string, unknown>;
  const { mailboxes } = body;
  if (!Array.isArray(mailboxes)) return null;
  const byId = new Map<string, MailboxEntry>();
  let unreadable = mailboxes.length > maxMailboxes;
  for (const one of mailboxes.slice(0, maxMailboxes)) {
    const entry = readEntry(one);
    if (entry) byId.set(entry.id, entry);
    else unreadable = true;
  }
  return { mailboxes: [...byId.values()], truncated: unreadable || saysMore(body) };
};

function readConnection(body: object): Pick<MailboxDetail, 'connection' | 'connectionError'> {
  if (!('connection_error' in body)) return { connection: 'unclear', connectionError: null };
  const value = body.connection_error;
  if (value === null) return { connection: 'connected', connectionError: null };
  const said = typeof value === 'string' ? value : jsonText(value);
  if (value === undefined || ['', '{}', '[]', 'false'].includes(said.trim())) {
    return { connection: 'unclear', connectionError: null };
  }
  return { connection: 'error', connectionError: quote(said) };
}

export const readDetail: Reader<MailboxDetail> = reader(
  z.looseObject({ id: identifier, status: text, health_score: decimal, daily_limit: decimal }),
  (body) => ({
    status: body.status,
    healthScore: body.health_score,
    dailyLimit: body.daily_limit,
    ...readConnection(body),
  }),
);

const warmupConfig = z.preprocess(
  fieldsOf,
  z
    .object({
      target_daily_limit: decimal,
      reply_rate: decimal,
      thread_rate: decimal,
      weekdays_only: flag,
      send_window_start: decimal,
      send_window_end: decimal,
      warmup_mode: text,
    })
    .partial(),
);

/** So many recent emails are looked at. */
const maxRecentMails = 200;

const recentMail = z.preprocess(
  fieldsOf,
  z.object({
    bounce_type: text,
    bounce_category: text,
    status: text,
    landed_in: text,
    scheduled_at: text,
    sent_at: text,
  }),
);
type RecentMail = z.output<typeof recentMail>;

/** What can't be read of them is left out, for no decision rests on it. */
const recentMails = z
  .unknown()
  .optional()
  .transform((raw): readonly RecentMail[] => {
    const mails = Array.isArray(raw) ? raw.slice(0, maxRecentMails) : [];
    return mails.flatMap((mail) => recentMail.safeParse(mail).data ?? []);
  });

function bouncesOf(mails: readonly RecentMail[]): readonly RecentBounce[] {
  return mails.flatMap((mail) =>
    mail.bounce_type || mail.bounce_category
      ? [{ type: clipped(mail.bounce_type), category: clipped(mail.bounce_category) }]
      : [],
  );
}

/** The document shows `inbox` and `sent` alone: these are the usual words beside them. */
const spamFolder = /spam|junk/;
const noFolder = ['', 'none', 'unknown', 'pending', 'not_found'];
const waitingWords = ['scheduled', 'queued', 'pending', 'waiting'];

function recentEmailsOf(mails: readonly RecentMail[]): RecentEmails {
  const folders = mails.map(({ landed_in }) => landed_in?.trim().toLowerCase() ?? '');
  const placed = folders.filter((folder) => !noFolder.includes(folder));
  const moments = (texts: readonly (string | null)[]) =>
    texts.map((time) => Date.parse(time ?? '')).filter((at) => !Number.isNaN(at));
  const unsent = mails.filter(
    (mail) => !mail.sent_at && waitingWords.includes(mail.status?.trim().toLowerCase() ?? ''),
  );
  const waiting = moments(unsent.map(({ scheduled_at }) => scheduled_at));
  const sent = moments(mails.map(({ sent_at }) => sent_at));
  return {
    placed: placed.length,
    inSpam: placed.filter((folder) => spamFolder.test(folder)).length,
    waitingSince: waiting.length === 0 ? null : Math.min(...waiting),
    lastSentAt: sent.length === 0 ? null : Math.max(...sent),
  };
}

function clipped(word: string | null): string | null {
  return word === null ? null : quote(word);
}

/** Without a status and without a mode an answer says nothing about the warm-up. */
export const readWarmup: Reader<WarmupAnswer> = reader(
  z
    .object({
      status: text,
      health_score: decimal,
      daily_limit: decimal,
      warmup_day: decimal,
      warmup_mode: text,
      config: warmupConfig,
      recent_emails: recentMails,
    })
    .refine((raw) => raw.status !== null || raw.warmup_mode !== null),
  (raw) => ({
    status: raw.status,
    // The mode stands at the top; in an update's answer it stands inside config (T3).
    mode: raw.warmup_mode ?? raw.config.warmup_mode ?? null,
    dailyLimit: raw.daily_limit,
    warmupDay: raw.warmup_day,
    healthScore: raw.health_score,
    config: {
      targetDailyLimit: raw.config.target_daily_limit ?? null,
      replyRate: raw.config.reply_rate ?? null,
      threadRate: raw.config.thread_rate ?? null,
      weekdaysOnly: raw.config.weekdays_only ?? null,
      sendWindowStart: raw.config.send_window_start ?? null,
      sendWindowEnd: raw.config.send_window_end ?? null,
    },
    recentBounces: bouncesOf(raw.recent_emails),
    recentEmails: recentEmailsOf(raw.recent_emails),
  }),
);

/** One row, by hand: there are thirty in an answer, and a schema costs ten times as much. */
function readRow(raw: unknown): StatsRow {
  const row = fieldsOf(raw) as Readonly<Record<string, unknown>>;
  const { date } = row;
  return {
    date: typeof date === 'string' ? isoDateOf(date) : null,
    sent: readDecimal(row['sent']),
    bounced: readDecimal(row['bounced']),
    delivered: readDecimal(row['delivered']),
    opened: readDecimal(row['opened']),
    replied: readDecimal(row['replied']),
    spamLanded: readDecimal(row['spam_landed']),
    inboxRatePercent: readDecimal(row['inbox_rate']),
    bounceRatePercent: readDecimal(row['bounce_rate']),
    healthScore: readDecimal(row['health_score']),
  };
}

/** Any object is an answer; whether `stats` is an array of good rows is the guard's matter (bad_payload, invalid_row). */
const statsBody = z.looseObject({}).refine(({ stats }) => !Array.isArray(stats) || stats.length <= maxRows);

export const readStats: Reader<StatsAnswer> = reader(statsBody, (body) => ({
  rows: Array.isArray(body['stats']) ? body['stats'].map(readRow) : null,
}));

const passingWords = ['pass', 'passed', 'passing', 'valid', 'ok'];
const failingWords = ['fail', 'failed', 'failing', 'softfail', 'missing', 'none', 'invalid', 'not_found', 'permerror'];

/** A record's status as word or object (T6); temperror, pending and unknown words are inconclusive (S6). */
function readRecord(value: unknown): DnsRecord {
  const raw = typeof value === 'object' && value !== null ? value : { status: value };
  const status = 'status' in raw && typeof raw.status === 'string' ? raw.status.slice(0, maxTextLetters) : null;
  const record = 'record' in raw && typeof raw.record === 'string' ? raw.record.slice(0, maxRecordLetters) : null;
  const word = status?.trim().toLowerCase() ?? '';
  const pass = passingWords.includes(word) ? true : failingWords.includes(word) ? false : null;
  return { status, pass, record };
}

export const readDns: Reader<DnsAnswer> = reader(z.looseObject({ domain: text, checked_at: text }), (body) => ({
  domain: body.domain,
  checkedAt: body.checked_at,
  records: Object.fromEntries(dnsRecords.map((name) => [name, readRecord(body[name])])) as DnsAnswer['records'],
}));

/** Names of the lists, whatever shape they come in (S5): texts, objects with a name, a map, or only their number. */
function readLists(value: unknown): { readonly lists: readonly string[]; readonly found: number | null } {
  if (typeof value === 'number') return { lists: [], found: Number.isInteger(value) && value >= 0 ? value : null };
  if (typeof value !== 'object' || value === null) return { lists: [], found: null };
  const items: readonly unknown[] = Array.isArray(value) ? value : Object.keys(value);
  return { lists: items.slice(0, maxListNames).map((item) => quote(listName(item))), found: items.length };
}

function listName(item: unknown): string {
  if (typeof item === 'string') return item;
  const fields = Object.entries(fieldsOf(item));
  const named = fields.find(
    ([key, name]) => ['name', 'list', 'blacklist', 'host'].includes(key) && typeof name === 'string',
  );
  return typeof named?.[1] === 'string' ? named[1] : jsonText(item);
}

export const readBlacklist: Reader<BlacklistAnswer> = reader(
  z.looseObject({ domain: text, ip: text, checked_at: text, listed: flag, total_checked: decimal }),
  (body) => {
    const { lists, found } = readLists(body['blacklists_found']);
    const nothingChecked = body.total_checked === 0;
    const listed = body.listed ?? (found !== null && found > 0 ? true : null);
    return {
      domain: body.domain,
      ip: body.ip,
      checkedAt: body.checked_at,
      listed: nothingChecked ? null : listed,
      lists,
      found,
      checked: body.total_checked,
    };
  },
);
