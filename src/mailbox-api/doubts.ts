// What in an answer can't be believed as it stands: numbers that are none, and a listing that contradicts itself. FAULTS.md S1, S5.
import { jsonText, quote } from '../http/failure.ts';

/** Fields that the document calls numbers, wherever they stand. */
const numbers = [
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
];

const plainDecimal = /^\s*-?\d+(\.\d+)?\s*$/;

/** Called with a field's name and a sentence about it. */
export type Doubt = (field: string, sentence: string) => void;

/** Tells of every doubtful field of an answer; absent fields and null are no cause for doubt. */
export function doubtsOf(body: Readonly<Record<string, unknown>>, doubt: Doubt): void {
  doubtNumbers(body, '', doubt);
  for (const holder of ['config', 'stats', 'mailboxes']) {
    const held = body[holder];
    for (const item of Array.isArray(held) ? held : [held]) doubtNumbers(item, `${holder}.`, doubt);
  }
  const { listed, blacklists_found: lists } = body;
  if (listed === false && Array.isArray(lists) && lists.length > 0) {
    doubt('listed', 'listed is false, but blacklists_found is not empty: listed counts');
  } else if (listed === true && Array.isArray(lists) && lists.length === 0) {
    doubt('listed', 'listed is true, but blacklists_found is empty: listed counts');
  }
}

function doubtNumbers(holder: unknown, place: string, doubt: Doubt): void {
  if (typeof holder !== 'object' || holder === null) return;
  const fields = holder as Readonly<Record<string, unknown>>;
  for (const name of numbers) {
    const value = fields[name];
    if (value === undefined || value === null || Number.isFinite(value)) continue;
    if (typeof value === 'string' && plainDecimal.test(value)) continue;
    const field = `${place}${name}`;
    doubt(field, `${field} is no plain number: ${quote(jsonText(value))}; it counts as unknown`);
  }
}
