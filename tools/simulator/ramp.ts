// The warm-up modes and their ramps, as the API's document gives them.

/** The document's four modes, in its order. */
export const warmupModes = ['slow', 'balanced', 'aggressive', 'recovery'] as const;

/** How a mailbox is warmed up. */
export type WarmupMode = (typeof warmupModes)[number];

/** Emails a day at the start and at the end of a ramp (document, section 2). */
export const modeRamps: Readonly<Record<WarmupMode, { readonly start: number; readonly max: number }>> = {
  slow: { start: 2, max: 20 },
  balanced: { start: 5, max: 40 },
  aggressive: { start: 10, max: 80 },
  recovery: { start: 1, max: 15 },
};

/** The bounce rate that a mode must not exceed, in percent (document, section 2). */
export const bounceLimitPercent: Readonly<Record<WarmupMode, number>> = {
  slow: 0.5,
  balanced: 1,
  aggressive: 2,
  recovery: 0.3,
};

/** The document does not say how long a ramp takes; four weeks is what warm-up services advise. */
const rampDays = 28;

/** Emails a day on day `rampDay` (from 0) of a mode's ramp to its maximum, or to a `target` above that. */
export function rampLimit(mode: WarmupMode, rampDay: number, target = 0): number {
  const { start, max } = modeRamps[mode];
  const end = Math.max(max, target);
  return Math.floor(start + ((end - start) * Math.min(rampDay, rampDays)) / rampDays);
}

/**
 * Where the ramp of `mode` begins for a mailbox that so far sends `currentLimit` a day. Recovery starts over;
 * the other modes begin at the last day that does not send more than before, so that volume never leaps.
 */
export function rampDayFor(mode: WarmupMode, currentLimit: number): number {
  if (mode === 'recovery') return 0;
  let day = rampDays;
  while (day > 0 && rampLimit(mode, day) > currentLimit) day -= 1;
  return day;
}
