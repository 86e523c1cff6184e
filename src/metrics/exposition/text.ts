// Writes Prometheus text 0.0.4 and OpenMetrics 1.0 line by line: heads, samples, and escaped labels.

export type Labels = Readonly<Record<string, string | number | undefined>>;

export interface FamilyHead {
  /** Name with the prefix, and with `_total` if the family is a counter. */
  readonly name: string;
  readonly type: 'gauge' | 'counter' | 'histogram' | 'summary';
  readonly help: string;
}

export type Format = 'text' | 'openmetrics';

/** Returns the HELP and TYPE lines. OpenMetrics names a counter's family without `_total`, and its samples with it. */
export function headText({ name, type, help }: FamilyHead, format: Format): string {
  const open = format === 'openmetrics';
  const family = open && type === 'counter' ? name.replace(/_total$/, '') : name;
  const escaped = escapeLines(help);
  return `# HELP ${family} ${open ? escaped.replaceAll('"', '\\"') : escaped}\n# TYPE ${family} ${type}\n`;
}

/** Returns the line of a sample. `labels` is the result of labelText. */
export function sampleLine(name: string, labels: string, value: number): string {
  return labels === '' ? `${name} ${numberText(value)}\n` : `${name}{${labels}} ${numberText(value)}\n`;
}

/** Returns the labels without their braces; labels without a value are left out. */
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

/** Returns the number in the notation of both formats. */
export function numberText(value: number): string {
  if (value === Number.POSITIVE_INFINITY) return '+Inf';
  if (value === Number.NEGATIVE_INFINITY) return '-Inf';
  return String(value);
}
