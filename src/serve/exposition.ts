// Writes metric families as Prometheus text 0.0.4 or as OpenMetrics 1.0, whichever the scraper accepts.
// prom-client's own OpenMetrics output renames its counters for good, so that a text scrape after it is wrong.

export type Labels = Readonly<Record<string, string | number | undefined>>;

export interface Sample {
  /** Behind the family's name: `_bucket`, `_sum`, `_count`; nothing for gauges and counters. */
  readonly suffix?: string;
  readonly labels: Labels;
  readonly value: number;
}

export interface Family {
  /** With the prefix, and for a counter with `_total`. */
  readonly name: string;
  readonly type: 'gauge' | 'counter' | 'histogram' | 'summary';
  readonly help: string;
  readonly samples: readonly Sample[];
}

export type Format = 'text' | 'openmetrics';

export const contentTypes: Readonly<Record<Format, string>> = {
  text: 'text/plain; version=0.0.4; charset=utf-8',
  openmetrics: 'application/openmetrics-text; version=1.0.0; charset=utf-8',
};

/** OpenMetrics when Accept names it with at least the weight of plain text; text for everybody else. */
export function formatFor(accept: string | undefined): Format {
  const weights = (accept ?? '').split(',').map((part) => {
    const [type, ...parameters] = part.split(';').map((piece) => piece.trim().toLowerCase());
    const quality = parameters.find((parameter) => parameter.startsWith('q='));
    return { type, weight: quality ? Number(quality.slice(2)) || 0 : 1 };
  });
  const weightOf = (type: string) => Math.max(0, ...weights.filter((w) => w.type === type).map((w) => w.weight));
  const openmetrics = weightOf('application/openmetrics-text');
  return openmetrics > 0 && openmetrics >= weightOf('text/plain') ? 'openmetrics' : 'text';
}

/** The families as one document. A family without samples is left out: what is unknown is absent. */
export function writeExposition(families: Iterable<Family>, format: Format): string {
  const lines: string[] = [];
  for (const family of families) {
    if (family.samples.length === 0) continue;
    // OpenMetrics names a counter's family without _total, and its samples with it.
    const familyName =
      format === 'openmetrics' && family.type === 'counter' ? family.name.replace(/_total$/, '') : family.name;
    lines.push(`# HELP ${familyName} ${escapeHelp(family.help, format)}`, `# TYPE ${familyName} ${family.type}`);
    for (const sample of family.samples) {
      lines.push(`${family.name}${sample.suffix ?? ''}${writeLabels(sample.labels)} ${writeNumber(sample.value)}`);
    }
  }
  if (format === 'openmetrics') lines.push('# EOF');
  return `${lines.join('\n')}\n`;
}

function writeLabels(labels: Labels): string {
  const parts: string[] = [];
  for (const [name, value] of Object.entries(labels)) {
    if (value !== undefined) parts.push(`${name}="${escapeLabel(String(value))}"`);
  }
  return parts.length === 0 ? '' : `{${parts.join(',')}}`;
}

/** What ends a label early in either format: backslash, newline and quote. */
function escapeLabel(text: string): string {
  return text.replace(/\\/g, '\\\\').replace(/\n/g, '\\n').replace(/"/g, '\\"');
}

function escapeHelp(text: string, format: Format): string {
  const escaped = text.replace(/\\/g, '\\\\').replace(/\n/g, '\\n');
  return format === 'openmetrics' ? escaped.replace(/"/g, '\\"') : escaped;
}

function writeNumber(value: number): string {
  if (value === Number.POSITIVE_INFINITY) return '+Inf';
  if (value === Number.NEGATIVE_INFINITY) return '-Inf';
  return Number.isNaN(value) ? 'NaN' : String(value);
}
