// Whether a figure stays flat: its samples of the second quarter of a run beside those of the last.

/** How much more the last quarter may have. */
export interface Slack {
  /** A share of the second quarter: 0.1 is a tenth. */
  readonly share: number;
  /** In the figure's unit, beside the share. */
  readonly plus: number;
}

export interface Flatness {
  readonly samples: number;
  readonly secondQuarter: number;
  readonly lastQuarter: number;
  readonly most: number;
  readonly flat: boolean;
}

/** Medians, because collections and growth of buffers come in steps. Throws without eight samples. */
export function flatnessOf(samples: readonly number[], { share, plus }: Slack): Flatness {
  if (samples.length < 8) throw new Error(`${samples.length} samples say nothing`);
  const quarter = Math.floor(samples.length / 4);
  const secondQuarter = medianOf(samples.slice(quarter, 2 * quarter));
  const lastQuarter = medianOf(samples.slice(-quarter));
  const flat = lastQuarter <= secondQuarter * (1 + share) + plus;
  return { samples: samples.length, secondQuarter, lastQuarter, most: Math.max(...samples), flat };
}

function medianOf(samples: readonly number[]): number {
  const sorted = samples.toSorted((one, other) => one - other);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}
