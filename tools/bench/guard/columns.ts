// The columns of the guard's acceptance table: what happens to a mailbox.
import { defaultPolicy, type WarmupMode } from '../../../src/core/policy.ts';

/** An incident, or a true bounce rate that never changes. */
export type Column =
  | {
      readonly name: string;
      readonly kind: 'steady';
      readonly rate: (limit: number) => number;
      /** Bounces that come together, on average: one dead domain of receivers is several bounces at once. 1 where nothing is said. */
      readonly cluster?: number;
    }
  /** The mailboxes of a domain, or of a fleet, that change together: from `onset` (days from the start) on another rate. */
  | {
      readonly name: string;
      readonly kind: 'together';
      readonly onset: number;
      readonly before: number;
      readonly rate: number;
    }
  | { readonly name: string; readonly kind: 'step'; readonly times: number }
  | { readonly name: string; readonly kind: 'drift' }
  | { readonly name: string; readonly kind: 'spike'; readonly rate: number }
  | { readonly name: string; readonly kind: 'dns' }
  | { readonly name: string; readonly kind: 'block' };

export const columns: readonly Column[] = [
  { name: 'fp_0.05pct', kind: 'steady', rate: () => 0.0005 },
  { name: 'fp_0.1pct', kind: 'steady', rate: () => 0.001 },
  { name: 'fp_0.2pct', kind: 'steady', rate: () => 0.002 },
  { name: 'fp_half_limit', kind: 'steady', rate: (limit) => limit / 2 },
  { name: 'at_limit', kind: 'steady', rate: (limit) => limit },
  { name: 'fp_0.1pct_clustered', kind: 'steady', rate: () => 0.001, cluster: 2 },
  { name: '2x', kind: 'step', times: 2 },
  { name: '3x', kind: 'step', times: 3 },
  { name: '5x', kind: 'step', times: 5 },
  { name: '10x', kind: 'step', times: 10 },
  { name: 'drift', kind: 'drift' },
  { name: 'spike_20pct', kind: 'spike', rate: 0.2 },
  { name: 'spike_50pct', kind: 'spike', rate: 0.5 },
  { name: 'dns_day', kind: 'dns' },
  { name: 'block', kind: 'block' },
];

/** Of every email, before an incident. */
const baseRate = 0.001;
const driftDays = 30;
const driftTimes = 10;
const dnsRate = 0.8;
/** An incident is missed when nothing was done within this time; one that lasts a day, within two (days). */
export const missedAfterDays = 30;
export const missedSpikeAfterDays = 2;

/** The true bounce rate of an email that leaves at `time`, when the incident began at `onset` (days from the start). */
export function rateAt(column: Column, mode: WarmupMode, onset: number, time: number): number {
  const limit = defaultPolicy.limitsPpm[mode] / 1e6;
  if (column.kind === 'steady') return column.rate(limit);
  const since = time - onset;
  if (column.kind === 'together') return since < 0 ? column.before : column.rate;
  if (since < 0) return baseRate;
  switch (column.kind) {
    case 'step':
      return column.times * limit;
    case 'drift':
      return baseRate + (driftTimes * limit - baseRate) * Math.min(1, since / driftDays);
    case 'spike':
      return since < 1 ? column.rate : baseRate;
    case 'dns':
      return since < 1 ? dnsRate : baseRate;
    case 'block':
      return 1;
  }
}
