// Statistics as one short text: a mailbox has thirty days of them, and each answer that differs is written.

import type { StatsAnswer, StatsRow } from '../../model/answers.ts';
import { type IsoDate, isoDateOf } from '../../model/time.ts';

type Count = number | null;

/** A row without the names of its fields. The last is absent in what an earlier version read. */
type FlatRow = readonly [
  date: IsoDate | null,
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

/** As it stands in the store: flat rows, or the answer itself, as earlier versions wrote it. */
export type StoredStats = StatsAnswer | { readonly rows: readonly FlatRow[] };

/** `{"rows":[["2026-03-04",12,0,12,5,1,0,97.5,0,98.5], ...]}`. */
export function statsText({ rows }: StatsAnswer): string {
  return JSON.stringify({ rows: rows?.map(flat) ?? null });
}

export function storedStats(stored: StoredStats): StatsAnswer {
  return isFlat(stored) ? { rows: stored.rows.map(rowOf) } : stored;
}

function isFlat(stored: StoredStats): stored is { readonly rows: readonly FlatRow[] } {
  return Array.isArray(stored.rows?.[0]);
}

function flat(row: StatsRow): FlatRow {
  const { date, sent, bounced, delivered, opened, replied, spamLanded, healthScore } = row;
  const rest = healthScore === undefined ? ([] as const) : ([healthScore] as const);
  const rates = [row.inboxRatePercent, row.bounceRatePercent] as const;
  return [date, sent, bounced, delivered, opened, replied, spamLanded, ...rates, ...rest];
}

function rowOf(row: FlatRow): StatsRow {
  const [written, sent, bounced, delivered, opened, replied, spamLanded, inboxRatePercent, bounceRatePercent] = row;
  const date = written && isoDateOf(written);
  const [, , , , , , , , , healthScore] = row;
  // Each is made in one go, for a fleet has hundreds of thousands: a field that is added to one later takes room of its own.
  if (healthScore === undefined)
    return { date, sent, bounced, delivered, opened, replied, spamLanded, inboxRatePercent, bounceRatePercent };
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
