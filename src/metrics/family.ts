// A metric family with its samples as values, and as text: for everything but the mailboxes, whose blocks are cached.
// prom-client's own OpenMetrics output renames its counters for good, so that a text scrape after it is wrong.
import { type FamilyHead, type Format, headText, type Labels, labelText, sampleLine } from './exposition/text.ts';

export interface Sample {
  /** Behind the family's name: `_bucket`, `_sum`, `_count`; nothing for gauges and counters. */
  readonly suffix?: string;
  readonly labels: Labels;
  readonly value: number;
}

export interface Family extends FamilyHead {
  readonly samples: readonly Sample[];
}

/** A family as text, its head first; nothing when it has no sample: what is unknown is absent. */
export function* familyLines(family: Family, format: Format): Generator<string, undefined> {
  if (family.samples.length > 0) yield headText(family, format);
  for (const { suffix = '', labels, value } of family.samples) {
    const written = format === 'openmetrics' ? { ...labels, ...canonicalBound(labels) } : labels;
    yield sampleLine(`${family.name}${suffix}`, labelText(written), value);
  }
}

/** OpenMetrics wants the bounds of buckets as floats: 1.0, not 1. */
function canonicalBound({ le }: Labels): Labels {
  return Number.isInteger(le) ? { le: `${le}.0` } : {};
}

// What every metric of ours begins with.

export const prefix = 'warmwarden_';
