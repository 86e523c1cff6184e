// Shares and spans of time as words that stay on one line, the same on every page.
import type { Ppm } from '../model/policy.ts';
import { percent } from '../model/rate.ts';
import { roughSpanText } from './phrases.ts';

let hundredths: Intl.NumberFormat | undefined;

/** 1.54 %, with a space that does not break. */
export function share(ppm: Ppm): string {
  hundredths ??= new Intl.NumberFormat('en-US', { maximumFractionDigits: 2 });
  return `${hundredths.format(percent(ppm))}\u00a0%`;
}

/** `7 min`, with a space that does not break. */
export function duration(ms: number): string {
  return roughSpanText(ms).replace(' ', '\u00a0');
}
