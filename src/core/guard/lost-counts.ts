// Counts that were read, and that the API no longer shows.
import type { StatsRow } from '../answers.ts';
import type { MailboxState } from '../mailbox.ts';
import { addDays, type EpochMs, type IsoDate, utcDate } from '../time.ts';
import type { LostCounts } from './memory.ts';

/** Number of days up to today that every answer has, however few were requested. */
const daysCompared = 6;

/** Lost counts stay lost until most are back, or newer days have emails. `before`: the answer before, if another. */
export function lostAfter(
  before: readonly StatsRow[] | null,
  { rows, lost }: { readonly rows: readonly StatsRow[] | null; readonly lost: LostCounts | undefined },
  now: EpochMs,
): LostCounts | undefined {
  if (!rows) return lost;
  if (
    lost &&
    sentIn(rows, lost) * 2 <= lost.sent &&
    !rows.some(({ date, sent }) => (date ?? '') > lost.to && (sent ?? 0) > 0)
  )
    return lost;
  return before && before !== rows ? lossBetween(before, rows, now) : undefined;
}

/** Loss of at least half of the emails on the days that both answers have. */
function lossBetween(before: readonly StatsRow[], rows: readonly StatsRow[], now: EpochMs): LostCounts | undefined {
  const today = utcDate(now);
  const from = addDays(today, 1 - daysCompared);
  let [to, was, is] = [today, 0, 0];
  for (let date = from; date <= addDays(today, 1); date = addDays(date, 1)) {
    const [earlier, later] = [sentOn(before, date), sentOn(rows, date)];
    if (earlier === null || later === null || earlier === 0) continue;
    if (date > to) to = date;
    was += earlier;
    is += later;
  }
  return was > 0 && is * 2 <= was ? { from, to, sent: was } : undefined;
}

/** Emails of a date, by the fuller of two rows, or null if a count is unreadable. */
function sentOn(rows: readonly StatsRow[], date: IsoDate): number | null {
  let sent = 0;
  for (const row of rows) {
    if (row.date !== date) continue;
    if (row.sent === null || !Number.isSafeInteger(row.sent) || row.sent < 0) return null;
    if (row.sent > sent) sent = row.sent;
  }
  return sent;
}

function sentIn(rows: readonly StatsRow[], { from, to }: Omit<LostCounts, 'sent'>): number {
  let sent = 0;
  for (let date = from; date <= to; date = addDays(date, 1)) sent += sentOn(rows, date) ?? 0;
  return sent;
}

/** True if the answer shows at most a quarter of the emails counted before: no revision takes so many. */
export function isMostLost(rows: readonly StatsRow[], lost: LostCounts): boolean {
  return sentIn(rows, lost) * 4 <= lost.sent;
}

/** True if half of an account's recent emails are missing. `judged` is newer than its state in the picture. */
export function haveShrunk(mailboxes: Iterable<MailboxState>, judged: MailboxState, now: EpochMs): boolean {
  const today = utcDate(now);
  const last = { from: addDays(today, 1 - daysCompared), to: today };
  let [was, is] = [0, 0];
  for (const mailbox of mailboxes) {
    const { stats, memory } = mailbox.id === judged.id ? judged : mailbox;
    const left = sentIn(stats?.answer.rows ?? [], memory?.lost ?? last);
    is += left;
    was += memory?.lost?.sent ?? left;
  }
  return was > 0 && is * 2 <= was;
}
