// Reads the API's answers: strict in dates and counts, tolerant elsewhere. Source: api/mailbox-api.md section 2;
// docs/faults.md T, S. The readers are written by hand: a fleet reads a thousand answers a second, and a schema costs
// up to ten times as much.

import {
  type BlacklistAnswer,
  type DnsAnswer,
  type DnsRecord,
  type DnsWords,
  dnsRecords,
  dnsWordState,
  type HealthAnswer,
  type MailboxDetail,
  type MailboxEntry,
  type MailboxList,
  type RecentBounce,
  type RecentEmails,
  type StatsAnswer,
  type StatsRow,
  usualDnsWords,
  type WarmupAnswer,
} from '../core/answers.ts';
import { isWarmupMode } from '../core/policy.ts';
import { isIsoDate } from '../core/time.ts';
import { jsonText, quote, saysMore } from './http/failure.ts';

/**
 * True for a plain decimal text: digits, with an optional minus and an optional fraction. Blanks around it are ignored.
 */
export function isPlainDecimal(text: string): boolean {
  return /^-?\d+(\.\d+)?$/.test(text.trim());
}

/** Reads a number, or a plain decimal text such as "98.50" (S1, T2). Any other value is unknown. */
function readDecimal(value: unknown): number | null {
  if (typeof value === 'number') return Number.isFinite(value) ? value : null;
  const read = typeof value === 'string' && isPlainDecimal(value) ? Number(value) : null;
  return read !== null && Number.isFinite(read) ? read : null;
}

type Fields = Readonly<Record<string, unknown>>;
const noFields: Fields = {};

/** Returns a record's fields, or no fields for any other value (a list, PHP's empty object `[]`). */
function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : noFields;
}

/** Maximum length of a text. Texts are words, names and addresses; longer ones are cut. */
const maxTextLetters = 1_000;
/** Maximum number of mailboxes that are read of a list. A longer list counts as incomplete. */
const maxMailboxes = 20_000;
/** Maximum number of rows. No API has statistics of more days, so such an answer is malformed. */
const maxRows = 4_000;
const maxListNames = 1_000;
const maxRecordLetters = 4_096;

function readText(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? cut(value, maxTextLetters) : null;
}

/**
 * Cuts a text. JSON may hold half a surrogate pair, and so may a cut text; such a text cannot be part of an address.
 */
function cut(text: string, letters: number): string {
  return text.slice(0, letters).toWellFormed();
}

function readFlag(value: unknown): boolean | null {
  return typeof value === 'boolean' ? value : null;
}

/** Reads JSON of a checked shape. A null result means that the answer is malformed. */
export type Reader<Answer> = (body: unknown) => Answer | null;

/** Reads the fields of a record. Any other value is malformed. */
function reader<Answer>(read: (fields: Fields) => Answer | null): Reader<Answer> {
  return (body) => {
    const fields = fieldsOf(body);
    return fields === noFields ? null : read(fields);
  };
}

export const readHealth: Reader<HealthAnswer> = reader((body) => {
  const at = Date.parse(readText(body['timestamp']) ?? '');
  return {
    status: clipped(readText(body['status'])),
    version: clipped(readText(body['version'])),
    timestamp: Number.isNaN(at) ? null : at,
  };
});

/** Reads a mailbox of the list. Returns null if it is unreadable. */
function readEntry(raw: unknown): MailboxEntry | null {
  const fields = fieldsOf(raw);
  const [id, { email }] = [readId(fields), fields];
  if (id === null || !isName(email)) return null;
  return {
    id,
    email: email.toWellFormed(),
    provider: readText(fields['provider']),
    status: readText(fields['status']),
    healthScore: readDecimal(fields['health_score']),
    dailyLimit: readDecimal(fields['daily_limit']),
    warmupDay: readDecimal(fields['warmup_day']),
    ...momentIn(fields, 'created_at', 'createdAt'),
  };
}

/** Returns the field as a time, or no field if it is none. */
function momentIn<Name extends string>(fields: Fields, field: string, name: Name): { readonly [Key in Name]?: number } {
  const at = Date.parse(readText(fields[field]) ?? '');
  return Number.isNaN(at) ? {} : ({ [name]: at } as { readonly [Key in Name]?: number });
}

/** Ids that cannot be part of a URL's path: GET /v1/mailboxes/.. requests /v1/. */
const pathWords: readonly string[] = ['.', '..'];

/**
 * Reads the id of a mailbox, a text or a number. Returns null if there is none, or if it can be neither requested nor
 * stored.
 */
function readId({ id }: Fields): string | null {
  const known = typeof id === 'number' && Number.isFinite(id) ? String(id) : id;
  if (!isName(known) || pathWords.includes(known)) return null;
  return known.isWellFormed() && !known.includes('\0') ? known : null;
}

function isName(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && value.length <= maxTextLetters;
}

export const readMailboxes: Reader<MailboxList> = reader((body) => {
  const { mailboxes } = body;
  if (!Array.isArray(mailboxes)) return null;
  const byId = new Map<string, MailboxEntry>();
  let unreadable = mailboxes.length > maxMailboxes;
  for (const one of mailboxes.slice(0, maxMailboxes)) {
    const entry = readEntry(one);
    if (entry) byId.set(entry.id, entry);
    else unreadable = true;
  }
  return { mailboxes: [...byId.values()], truncated: unreadable || saysMore(body, mailboxes.length) };
});

function readConnection(body: Fields): Pick<MailboxDetail, 'connection' | 'connectionError'> {
  if (!('connection_error' in body)) return { connection: 'unclear', connectionError: null };
  const value = body['connection_error'];
  if (isNoError(value)) return { connection: 'connected', connectionError: null };
  const said = typeof value === 'string' ? value : jsonText(value);
  if (value === undefined || ['', '{}', '[]', 'false'].includes(said.trim())) {
    return { connection: 'unclear', connectionError: null };
  }
  return { connection: 'error', connectionError: quote(said) };
}

/** Words that services send instead of null. "" and {} say nothing (S7). */
const noErrorWords = ['none', 'null', 'no_error', 'no error'];

function isNoError(value: unknown): boolean {
  if (value === null || value === 0) return true;
  if (typeof value === 'string') return noErrorWords.includes(value.trim().toLowerCase());
  const parts = Object.values(fieldsOf(value));
  return parts.length > 0 && parts.every((part) => part === '' || part === false || isNoError(part));
}

export const readDetail: Reader<MailboxDetail> = reader((body) => {
  if (readId(body) === null) return null;
  return {
    status: readText(body['status']),
    healthScore: readDecimal(body['health_score']),
    dailyLimit: readDecimal(body['daily_limit']),
    ...readConnection(body),
    ...momentIn(body, 'warmup_started_at', 'warmupStartedAt'),
  };
});

/** Maximum number of recent emails that are read. */
const maxRecentMails = 200;

function bouncesOf(mails: readonly Fields[]): readonly RecentBounce[] {
  const bounces: RecentBounce[] = [];
  for (const mail of mails) {
    const [type, category] = [readText(mail['bounce_type']), readText(mail['bounce_category'])];
    if (type || category) bounces.push({ type: clipped(type), category: clipped(category) });
  }
  return bounces;
}

/** Folders and words beyond the document, which shows `inbox` and `sent` alone. */
const spamFolder = /spam|junk/;
const noFolder = ['', 'none', 'unknown', 'pending', 'not_found'];
const waitingWords = ['scheduled', 'queued', 'pending', 'waiting'];

/** Summarizes recent emails. Unreadable fields are left out, as no decision rests on them. */
function recentEmailsOf(mails: readonly Fields[]): RecentEmails {
  let [placed, inSpam, waitingSince, lastSentAt] = [0, 0, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const mail of mails) {
    const folder = wordOf(mail['landed_in']);
    if (!noFolder.includes(folder)) {
      placed += 1;
      if (spamFolder.test(folder)) inSpam += 1;
    }
    const sentAt = readText(mail['sent_at']);
    if (sentAt !== null) lastSentAt = Math.max(lastSentAt, momentOf(sentAt, lastSentAt));
    else if (waitingWords.includes(wordOf(mail['status'])))
      waitingSince = Math.min(waitingSince, momentOf(readText(mail['scheduled_at']) ?? '', waitingSince));
  }
  const orNull = (at: number) => (Number.isFinite(at) ? at : null);
  return { placed, inSpam, waitingSince: orNull(waitingSince), lastSentAt: orNull(lastSentAt) };
}

const wordOf = (value: unknown) => readText(value)?.trim().toLowerCase() ?? '';

function momentOf(text: string, otherwise: number): number {
  const at = Date.parse(text);
  return Number.isNaN(at) ? otherwise : at;
}

/** Returns a mode of the document for any spelling of it. Any other word stays as it is. */
function modeOf(word: string | null): string | null {
  const plain = word?.trim().toLowerCase() ?? null;
  return isWarmupMode(plain) ? plain : word;
}

function clipped(word: string | null): string | null {
  return word === null ? null : quote(word);
}

/** Reads a warm-up answer. An answer without a status and a mode is malformed. */
export const readWarmup: Reader<WarmupAnswer> = reader((body) => {
  const [status, mode, config] = [readText(body['status']), readText(body['warmup_mode']), fieldsOf(body['config'])];
  if (status === null && mode === null) return null;
  const { recent_emails: recent } = body;
  const mails = Array.isArray(recent) ? Array.from(recent.slice(0, maxRecentMails), fieldsOf) : [];
  return {
    status,
    // The mode is a top-level field. In the answer to an update it is inside config (T3).
    mode: modeOf(mode ?? readText(config['warmup_mode'])),
    dailyLimit: readDecimal(body['daily_limit']),
    warmupDay: readDecimal(body['warmup_day']),
    healthScore: readDecimal(body['health_score']),
    config: {
      targetDailyLimit: readDecimal(config['target_daily_limit']),
      replyRate: readDecimal(config['reply_rate']),
      threadRate: readDecimal(config['thread_rate']),
      weekdaysOnly: readFlag(config['weekdays_only']),
      sendWindowStart: readDecimal(config['send_window_start']),
      sendWindowEnd: readDecimal(config['send_window_end']),
    },
    recentBounces: bouncesOf(mails),
    recentEmails: recentEmailsOf(mails),
  };
});

function readRow(raw: unknown): StatsRow {
  const row = fieldsOf(raw);
  const { date } = row;
  return {
    date: typeof date === 'string' && isIsoDate(date) ? date : null,
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

/**
 * Reads a stats answer. Any object is valid here; the guard judges whether `stats` is an array of good rows
 * (bad_payload, invalid_row).
 */
export const readStats: Reader<StatsAnswer> = reader(({ stats }) => {
  if (!Array.isArray(stats)) return { rows: null };
  return stats.length > maxRows ? null : { rows: stats.map(readRow) };
});

/**
 * Reads a record's status from a word or an object (T6). Preliminary words are inconclusive (S6); an unlisted word does
 * not pass.
 */
function readRecord(value: unknown, words: DnsWords): DnsRecord {
  const raw = typeof value === 'object' && value !== null ? value : { status: value };
  const status = 'status' in raw && typeof raw.status === 'string' ? cut(raw.status, maxTextLetters) : null;
  const record = 'record' in raw && typeof raw.record === 'string' ? cut(raw.record, maxRecordLetters) : null;
  const state = dnsWordState(status, words);
  return state === 'unlisted' ? { status, pass: false, record, isUnlisted: true } : { status, pass: state, record };
}

export function dnsReader(words: DnsWords): Reader<DnsAnswer> {
  return reader((body) => {
    const source = clipped(readText(body['source']));
    const records = dnsRecords.map((name) => [name, readRecord(body[name], words)]);
    return {
      domain: readText(body['domain']),
      checkedAt: readText(body['checked_at']),
      ...(source !== null && { source }),
      records: Object.fromEntries(records) as DnsAnswer['records'],
    };
  });
}

export const readDns = dnsReader(usualDnsWords);

/** Returns the names of the lists from any shape (S5): texts, objects with a name, a map, or only their number. */
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

export const readBlacklist: Reader<BlacklistAnswer> = reader((body) => {
  const { lists, found } = readLists(body['blacklists_found']);
  const checked = readDecimal(body['total_checked']);
  const listed = readFlag(body['listed']) ?? (found !== null && found > 0 ? true : null);
  return {
    domain: readText(body['domain']),
    ip: readText(body['ip']),
    checkedAt: readText(body['checked_at']),
    listed: checked === 0 ? null : listed,
    lists,
    found,
    checked,
  };
});
