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

/** A family as text; nothing when it has no sample: what is unknown is absent. */
export function familyText(family: Family, format: Format): string {
  if (family.samples.length === 0) return '';
  const lines = family.samples.map(({ suffix = '', labels, value }) => {
    const written = format === 'openmetrics' ? { ...labels, ...canonicalBound(labels) } : labels;
    return sampleLine(`${family.name}${suffix}`, labelText(written), value);
  });
  return headText(family, format) + lines.join('');
}

/** OpenMetrics wants the bounds of buckets as floats: 1.0, not 1. */
function canonicalBound({ le }: Labels): Labels {
  return Number.isInteger(le) ? { le: `${le}.0` } : {};
}
