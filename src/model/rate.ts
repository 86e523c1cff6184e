// The bounce rate in numbers: pooled counts, never percentages (docs/guard.md, "The rule").
import { onePercentPpm, type Ppm } from './policy.ts';

/** Pooled bounces per million sent; null when nothing was sent. */
export function ratePpm(counts: { readonly sent: number; readonly bounced: number }): Ppm | null {
  return counts.sent > 0 ? (counts.bounced * 1e6) / counts.sent : null;
}

/** Parts per million as percent: 15,385 is 1.5385. */
export function percent(ppm: Ppm): number {
  return ppm / onePercentPpm;
}
