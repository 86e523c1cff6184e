// Urgency of reading a mailbox's statistics again. docs/decisions/0006 has the measurements behind the numbers;
// `npm run bench -- lag` repeats them.
import type { MailboxState } from '../../core/mailbox.ts';
import { type EpochMs, utcDate } from '../../core/time.ts';

export interface Risk {
  /** Emails a day, or 0 if it does not send. */
  readonly sendsPerDay: number;
  /** Infinity if the daily limit is unknown. */
  readonly sendsLeftToday: number;
  /** Minimum number of further bounces that cross the limit. */
  readonly bouncesLeft: number;
}

/** Number of bounces left if the rate is over the limit already and only the minimum sample is missing. */
export const armedBounces = 0.1;

/** Exponent of the risk; 0 is round robin. 0.9 saw crossings soonest at every quantile, given the cap on staleness. */
const sharpness = 0.9;

/** Relative share of requests for a mailbox: its sends for each bounce that is left. */
export function weightOf({ sendsPerDay, bouncesLeft }: Risk): number {
  return (Math.max(0, sendsPerDay) / Math.max(bouncesLeft, armedBounces)) ** sharpness;
}

/** Minimum weight as a share of the mean, so that mailboxes that seem calm are read, too. */
const floorShare = 0.5;

/** Share of a mailbox in the reads of statistics, where 1 is the mean weight. */
export function shareOf(
  { weight, isCalm }: { readonly weight: number; readonly isCalm: boolean },
  meanWeight: number,
): number {
  return meanWeight > 0 ? Math.max(isCalm ? 0 : weight / meanWeight, floorShare) : 1;
}

export function mayCrossToday({ bouncesLeft, sendsLeftToday }: Risk): boolean {
  return bouncesLeft <= sendsLeftToday;
}

/** Returns null before the first verdict. A known breach counts as one bounce left: its action is in progress. */
export function riskOf(mailbox: MailboxState, minBounces: number, now: EpochMs): Risk | null {
  const verdict = mailbox.verdict?.answer;
  if (!verdict) return null;
  const runs = verdict.run === 'running' || verdict.run === 'unknown';
  const dailyLimit = mailbox.entry.answer.dailyLimit ?? mailbox.warmup?.answer.dailyLimit ?? null;
  const usual = verdict.windowDays > 0 ? verdict.sent / verdict.windowDays : 0;
  const sendsPerDay = runs ? (dailyLimit ?? usual) : 0;
  const armed = verdict.reason === 'insufficient_evidence';
  return {
    sendsPerDay,
    sendsLeftToday: runs ? (dailyLimit ?? Number.POSITIVE_INFINITY) - sentToday(mailbox, now) : 0,
    bouncesLeft: armed ? armedBounces : Math.max(1, verdict.bouncesUntilBreach ?? minBounces),
  };
}

/** Emails of the newest day if that is today. The API's day may be one ahead of ours (docs/faults.md T10). */
function sentToday({ stats }: MailboxState, now: EpochMs): number {
  const today = utcDate(now);
  const rows = (stats?.answer.rows ?? []).filter(({ date }) => date !== null && date >= today);
  return Math.max(0, ...rows.map(({ sent }) => sent ?? 0));
}
