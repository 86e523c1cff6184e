// Prometheus text 0.0.4 and OpenMetrics 1.0: families, samples, and what ends a label early.
// prom-client's own OpenMetrics output renames its counters for good, so that a text scrape after it is wrong.

export type Labels = Readonly<Record<string, string | number | undefined>>;

export interface Sample {
  /** Behind the family's name: `_bucket`, `_sum`, `_count`; nothing for gauges and counters. */
  readonly suffix?: string;
  readonly labels: Labels;
  readonly value: number;
}

export interface FamilyHead {
  /** With the prefix, and for a counter with `_total`. */
  readonly name: string;
  readonly type: 'gauge' | 'counter' | 'histogram' | 'summary';
  readonly help: string;
}

export interface Family extends FamilyHead {
  readonly samples: readonly Sample[];
}

export type Format = 'text' | 'openmetrics';

/** HELP and TYPE. OpenMetrics names a counter's family without _total, and its samples with it. */
export function headText({ name, type, help }: FamilyHead, format: Format): string {
  const open = format === 'openmetrics';
  const family = open && type === 'counter' ? name.replace(/_total$/, '') : name;
  const escaped = escapeLines(help);
  return `# HELP ${family} ${open ? escaped.replaceAll('"', '\\"') : escaped}\n# TYPE ${family} ${type}\n`;
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

/** `labels`: what labelText made. */
export function sampleLine(name: string, labels: string, value: number): string {
  return labels === '' ? `${name} ${numberText(value)}\n` : `${name}{${labels}} ${numberText(value)}\n`;
}

/** Labels without their braces; those without a value are left out. */
export function labelText(labels: Labels): string {
  let text = '';
  for (const name in labels) {
    const value = labels[name];
    if (value !== undefined) text += `${text === '' ? '' : ','}${name}="${escapeLabel(String(value))}"`;
  }
  return text;
}

const endsLabel = /[\\\n"]/;

function escapeLabel(text: string): string {
  return endsLabel.test(text) ? escapeLines(text).replaceAll('"', '\\"') : text;
}

function escapeLines(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
}

function numberText(value: number): string {
  if (value === Number.POSITIVE_INFINITY) return '+Inf';
  if (value === Number.NEGATIVE_INFINITY) return '-Inf';
  return String(value);
}
