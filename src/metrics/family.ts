// Metric family with its samples as values, and as text. Used for everything but the mailboxes, whose blocks are
// cached. prom-client's own OpenMetrics output renames its counters permanently, which breaks later scrapes as text.
import { type FamilyHead, type Format, headText, type Labels, labelText, sampleLine } from './exposition/text.ts';

export interface Sample {
  /** Suffix of the family's name (`_bucket`, `_sum`, `_count`); absent or empty for gauges and counters. */
  readonly suffix?: string;
  readonly labels: Labels;
  readonly value: number;
}

export interface Family extends FamilyHead {
  readonly samples: readonly Sample[];
}

/**
 * Yields a family as text, its head first. Yields nothing for a family without samples, because an unknown value is
 * absent.
 */
export function* familyLines(family: Family, format: Format): Generator<string, undefined> {
  if (family.samples.length > 0) yield headText(family, format);
  for (const { suffix = '', labels, value } of family.samples) {
    const written = format === 'openmetrics' ? { ...labels, ...canonicalBound(labels) } : labels;
    yield sampleLine(`${family.name}${suffix}`, labelText(written), value);
  }
}

/** Returns the bucket's bound as a float, as OpenMetrics requires: 1.0, not 1. */
function canonicalBound({ le }: Labels): Labels {
  return Number.isInteger(le) ? { le: `${le}.0` } : {};
}

// Prefix of every metric of Warmwarden.

export const prefix = 'warmwarden_';
