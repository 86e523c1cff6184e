// Interprets a 2xx answer: JSON of the documented shape, about the requested mailbox, and no error in disguise (H2, H4,
// H5).

import type { DnsWords } from '../core/answers.ts';
import {
  dnsReader,
  isPlainDecimal,
  readBlacklist,
  readDetail,
  readDns,
  readHealth,
  readMailboxes,
  readStats,
  readWarmup,
} from './answers.ts';
import { failed, jsonText, malformed, quote, type Result } from './http/failure.ts';

// Doubtful values of an answer: numbers that are none, and a listing that contradicts itself. docs/faults.md S1, S5.

/** Fields that the document describes as numbers, at any place. */
const numbers: ReadonlySet<string> = new Set([
  'health_score',
  'daily_limit',
  'warmup_day',
  'sent',
  'bounced',
  'delivered',
  'opened',
  'replied',
  'spam_landed',
  'inbox_rate',
  'bounce_rate',
  'total_checked',
  'target_daily_limit',
  'reply_rate',
  'thread_rate',
  'send_window_start',
  'send_window_end',
]);

/** Maximum number of items of a list that are checked. */
const maxItems = 20_000;

/** Sentences about doubtful fields, by field. */
type Doubts = ReadonlyMap<string, string>;

/** Returns the doubtful fields of an answer, each once. Absent fields and null raise no doubt. */
function doubtsOf(body: Readonly<Record<string, unknown>>): Doubts {
  const doubts = new Map<string, string>();
  doubtNumbers(body, '', doubts);
  for (const holder of ['config', 'stats', 'mailboxes']) {
    const held = body[holder];
    const items = Array.isArray(held) ? held.slice(0, maxItems) : [held];
    for (const item of items) doubtNumbers(item, `${holder}.`, doubts);
  }
  const { listed, blacklists_found: lists } = body;
  if (listed === false && Array.isArray(lists) && lists.length > 0) {
    doubts.set('listed', 'listed is false, but blacklists_found is not empty: Warmwarden uses listed');
  } else if (listed === true && Array.isArray(lists) && lists.length === 0) {
    doubts.set('listed', 'listed is true, but blacklists_found is empty: Warmwarden uses listed');
  }
  return doubts;
}

function doubtNumbers(holder: unknown, place: string, doubts: Map<string, string>): void {
  if (typeof holder !== 'object' || holder === null) return;
  const fields = holder as Readonly<Record<string, unknown>>;
  // Iterates in place: an array of names for each of thirty rows would take more memory than the values.
  for (const name in fields) {
    const value = fields[name];
    if (value === null || Number.isFinite(value) || !numbers.has(name)) continue;
    if (typeof value === 'string' && isPlainDecimal(value)) continue;
    const field = `${place}${name}`;
    if (doubts.has(field)) continue;
    doubts.set(field, `${field} is not a plain number: ${quote(jsonText(value))}; it counts as unknown`);
  }
}

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
} as const;

/** Purpose of a request. */
export type RequestKind = keyof typeof readers;
export type AnswerTo<Kind extends RequestKind> = NonNullable<ReturnType<(typeof readers)[Kind]>>;

export interface Expected<Kind extends RequestKind> {
  readonly about: Kind;
  /** Mailbox that the answer must be about if it names one, or null for none. */
  readonly mailboxId: string | null;
  /** Meaning of the DNS words. Default: the usual ones. */
  readonly dnsWords?: DnsWords | undefined;
}

/** A successful answer. */
interface Said {
  readonly status: number;
  /** Body without secrets. */
  readonly json: Result<unknown>;
  /** True if the head names a next page. */
  readonly nextPage: boolean;
}

export interface Interpreted<Kind extends RequestKind> {
  readonly result: Result<AnswerTo<Kind>>;
  readonly doubts: Doubts;
  /** Number of days that the statistics say they hold, or null if they do not say. */
  readonly days: number | null;
}

export function interpret<Kind extends RequestKind>(
  { about, mailboxId, dnsWords }: Expected<Kind>,
  { status, json, nextPage }: Said,
): Interpreted<Kind> {
  const without = (result: Result<AnswerTo<Kind>>): Interpreted<Kind> => ({ result, doubts: new Map(), days: null });
  if (!json.ok) return without(json);
  const body = json.value;
  const quoted = () => quote(jsonText(body));
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    return without(malformed(status, `the body is not a JSON object: ${quoted()}`));
  }
  const fields = body as Readonly<Record<string, unknown>>;
  if (fields['error'] || fields['success'] === false) {
    const detail = `HTTP ${status}, but it says: ${quoted()}`;
    return without(failed({ kind: 'refused', status, detail, retryAfterMs: null }));
  }
  if (!isAbout(fields[about === 'mailbox' ? 'id' : 'mailbox_id'], mailboxId)) {
    return without(malformed(status, 'the answer is about another mailbox'));
  }
  const read = about === 'dns' && dnsWords ? dnsReader(dnsWords) : readers[about];
  const answer = read(nextPage ? { ...body, has_more: true } : body) as AnswerTo<Kind> | null;
  if (answer === null) return without(malformed(status, `the body is not what the document describes: ${quoted()}`));
  return { result: { ok: true, value: answer }, doubts: doubtsOf(fields), days: daysIn(fields['period']) };
}

/** Reads a period such as `7d`. */
function daysIn(period: unknown): number | null {
  const [, days] = (typeof period === 'string' && /^(\d{1,4})d$/.exec(period.trim())) || [];
  return days === undefined ? null : Number(days);
}

/** True if the answer is about the mailbox. An answer without a mailbox counts as being about any. */
function isAbout(named: unknown, mailboxId: string | null): boolean {
  if (mailboxId === null || named === undefined || named === null) return true;
  return (typeof named === 'string' || typeof named === 'number') && String(named) === mailboxId;
}
