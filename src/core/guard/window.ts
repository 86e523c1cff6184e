// The evidence window for the bounce rate. docs/guard.md, "The rule".
import type { Observed, StatsAnswer, WarmupAnswer } from '../answers.ts';
import { type Counts, isOver, isWarmupMode, type Policy, type Ppm, type WarmupMode } from '../policy.ts';
import { addDays, dayOf, type IsoDate } from '../time.ts';
import type { EarlierMode, EvidenceStart } from '../verdict.ts';
import { type Days, hasInvalid, isCounted, pool, readDays } from './rows.ts';

// Days of one mailbox with the limit of each day's mode, for pools of several mailboxes.

export interface LimitedDays {
  readonly days: readonly (Counts & { readonly date: IsoDate })[];
  readonly limitOn: (date: IsoDate) => Ppm;
}

/** Number of newest days that must be readable and plausible. */
const soundDays = 7;

interface Counted {
  readonly stats: Observed<StatsAnswer> | null;
  readonly warmup: { readonly answer: Pick<WarmupAnswer, 'mode'> } | null;
  readonly memory: { readonly earlierModes?: readonly EarlierMode[] } | null;
}

/** Returns null if the mode is unknown or the newest counts make no sense. Older unreadable days are left out. */
export function limitedDays(
  { stats, warmup, memory }: Counted,
  { limitsPpm }: Pick<Policy, 'limitsPpm'>,
): LimitedDays | null {
  const mode = warmup?.answer.mode ?? null;
  if (!stats?.answer.rows || !isWarmupMode(mode)) return null;
  const days = readDays(stats.answer.rows, stats.at);
  const { anchor, undated } = days;
  if (anchor === null || undated || hasInvalid(days, addDays(anchor, 1 - soundDays), anchor)) return null;
  const counted = days.days.filter(isCounted).filter(({ date }) => date <= anchor);
  const newest = counted.at(-1)?.date ?? anchor;
  const { sent, bounced } = pool(days, { from: addDays(newest, 1 - soundDays), to: newest }, null);
  return bounced > sent
    ? null
    : { days: counted, limitOn: (date) => limitsPpm[modeOn(date, mode, memory?.earlierModes ?? [])] };
}

/** A day of a change belongs to the mode with which it began. */
function modeOn(date: IsoDate, mode: WarmupMode, earlierModes: readonly EarlierMode[]): WarmupMode {
  return earlierModes.findLast(({ until }) => date <= until)?.mode ?? mode;
}

export interface EvidenceWindow extends Counts {
  readonly from: IsoDate;
  readonly to: IsoDate;
  /** Calendar days, both ends included; 0 if the evidence begins after the newest row. */
  readonly days: number;
  readonly base: Counts;
}

/** Emails that a rate of `limitPpm` can be measured on: 1/limit, rounded up (slow 200, recovery 334). */
export function representativeVolume(limitPpm: Ppm): number {
  return Math.ceil(1e6 / limitPpm);
}

/** More bounces than emails are implausible, and no breach. */
export function isBreach(counts: Counts, limitPpm: Ppm | null, minBounces: number): boolean {
  return counts.bounced >= minBounces && counts.bounced <= counts.sent && isOver(counts, limitPpm);
}

export function daysInclusive(from: IsoDate, to: IsoDate): number {
  return dayOf(to) - dayOf(from) + 1;
}

/** First day of the window that ends on `newest`, before it is extended. */
export function baseStart({ windowDays }: Policy, newest: IsoDate): IsoDate {
  return addDays(newest, 1 - windowDays);
}

/**
 * The last `windowDays` days, extended backwards to 1/limit emails or `windowMaxDays`, within the evidence and up to an
 * unreadable day. If the extension would hide a breach behind one busy day, it is left out (docs/decisions/0004).
 */
export function evidenceWindow(
  days: Days,
  policy: Policy,
  limitPpm: Ppm | null,
  evidence: EvidenceStart | null,
): EvidenceWindow | null {
  if (days.anchor === null || days.oldest === null) return null;
  const to = days.anchor;
  const needed = limitPpm === null || limitPpm === 0 ? 0 : representativeVolume(limitPpm);
  const notBefore = evidence?.from ?? days.oldest;
  const start = baseStart(policy, to);
  const baseFrom = evidence && start < evidence.from ? evidence.from : start;
  const base = pool(days, { from: baseFrom, to }, evidence);
  let from = baseFrom;
  let { sent, bounced } = base;
  const earliest = addDays(to, 1 - policy.windowMaxDays);
  while (sent < needed) {
    const next = addDays(from, -1);
    if (next < notBefore || next < days.oldest || next < earliest || hasInvalid(days, next, next)) break;
    const counts = pool(days, { from: next, to: next }, evidence);
    sent += counts.sent;
    bounced += counts.bounced;
    from = next;
  }
  const breaches = (counts: Counts) => isBreach(counts, limitPpm, policy.minBounces);
  const isHidden = breaches(base) && !breaches({ sent, bounced });
  const shown = isHidden ? { ...base, from: baseFrom } : { sent, bounced, from };
  return { ...shown, to, days: Math.max(0, daysInclusive(shown.from, to)), base };
}
