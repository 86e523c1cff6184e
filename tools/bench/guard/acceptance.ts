// The acceptance numbers of the study that the defaults come from, and how far from them a figure may lie.
import type { WarmupMode } from '../../../src/core/policy.ts';

/** What the study says of an incident. `missed` is a share; where the study writes none, it is under 0.5%. */
export interface IncidentTarget {
  readonly days: number;
  readonly bounces: number;
  readonly missed: number;
  /** Share of first alarms that are an emergency, where the study gives it. */
  readonly pauseFirst?: number;
}

export interface ModeTargets {
  /** Interventions a mailbox in 90 days, in the order of the steady columns. */
  readonly rates: readonly number[];
  /** In the order of the nine incidents. */
  readonly incidents: readonly IncidentTarget[];
}

const seen = (days: number, bounces: number, missed = 0): IncidentTarget => ({ days, bounces, missed });
const paused = (target: IncidentTarget, pauseFirst: number): IncidentTarget => ({ ...target, pauseFirst });

export const acceptance: Readonly<Record<WarmupMode, ModeTargets>> = {
  slow: {
    rates: [0.057, 0.224, 0.663, 1.0, 2.67, 0.37],
    incidents: [
      ...[seen(9.0, 2.0, 0.05), seen(6.0, 1.9, 0.01), seen(3.6, 1.9), seen(1.9, 1.9), seen(10.0, 2.0)],
      ...[seen(0.5, 1.8, 0.11), paused(seen(0.3, 2.2), 0.17), seen(0.5, 7.3), paused(seen(0.1, 2.3), 0.19)],
    ],
  },
  balanced: {
    rates: [0.028, 0.11, 0.518, 3.12, 9.86, 0.47],
    incidents: [
      ...[seen(3.3, 2.7), seen(2.1, 2.7), seen(1.4, 2.7), seen(0.8, 2.7), seen(6.3, 2.9)],
      ...[seen(0.4, 2.8, 0.02), paused(seen(0.1, 3.3), 0.09), seen(0.4, 12.3), paused(seen(0.1, 4.3), 0.24)],
    ],
  },
  aggressive: {
    rates: [0.001, 0.006, 0.025, 2.11, 21.4, 0.08],
    incidents: [
      ...[seen(3.3, 9.1), seen(2.1, 9.2), seen(1.3, 9.3), seen(0.6, 9.5), seen(6.3, 9.7)],
      ...[seen(0.6, 9.3, 0.03), paused(seen(0.3, 10.6), 0.51), seen(0.6, 35.9), paused(seen(0.1, 11.8), 0.58)],
    ],
  },
  recovery: {
    rates: [0.067, 0.211, 0.613, 0.42, 1.12, 0.28],
    incidents: [
      ...[seen(18.9, 1.5, 0.29), seen(12.4, 1.7, 0.12), seen(7.5, 1.8, 0.01), seen(3.9, 1.8), seen(14.4, 1.9, 0.01)],
      ...[seen(0.6, 1.6, 0.21), seen(0.3, 2.0), seen(0.6, 6.4), seen(0.1, 2.1)],
    ],
  },
};

/** What a figure measures decides how far it may lie from the study's. */
export type Measure = 'rate' | 'days' | 'bounces';

const share = { rate: 0.25, days: 0.25, bounces: 0.15 } as const;
/** The larger of the share and this counts (interventions or a share; days; bounces have none). */
const floor = { rate: 0.05, days: 0.3, bounces: 0 } as const;

/** Within the study's tolerance: rates +-25% or +-0.05, delays +-25% or +-0.3 d, bounces +-15%. */
export function isWithin(measure: Measure, ours: number, target: number): boolean {
  // A figure on the edge must not fall off it by the last bit of a float.
  return Math.abs(ours - target) <= Math.max(share[measure] * target, floor[measure]) + 1e-9;
}
