// Measurements of DNS and blacklists: when the API made one, and whether two answers show the same one. Pure.
import type { BlacklistAnswer, DnsAnswer } from './answers.ts';
import type { EpochMs } from './time.ts';

/** The routes whose answers come from measurements that the API makes in its own time, or when asked with refresh=true. */
export const measuredRoutes = ['dns', 'blacklist'] as const;
export type MeasuredRoute = (typeof measuredRoutes)[number];

type Measured = DnsAnswer | BlacklistAnswer;

/** When the API measured (checked_at); null when it does not say. */
export function measuredAt(answer: Measured | undefined): EpochMs | null {
  const at = Date.parse(answer?.checkedAt ?? '');
  return Number.isNaN(at) ? null : at;
}

/**
 * Whether two answers show one measurement, which the API gave out of its cache: made at the same moment, with the same
 * result. Without a moment nothing says so, and each answer counts as a measurement.
 */
export function isSameMeasurement(one: Measured | undefined, other: Measured | undefined): boolean {
  if (one?.checkedAt !== other?.checkedAt || measuredAt(one) === null) return false;
  return JSON.stringify(one) === JSON.stringify(other);
}

/** When a measurement counts as too old. */
export interface StaleMeasurement {
  /** A measurement that was older than this when it was read is stale, milliseconds. */
  readonly olderThanMs: number;
  /** An answer read before this moment is stale, too: polls that were due since brought none. -Infinity: none is yet. */
  readonly unreadSince: EpochMs;
}
