// Numbers, shares and spans of time as words, the same on every page.

import type { Ppm } from '../model/policy.ts';
import { percent } from '../model/rate.ts';
import { dayMs, hourMs, minuteMs, secondMs } from '../model/time.ts';

const grouped = new Intl.NumberFormat('en-US', { maximumFractionDigits: 1 });
const hundredths = new Intl.NumberFormat('en-US', { maximumFractionDigits: 2 });

/** 12,345 */
export function number(value: number): string {
  return grouped.format(value);
}

/** 1.54 %, with a space that does not break. */
export function share(ppm: Ppm): string {
  return `${hundredths.format(percent(ppm))}\u00a0%`;
}

/** A span as a person says it: 40 s, 7 min, 3 h, 12 days. Never negative. */
export function duration(ms: number): string {
  const span = Math.max(0, ms);
  if (span < minuteMs) return `${Math.floor(span / secondMs)}\u00a0s`;
  if (span < 2 * hourMs) return `${Math.floor(span / minuteMs)}\u00a0min`;
  if (span < 2 * dayMs) return `${Math.floor(span / hourMs)}\u00a0h`;
  return `${Math.floor(span / dayMs)}\u00a0days`;
}

/** 1 bounce, 2 bounces */
export function count(value: number, one: string, many: string): string {
  return `${number(value)} ${value === 1 ? one : many}`;
}
