// The evidence window: the days over which the bounce rate is measured. docs/guard.md, "The rule".
import type { Policy, Ppm } from '../model/policy.ts';
import { addDays, dayMs, type IsoDate } from '../model/time.ts';
import type { EvidenceStart } from '../model/verdict.ts';
import { type Counts, countsOn, type Days, isInvalid, pool } from './rows.ts';

export interface EvidenceWindow extends Counts {
  readonly from: IsoDate;
  readonly to: IsoDate;
  /** Calendar days, both ends included; 0 when the evidence begins after the newest row. */
  readonly days: number;
  /** The last `windowDays` days alone. */
  readonly base: Counts;
}

/** Emails on which a rate of `limitPpm` can be measured at all: 1/limit, rounded up (slow 200, recovery 334). */
export function representativeVolume(limitPpm: Ppm): number {
  return Math.ceil(1e6 / limitPpm);
}

/** Over the limit with enough bounces, and no more of them than emails. */
export function isBreach({ sent, bounced }: Counts, limitPpm: Ppm, minBounces: number): boolean {
  return bounced >= minBounces && bounced <= sent && bounced * 1e6 > limitPpm * sent;
}

/** Calendar days from one date to another, both included. */
export function daysInclusive(from: IsoDate, to: IsoDate): number {
  return Math.round((Date.parse(`${to}T00:00:00Z`) - Date.parse(`${from}T00:00:00Z`)) / dayMs) + 1;
}

/**
 * The last `windowDays` days up to the anchor, extended backwards until they hold 1/limit emails, at most `windowMaxDays`;
 * never before the evidence began, never across an unreadable day. Without a limit (unknown mode) it is not extended.
 * When the extension would hide a breach of the last `windowDays` days behind one busy day, those days count alone
 * (docs/decisions/0004).
 */
export function evidenceWindow(
  days: Days,
  policy: Policy,
  limitPpm: Ppm | null,
  evidence: EvidenceStart | null,
): EvidenceWindow | null {
  if (days.anchor === null || days.oldest === null) return null;
  const to = days.anchor;
  const needed = limitPpm === null || limitPpm === 0 ? 0 : representativeVolume(limitPpm);
  const notBefore = evidence?.from ?? days.oldest;
  let from = addDays(to, 1 - policy.windowDays);
  if (evidence && from < evidence.from) from = evidence.from;
  const base = pool(days, { from, to }, evidence);
  const baseFrom = from;
  let { sent, bounced } = base;
  const earliest = addDays(to, 1 - policy.windowMaxDays);
  while (sent < needed) {
    const next = addDays(from, -1);
    if (next < notBefore || next < days.oldest || next < earliest || isInvalid(days, next)) break;
    const counts = countsOn(days, next, evidence);
    sent += counts.sent;
    bounced += counts.bounced;
    from = next;
  }
  const breaches = (counts: Counts) => limitPpm !== null && isBreach(counts, limitPpm, policy.minBounces);
  const hidden = breaches(base) && !breaches({ sent, bounced });
  const start = hidden ? baseFrom : from;
  const counts = hidden ? base : { sent, bounced };
  return { ...counts, from: start, to, days: Math.max(0, daysInclusive(start, to)), base };
}
