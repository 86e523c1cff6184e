// How urgently a mailbox's statistics should be read again: the closer to its limit and the more it sends, the sooner.
// Pure. docs/decisions/0006 has the measurements behind the numbers; `npm run bench -- lag` repeats them.
import type { MailboxState } from '../model/mailbox.ts';
import { mostSentSince, PackedStats } from '../model/packed-stats.ts';
import { type EpochMs, utcDate } from '../model/time.ts';

/** Why a mailbox may cross its limit before its statistics are read again. */
export interface Risk {
  /** Emails a day; 0 when it does not send. */
  readonly sendsPerDay: number;
  /** Emails that it may still send today; Infinity when its daily limit is not known. */
  readonly sendsLeftToday: number;
  /** The fewest further bounces that would cross the limit. */
  readonly bouncesLeft: number;
}

/** What counts as the bounces left when the rate is over the limit already and only the minimum sample is missing. */
export const armedBounces = 0.1;

/**
 * How sharply the risk is followed: 0 would be round robin. A simulation before took 0.5, for without a cap on the staleness
 * more of it let the calm ones wait too long; with the cap 0.9 saw crossings sooner at every quantile.
 */
const sharpness = 0.9;

/** The share of the requests that it deserves, in relation to others: its sends for each bounce that is left. */
export function weightOf({ sendsPerDay, bouncesLeft }: Risk): number {
  return (Math.max(0, sendsPerDay) / Math.max(bouncesLeft, armedBounces)) ** sharpness;
}

/** Whether it can cross today at all: not when it would take more bounces than emails that may still be sent. */
export function mayCrossToday({ bouncesLeft, sendsLeftToday }: Risk): boolean {
  return bouncesLeft <= sendsLeftToday;
}

/**
 * The risk of a mailbox as it is believed to be; null before its first verdict. A breach that is known already counts
 * as one bounce left: what is to be done about it is being done, and reading it again and again would help nobody.
 */
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

/** Emails of the newest day, when that is today; a day may be one ahead of ours (docs/faults.md T10). */
function sentToday({ stats }: MailboxState, now: EpochMs): number {
  const [answer, today] = [stats?.answer, utcDate(now)];
  // Each answer about a mailbox computes its risk again, and most leave its statistics as they are.
  return answer instanceof PackedStats ? answer.mostSentSince(today) : mostSentSince(answer?.rows ?? null, today);
}
