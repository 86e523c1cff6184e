// Statistics as one short text: a mailbox has thirty days of them, and each answer that differs is written.
import type { StatsAnswer, StatsRow } from '../../model/answers.ts';
import { PackedStats } from '../../model/packed-stats.ts';
import { isoDateOf } from '../../model/time.ts';
import type { RowKey } from '../failure.ts';
import { parsed } from './parsed.ts';

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

/** As they are in memory: a start takes them as they are. */
export function statsText(stats: StatsAnswer): string {
  return PackedStats.of(stats).text;
}

/** `key`: that of the observation's row. Throws DamagedRowError. */
export function storedStats(text: string, key: RowKey): StatsAnswer {
  const packed = PackedStats.fromText(text);
  if (packed) return packed;
  const stored = parsed<EarlierStats>(text, 'observations', key);
  return PackedStats.of(isFlat(stored) ? { rows: stored.rows.map(rowOf) } : stored);
}

function isFlat(stored: EarlierStats): stored is { readonly rows: readonly FlatRow[] } {
  return Array.isArray(stored.rows?.[0]);
}

function rowOf(row: FlatRow): StatsRow {
  const [written, sent, bounced, delivered, opened, replied, spamLanded, inboxRatePercent, bounceRatePercent] = row;
  const [, , , , , , , , , healthScore] = row;
  const date = written && isoDateOf(written);
  const counts = { date, sent, bounced, delivered, opened, replied, spamLanded, inboxRatePercent, bounceRatePercent };
  return healthScore === undefined ? counts : { ...counts, healthScore };
}
