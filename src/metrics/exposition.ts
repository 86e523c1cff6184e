// Prometheus text 0.0.4 and OpenMetrics 1.0. prom-client's own OpenMetrics output renames its counters permanently,
// which breaks later scrapes as text.

export const prefix = 'warmwarden_';

export type Labels = Readonly<Record<string, string | number | undefined>>;

export type Format = 'text' | 'openmetrics';

export interface FamilyHead {
  /** Name with the prefix, and with `_total` if the family is a counter. */
  readonly name: string;
  readonly type: 'gauge' | 'counter' | 'histogram' | 'summary';
  readonly help: string;
}

export interface Sample {
  /** Suffix of the family's name (`_bucket`, `_sum`, `_count`); absent or empty for gauges and counters. */
  readonly suffix?: string;
  readonly labels: Labels;
  readonly value: number;
}

export interface Family extends FamilyHead {
  readonly samples: readonly Sample[];
}

/** Returns nothing for a family without samples, because an unknown value is absent. */
export function familyText(family: Family, format: Format): string {
  if (family.samples.length === 0) return '';
  const lines = family.samples.map(({ suffix = '', labels, value }) => {
    const text = labelText(format === 'openmetrics' ? { ...labels, ...canonicalBound(labels) } : labels);
    return `${family.name}${suffix}${text === '' ? '' : `{${text}}`} ${numberText(value)}\n`;
  });
  return `${headText(family, format)}${lines.join('')}`;
}

/** OpenMetrics requires a float as the bucket's bound: 1.0, not 1. */
function canonicalBound({ le }: Labels): Labels {
  return Number.isInteger(le) ? { le: `${le}.0` } : {};
}

/** OpenMetrics names a counter's family without `_total`, and its samples with it. */
export function headText({ name, type, help }: FamilyHead, format: Format): string {
  const open = format === 'openmetrics';
  const family = open && type === 'counter' ? name.replace(/_total$/, '') : name;
  const escaped = escapeLines(help);
  return `# HELP ${family} ${open ? escaped.replaceAll('"', '\\"') : escaped}\n# TYPE ${family} ${type}\n`;
}

export function labelText(labels: Labels): string {
  const known = Object.entries(labels).filter(([, value]) => value !== undefined);
  return known.map(([name, value]) => `${name}="${escapeLines(String(value)).replaceAll('"', '\\"')}"`).join(',');
}

function escapeLines(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
}

export function numberText(value: number): string {
  if (value === Number.POSITIVE_INFINITY) return '+Inf';
  if (value === Number.NEGATIVE_INFINITY) return '-Inf';
  return String(value);
}
