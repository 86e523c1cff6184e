// Statistics as one short text: a mailbox has thirty days of them, and each answer that differs is written. Beside them stands the
// verdict on them, so that the row of the decision need not be written with each of them.
import type { Observed, StatsAnswer, StatsRow } from '../../model/answers.ts';
import { PackedStats } from '../../model/packed-stats.ts';
import { type EpochMs, isoDateOf } from '../../model/time.ts';
import type { Verdict } from '../../model/verdict.ts';
import { DamagedRowError, type RowKey } from '../failure.ts';
import { parsed } from './parsed.ts';
import { type StoredVerdict, verdictFrom, verdictText } from './stored.ts';

type Count = number | null;

/** A row without the names of its fields. The last is absent in what the versions before it wrote. */
type FlatRow = readonly [
  date: string | null,
  sent: Count,
  bounced: Count,
  delivered: Count,
  opened: Count,
  replied: Count,
  spamLanded: Count,
  inboxRatePercent: Count,
  bounceRatePercent: Count,
  healthScore?: Count,
];

/** What earlier versions wrote: flat rows, and before that the answer itself. */
type EarlierStats = StatsAnswer | { readonly rows: readonly FlatRow[] };

/** Packed rows, and the newest verdict when they were written. */
interface JudgedStats {
  readonly rows: string;
  readonly judgedAt: EpochMs;
  readonly verdict: StoredVerdict;
}

/** `{"rows":"...","judgedAt":1772626200000,"verdict":{...}}`; before they were judged, the rows alone, as they are in memory. */
export function statsText(stats: StatsAnswer, judged: Observed<Verdict> | null): string {
  const { text } = PackedStats.of(stats);
  return judged ? `{"rows":${text},"judgedAt":${judged.at},"verdict":${verdictText(judged.answer)}}` : text;
}

/** Statistics, and the verdict beside them. */
export interface ReadStats {
  readonly stats: StatsAnswer;
  readonly judged: Observed<Verdict> | null;
}

/** `key`: that of the observation's row. Throws DamagedRowError. */
export function readStats(text: string, key: RowKey): ReadStats {
  const packed = PackedStats.fromText(text);
  if (packed) return { stats: packed, judged: null };
  const stored = parsed<JudgedStats | EarlierStats>(text, 'observations', key);
  const stats =
    typeof stored.rows === 'string'
      ? PackedStats.fromText(JSON.stringify(stored.rows))
      : earlier(stored as EarlierStats);
  if (!stats) throw new DamagedRowError('observations', key);
  if (!('verdict' in stored)) return { stats, judged: null };
  const { judgedAt: at, verdict } = stored;
  if (!Number.isFinite(at) || !isObject(verdict)) throw new DamagedRowError('observations', key);
  return { stats, judged: { at, answer: verdictFrom(verdict) } };
}

/** Null when it is none. */
function earlier({ rows }: EarlierStats): PackedStats | null {
  if (rows === null) return PackedStats.of({ rows });
  if (!Array.isArray(rows) || !rows.every(isObject)) return null;
  const listed = rows as readonly (FlatRow | StatsRow)[];
  const named = listed.map((row) => (isFlat(row) ? rowOf(row) : row));
  return named.every(isRow) ? PackedStats.of({ rows: named }) : null;
}

function isFlat(row: FlatRow | StatsRow): row is FlatRow {
  return Array.isArray(row);
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

function isRow({ date, ...counts }: StatsRow): boolean {
  const isCount = (value: unknown) => value === null || Number.isFinite(value);
  return (date === null || typeof date === 'string') && Object.values(counts).every(isCount);
}

function rowOf(row: FlatRow): StatsRow {
  const [written, sent, bounced, delivered, opened, replied, spamLanded, inboxRatePercent, bounceRatePercent] = row;
  const [, , , , , , , , , healthScore] = row;
  const date = written && isoDateOf(written);
  const counts = { date, sent, bounced, delivered, opened, replied, spamLanded, inboxRatePercent, bounceRatePercent };
  return healthScore === undefined ? counts : { ...counts, healthScore };
}
