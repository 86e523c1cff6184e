// Prometheus text 0.0.4.

export const prefix = 'warmwarden_';

export type Labels = Readonly<Record<string, string | number | undefined>>;

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
export function familyText(family: Family): string {
  if (family.samples.length === 0) return '';
  const lines = family.samples.map(({ suffix = '', labels, value }) => {
    const text = labelText(labels);
    return `${family.name}${suffix}${text === '' ? '' : `{${text}}`} ${sampleText(value)}\n`;
  });
  return `${headText(family)}${lines.join('')}`;
}

export function headText({ name, type, help }: FamilyHead): string {
  return `# HELP ${name} ${escapeLines(help)}\n# TYPE ${name} ${type}\n`;
}

export function labelText(labels: Labels): string {
  const known = Object.entries(labels).filter(([, value]) => value !== undefined);
  return known.map(([name, value]) => `${name}="${escapeLines(String(value)).replaceAll('"', '\\"')}"`).join(',');
}

function escapeLines(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
}

export function sampleText(value: number): string {
  if (value === Number.POSITIVE_INFINITY) return '+Inf';
  if (value === Number.NEGATIVE_INFINITY) return '-Inf';
  return String(value);
}
