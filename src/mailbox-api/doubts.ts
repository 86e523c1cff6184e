// What in an answer can't be believed as it stands: numbers that are none, and a listing that contradicts itself. docs/faults.md S1, S5.
import { jsonText, quote } from '../http/failure.ts';
import { isPlainDecimal } from './plain-decimal.ts';

/** Fields that the document calls numbers, wherever they stand. */
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

/** More items of a list are not looked at. */
const maxItems = 20_000;

/** By field: a sentence about it. */
export type Doubts = ReadonlyMap<string, string>;

/** The doubtful fields of an answer, each once; absent fields and null are no cause for doubt. */
export function doubtsOf(body: Readonly<Record<string, unknown>>): Doubts {
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
  // A list of the names, of each of thirty rows, would take more room than what is read of them.
  for (const name in fields) {
    const value = fields[name];
    if (value === null || Number.isFinite(value) || !numbers.has(name)) continue;
    if (typeof value === 'string' && isPlainDecimal(value)) continue;
    const field = `${place}${name}`;
    if (doubts.has(field)) continue;
    doubts.set(field, `${field} is not a plain number: ${quote(jsonText(value))}; it counts as unknown`);
  }
}
