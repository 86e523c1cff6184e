// A mailbox's warm-up settings and what they mean for a day: how many emails, and when.
import { draw } from './chance.ts';
import { dayMs } from './day-row.ts';
import { modeRamps, rampLimit, type WarmupMode } from './ramp.ts';

export interface WarmupConfig {
  readonly mode: WarmupMode;
  /** Emails a day that somebody set; null follows the mode's maximum. */
  readonly targetDailyLimit: number | null;
  /** The mode in which somebody set it; null when nobody did. */
  readonly targetSetIn: WarmupMode | null;
  /** Percent. */
  readonly replyRate: number;
  /** Percent. */
  readonly threadRate: number;
  readonly weekdaysOnly: boolean;
  /** First hour of the UTC day in which emails are sent. */
  readonly windowStart: number;
  /** The hour at which sending ends. */
  readonly windowEnd: number;
}

/** What a caller may change. */
export type ConfigChange = Partial<Omit<WarmupConfig, 'targetSetIn' | 'threadRate' | 'weekdaysOnly'>>;

const hourMs = 3_600_000;

/** The settings after a change. */
export function configAfter(before: WarmupConfig, change: ConfigChange): WarmupConfig {
  const after = { ...before, ...change };
  return change.targetDailyLimit === undefined ? after : { ...after, targetSetIn: after.mode };
}

/** Emails a day that the warm-up aims at: as somebody set it, above the mode's maximum too, until the mode changes. */
export function targetLimit({ mode, targetDailyLimit: set, targetSetIn }: WarmupConfig): number {
  const { max } = modeRamps[mode];
  if (set === null) return max;
  return targetSetIn === mode ? set : Math.min(set, max);
}

/** Emails a day on a day of the ramp, which rises to the mode's maximum, or to what somebody set above it. */
export function dailyLimit(config: WarmupConfig, rampDay: number): number {
  const target = targetLimit(config);
  return Math.min(rampLimit(config.mode, rampDay, target), target);
}

/** A stretch of a day that is to be filled with emails. */
export interface Stretch {
  /** Epoch milliseconds; nothing is planned before it. */
  readonly from: number;
  readonly day: number;
  /** Emails a day. */
  readonly limit: number;
  /** Emails that the day has seen already. */
  readonly sentToday: number;
  /** The day's number of the first email to plan, so that no two emails of a day share their chance. */
  readonly firstIndex: number;
}

/**
 * The times (epoch milliseconds, ascending) of the emails from `from` to the end of the day's send window. After a
 * change in the middle of the window only the window's rest is filled, at the new pace.
 */
export function planDay(config: WarmupConfig, key: number, stretch: Stretch): number[] {
  const { day, limit, sentToday, firstIndex } = stretch;
  if (config.weekdaysOnly && isWeekend(day)) return [];
  const start = day * dayMs + config.windowStart * hourMs;
  const end = day * dayMs + config.windowEnd * hourMs;
  const from = Math.min(Math.max(stretch.from, start), end);
  const share = (end - from) / (end - start);
  const count = Math.max(0, Math.min(Math.round(limit * share), limit - sentToday));
  const slotMs = (end - from) / count;
  return Array.from({ length: count }, (_, slot) =>
    Math.floor(from + (slot + draw(key, day, firstIndex + slot, 'sendTime')) * slotMs),
  );
}

/** Day 0 of the epoch was a Thursday. */
function isWeekend(day: number): boolean {
  const weekday = (day + 4) % 7;
  return weekday === 0 || weekday === 6;
}
