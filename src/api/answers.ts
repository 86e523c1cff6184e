// Reads the API's answers: strict in dates and counts, tolerant elsewhere (docs/faults.md T, S). Written by hand: a
// fleet reads a thousand answers a second, and a schema costs up to ten times as much.

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
  type StatsAnswer,
  type StatsRow,
  statsRow,
  statsValues,
  usualDnsWords,
  type WarmupAnswer,
} from '../core/answers.ts';
import { isWarmupMode } from '../core/policy.ts';
import { isIsoDate } from '../core/time.ts';
import { fieldsOf, isObject, type JsonFields } from '../world/schema/json.ts';
import { failed, jsonText, malformed, quote, type Result, saysMore } from './http/failure.ts';

/** Sentences about doubtful values by field: numbers that are none, and listings that contradict themselves (S1, S5). */
type Doubts = Map<string, string>;

/** Reads a number, or a plain decimal text such as "98.50" (S1, T2). `place`: beginning of the field's name. */
function numberIn(fields: JsonFields, name: string, doubts: Doubts, place = ''): number | null {
  const value = fields[name];
  if (value === null || value === undefined) return null;
  const number = typeof value === 'string' && /^-?\d+(\.\d+)?$/.test(value.trim()) ? Number(value) : value;
  if (typeof number === 'number' && Number.isFinite(number)) return number;
  const field = `${place}${name}`;
  if (!doubts.has(field))
    doubts.set(field, `${field} is not a plain number: ${quote(jsonText(value))}; it counts as unknown`);
  return null;
}

const maxTextLetters = 1_000;
/** A longer list counts as incomplete. */
const maxMailboxes = 20_000;
/** No API has statistics of more days, so such an answer is malformed. */
const maxRows = 4_000;
const maxListNames = 1_000;
const maxRecordLetters = 4_096;

function readText(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? cut(value, maxTextLetters) : null;
}

/** Cuts a text. JSON or the cut may leave half a surrogate pair, which cannot be part of an address. */
function cut(text: string, letters: number): string {
  return text.slice(0, letters).toWellFormed();
}

function readFlag(value: unknown): boolean | null {
  return typeof value === 'boolean' ? value : null;
}

/** Reads JSON of a checked shape, or returns null if the answer is malformed. */
export type Reader<Answer> = (body: unknown, doubts?: Doubts) => Answer | null;

function reader<Answer>(read: (fields: JsonFields, doubts: Doubts) => Answer | null): Reader<Answer> {
  return (body, doubts = new Map()) => (isObject(body) ? read(body, doubts) : null);
}

export const readHealth: Reader<HealthAnswer> = reader((body) => {
  const [status, version] = [clipped(readText(body['status'])), clipped(readText(body['version']))];
  return { status, version, timestamp: momentOf(body['timestamp']) };
});

function readEntry(raw: unknown, doubts: Doubts): MailboxEntry | null {
  const fields = fieldsOf(raw);
  const [id, email] = [readId(fields), addressIn(fields)];
  if (id === null || email === null) return null;
  return {
    id,
    email: email.toWellFormed(),
    provider: readText(fields['provider']),
    status: readText(fields['status']),
    healthScore: numberIn(fields, 'health_score', doubts, 'mailboxes.'),
    dailyLimit: numberIn(fields, 'daily_limit', doubts, 'mailboxes.'),
    warmupDay: numberIn(fields, 'warmup_day', doubts, 'mailboxes.'),
    ...momentIn(fields, 'created_at', 'createdAt'),
  };
}

/** Takes the address out of spaces, `Ada <ada@acme.example>`, and the dot of a full domain name: `exclude` and `overrides` match it. */
function addressIn({ email }: JsonFields): string | null {
  if (!isName(email)) return null;
  const text = email.trim();
  const address = /<([^<>]*@[^<>]*)>$/.exec(text)?.[1]?.trim() ?? text;
  return address.replace(/\.$/, '') || null;
}

function momentIn<Name extends string>(
  fields: JsonFields,
  field: string,
  name: Name,
): { readonly [Key in Name]?: number } {
  const at = momentOf(fields[field]);
  return at === null ? {} : ({ [name]: at } as { readonly [Key in Name]?: number });
}

/** A date or an ISO time without a zone is UTC. Other texts without a zone are unknown: they would be local time. */
function momentOf(value: unknown): number | null {
  const text = readText(value)?.trim() ?? '';
  const isWithoutZone = /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d([.,]\d+)?)?$/.test(text);
  const hasZone = /(?:Z|UTC|GMT|[+-]\d\d:?\d\d)$/i.test(text);
  const at = Date.parse(isWithoutZone ? `${text.replace(' ', 'T').replace(',', '.')}Z` : text);
  return Number.isNaN(at) || !(isWithoutZone || hasZone) ? null : at;
}

/** Ids that cannot be part of a URL's path: GET /v1/mailboxes/.. requests /v1/. */
const pathWords: readonly string[] = ['.', '..'];

/** Reads an id, a text or a number. Returns null if it is missing or can be neither requested nor stored. */
function readId({ id }: JsonFields): string | null {
  const known = typeof id === 'number' && Number.isFinite(id) ? String(id) : id;
  if (!isName(known) || pathWords.includes(known)) return null;
  return known.isWellFormed() && !known.includes('\0') ? known : null;
}

function isName(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && value.length <= maxTextLetters;
}

export const readMailboxes: Reader<MailboxList> = reader((body, doubts) => {
  const { mailboxes } = body;
  if (!Array.isArray(mailboxes)) return null;
  const byId = new Map<string, MailboxEntry>();
  let unreadable = mailboxes.length > maxMailboxes;
  for (const one of mailboxes.slice(0, maxMailboxes)) {
    const entry = readEntry(one, doubts);
    if (entry) byId.set(entry.id, entry);
    else unreadable = true;
  }
  return { mailboxes: [...byId.values()], truncated: unreadable || saysMore(body, mailboxes.length) };
});

function readConnection(body: JsonFields): Pick<MailboxDetail, 'connection' | 'connectionError'> {
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

export const readDetail: Reader<MailboxDetail> = reader((body, doubts) => {
  if (readId(body) === null) return null;
  return {
    status: readText(body['status']),
    healthScore: numberIn(body, 'health_score', doubts),
    dailyLimit: numberIn(body, 'daily_limit', doubts),
    ...readConnection(body),
    ...momentIn(body, 'warmup_started_at', 'warmupStartedAt'),
  };
});

const maxRecentMails = 200;

function bouncesOf(recentEmails: unknown): readonly RecentBounce[] {
  const mails = Array.isArray(recentEmails) ? Array.from(recentEmails.slice(0, maxRecentMails), fieldsOf) : [];
  const bounces: RecentBounce[] = [];
  for (const mail of mails) {
    const [type, category] = [readText(mail['bounce_type']), readText(mail['bounce_category'])];
    if (type || category) bounces.push({ type: clipped(type), category: clipped(category) });
  }
  return bounces;
}

/** Normalizes the spelling of a documented mode. Any other word stays as it is. */
function modeOf(word: string | null): string | null {
  const plain = word?.trim().toLowerCase() ?? null;
  return isWarmupMode(plain) ? plain : word;
}

function clipped(word: string | null): string | null {
  return word === null ? null : quote(word);
}

export const readWarmup: Reader<WarmupAnswer> = reader((body, doubts) => {
  const isUnsaid = readText(body['status']) === null && readText(body['warmup_mode']) === null;
  return isUnsaid ? null : warmupOf(body, doubts);
});

export const absentWarmup: WarmupAnswer = { ...warmupOf({}, new Map()), isAbsent: true };

function warmupOf(body: JsonFields, doubts: Doubts): WarmupAnswer {
  const config = fieldsOf(body['config']);
  return {
    status: readText(body['status']),
    // An answer to an update has the mode inside config (T3).
    mode: modeOf(readText(body['warmup_mode']) ?? readText(config['warmup_mode'])),
    dailyLimit: numberIn(body, 'daily_limit', doubts),
    warmupDay: numberIn(body, 'warmup_day', doubts),
    healthScore: numberIn(body, 'health_score', doubts),
    config: {
      targetDailyLimit: numberIn(config, 'target_daily_limit', doubts, 'config.'),
      replyRate: numberIn(config, 'reply_rate', doubts, 'config.'),
      threadRate: numberIn(config, 'thread_rate', doubts, 'config.'),
      weekdaysOnly: readFlag(config['weekdays_only']),
      sendWindowStart: numberIn(config, 'send_window_start', doubts, 'config.'),
      sendWindowEnd: numberIn(config, 'send_window_end', doubts, 'config.'),
    },
    recentBounces: bouncesOf(body['recent_emails']),
  };
}

/** A date as it is (JSON.parse shares equal short strings), that of a midnight in UTC or without an offset, or null. */
function dateOf(value: unknown): string | null {
  if (typeof value !== 'string') return null;
  const [, date] = /^(\d{4}-\d\d-\d\d)(?:[T ]00:00(?::00(?:\.0+)?)?(?:Z|[+-]00:?00)?)?$/.exec(value) ?? [];
  return date && isIsoDate(date) ? (date === value ? value : date) : null;
}

function readRow(raw: unknown, doubts: Doubts): StatsRow {
  const row = fieldsOf(raw);
  const number = (name: string) => numberIn(row, name, doubts, 'stats.');
  const counts = [number('sent'), number('bounced'), number('delivered'), number('opened'), number('replied')] as const;
  const rates = [number('inbox_rate'), number('bounce_rate'), number('health_score')] as const;
  return statsRow([dateOf(row['date']), ...counts, number('spam_landed'), ...rates]);
}

function isSameRow(one: StatsRow, other: StatsRow): boolean {
  const values = statsValues(other);
  return statsValues(one).every((value, index) => value === values[index]);
}

/**
 * Accepts any object: the guard judges whether `stats` is an array of good rows (bad_payload, invalid_row). Rows that
 * are in `known`, which are most, stay the same objects: V8 moves and collects new ones at a cost.
 */
function statsReader(known: StatsAnswer | null): Reader<StatsAnswer> {
  const before = new Map(known?.rows?.map((row) => [row.date, row]));
  return reader(({ stats }, doubts) => {
    if (!Array.isArray(stats)) return { rows: null };
    const rowOf = (raw: unknown) => {
      const row = readRow(raw, doubts);
      const same = before.get(row.date);
      return same && isSameRow(same, row) ? same : row;
    };
    return stats.length > maxRows ? null : { rows: stats.map(rowOf) };
  });
}

export const readStats = statsReader(null);

/** Reads a word or an object (T6). Preliminary words are inconclusive (S6); an unlisted word does not pass. */
function readRecord(value: unknown, words: DnsWords): DnsRecord {
  const raw = typeof value === 'object' && value !== null ? value : { status: value };
  const status = 'status' in raw && typeof raw.status === 'string' ? cut(raw.status, maxTextLetters) : null;
  const record = 'record' in raw && typeof raw.record === 'string' ? cut(raw.record, maxRecordLetters) : null;
  const state = dnsWordState(status, words);
  return state === 'unlisted' ? { status, pass: false, record, isUnlisted: true } : { status, pass: state, record };
}

function dnsReader(words: DnsWords): Reader<DnsAnswer> {
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

/** Returns the names from any shape (S5): texts, objects with a name, a map, or only their number. */
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

export const readBlacklist: Reader<BlacklistAnswer> = reader((body, doubts) => {
  const { lists, found } = readLists(body['blacklists_found']);
  if (found !== null && body['listed'] === (found === 0)) {
    const is = found === 0 ? 'empty' : 'not empty';
    doubts.set('listed', `listed is ${body['listed']}, but blacklists_found is ${is}: Warmwarden uses listed`);
  }
  const checked = numberIn(body, 'total_checked', doubts);
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

// Interpretation of a 2xx answer, which may be an error in disguise or about another mailbox (H2, H4, H5).

const readers = {
  health: readHealth,
  mailboxes: readMailboxes,
  mailbox: readDetail,
  warmup: readWarmup,
  stats: readStats,
  dns: readDns,
  blacklist: readBlacklist,
  /** A success only means that the API accepted the request: it is read back. */
  warmup_write: (): true => true,
  /** `id` is null if the answer names none. */
  mailbox_write: reader((body): { readonly id: string | null } => ({ id: readId(body) })),
} as const;

export type RequestKind = keyof typeof readers;
export type AnswerTo<Kind extends RequestKind> = NonNullable<ReturnType<(typeof readers)[Kind]>>;

export interface Expected<Kind extends RequestKind> {
  readonly about: Kind;
  /** Mailbox that the answer must be about if it names one, or null for none. */
  readonly mailboxId: string | null;
  readonly dnsWords?: DnsWords | undefined;
  /** Answer to the same question before. */
  readonly known?: object | undefined;
}

export interface Interpreted<Kind extends RequestKind> {
  readonly result: Result<AnswerTo<Kind>>;
  readonly doubts: ReadonlyMap<string, string>;
  /** Number of days that the statistics say they hold, or null if they do not say. */
  readonly days: number | null;
}

export function interpret<Kind extends RequestKind>(
  { about, mailboxId, dnsWords, known }: Expected<Kind>,
  { status, json, nextPage }: { readonly status: number; readonly json: Result<unknown>; readonly nextPage: boolean },
): Interpreted<Kind> {
  const without = (result: Result<AnswerTo<Kind>>): Interpreted<Kind> => ({ result, doubts: new Map(), days: null });
  if (!json.ok) return without(json);
  const body = json.value;
  const quoted = () => quote(jsonText(body));
  if (!isObject(body)) return without(malformed(status, `the body is not a JSON object: ${quoted()}`));
  if (body['error'] || body['success'] === false) {
    const detail = `HTTP ${status}, but it says: ${quoted()}`;
    return without(failed({ kind: 'refused', status, detail, retryAfterMs: null }));
  }
  if (!isAbout(body[about === 'mailbox' ? 'id' : 'mailbox_id'], mailboxId)) {
    return without(malformed(status, 'the answer is about another mailbox'));
  }
  const withWords = about === 'dns' && dnsWords ? dnsReader(dnsWords) : readers[about];
  const read = about === 'stats' && known ? statsReader(known as StatsAnswer) : withWords;
  const doubts: Doubts = new Map();
  const answer = read(nextPage ? { ...body, has_more: true } : body, doubts) as AnswerTo<Kind> | null;
  if (answer === null) return without(malformed(status, `the body is not what the document describes: ${quoted()}`));
  return { result: { ok: true, value: answer }, doubts, days: daysIn(body['period']) };
}

function daysIn(period: unknown): number | null {
  const [, days] = (typeof period === 'string' && /^(\d{1,4})d$/.exec(period.trim())) || [];
  return days === undefined ? null : Number(days);
}

/** An answer without a mailbox counts as being about any. */
function isAbout(named: unknown, mailboxId: string | null): boolean {
  if (mailboxId === null || named === undefined || named === null) return true;
  return (typeof named === 'string' || typeof named === 'number') && String(named) === mailboxId;
}
