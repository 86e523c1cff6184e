// Reads /metrics as Prometheus would: names, labels, values.

export interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

export class Scrape {
  readonly samples: readonly Sample[];

  constructor(text: string) {
    this.samples = text
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith('#'))
      .map(sampleOf);
  }

  /** The value of the one sample with this name (without `warmwarden_`) and at least these labels; undefined without one. */
  value(name: string, labels: Readonly<Record<string, string>> = {}): number | undefined {
    const fits = this.samples.filter(
      (sample) =>
        sample.name === `warmwarden_${name}` &&
        Object.entries(labels).every(([label, value]) => sample.labels[label] === value),
    );
    if (fits.length > 1) throw new Error(`${fits.length} samples of ${name} fit ${JSON.stringify(labels)}`);
    return fits[0]?.value;
  }
}

/** Scrapes the daemon at `url`. */
export async function scrape(url: string): Promise<Scrape> {
  const response = await fetch(`${url}/metrics`);
  if (response.status !== 200) throw new Error(`/metrics answered ${response.status}`);
  return new Scrape(await response.text());
}

function sampleOf(line: string): Sample {
  const parts = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)$/.exec(line);
  if (!parts?.[1] || !parts[3]) throw new Error(`no line of the text format: ${line}`);
  const labels = [...(parts[2] ?? '').matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map(([, name, value = '']) => [
    name,
    value.replace(/\\(.)/g, (_, letter) => (letter === 'n' ? '\n' : letter)),
  ]);
  return { name: parts[1], labels: Object.fromEntries(labels), value: Number(parts[3].replace('Inf', 'Infinity')) };
}
