// How urgently a mailbox's statistics should be read again: the closer to its limit and the more it sends, the sooner.
// Pure. docs/decisions/0006 has the measurements behind the numbers; `npm run bench -- lag` repeats them.
import type { MailboxState } from '../../core/mailbox.ts';
import { type EpochMs, utcDate } from '../../core/time.ts';
import { SlotHeap } from './slot-heap.ts';

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
  const today = utcDate(now);
  const rows = (stats?.answer.rows ?? []).filter(({ date }) => date !== null && date >= today);
  return Math.max(0, ...rows.map(({ sent }) => sent ?? 0));
}

// Whose statistics are read next when requests are spent by risk: each mailbox's share of them is its weight's share of
// all weights, evenly spread (weighted fair queueing by virtual deadlines).

/** No weight counts for less than this share of the mean: a mailbox that seems calm is looked at, too. */
const floorShare = 0.5;

interface Resting {
  readonly slot: number;
  readonly until: number;
  /** The virtual time at which it was served. */
  readonly served: number;
}

/** Times are milliseconds of the monotonic clock. Every call costs O(log n), spread over the calls. */
export class RiskOrder {
  readonly #restMs: number;
  /** By virtual deadline. */
  readonly #turns = new SlotHeap();
  /** Served lately, in the order of serving. */
  #resting: Resting[] = [];
  #firstResting = 0;
  /** By slot; negative where the limit can't be crossed today, NaN where nobody is. */
  #weights = new Float32Array(0);
  #weightSum = 0;
  #members = 0;
  /** By slot: the weight that its turns are given by at present. */
  #shares = new Float32Array(0);
  #shareSum = 0;
  /** Moves on by one, divided by all shares, with each reading. */
  #virtualNow = 0;

  /** `restMs`: a mailbox that was served is not served again before. */
  constructor(restMs: number) {
    this.#restMs = restMs;
  }

  /** Gives a slot its weight, a newcomer at its first. `calm`: it can't cross its limit today. */
  weigh(slot: number, weight: number, calm: boolean): void {
    this.#reserve(slot + 1);
    const known = this.#weights[slot] ?? Number.NaN;
    if (Number.isNaN(known)) this.#members += 1;
    else this.#weightSum -= Math.abs(known);
    // As it is kept, or the sum would drift away from its terms.
    const kept = Math.fround(weight);
    this.#weightSum += kept;
    this.#weights[slot] = calm ? -kept : kept;
    const before = this.#shares[slot] ?? 0;
    const share = this.#shareAnew(slot);
    const deadline = this.#turns.keyOf(slot);
    if (deadline === null || deadline <= this.#virtualNow) return;
    this.#turns.set(slot, this.#virtualNow + ((deadline - this.#virtualNow) * before) / share);
  }

  /** Forgets a slot. */
  leave(slot: number): void {
    this.#turns.delete(slot);
    const known = this.#weights[slot] ?? Number.NaN;
    if (Number.isNaN(known)) return;
    this.#members -= 1;
    this.#weightSum = this.#members === 0 ? 0 : this.#weightSum - Math.abs(known);
    this.#shareSum = this.#members === 0 ? 0 : this.#shareSum - (this.#shares[slot] ?? 0);
    this.#weights[slot] = Number.NaN;
    this.#shares[slot] = 0;
  }

  /** Whose turn it is; null when all rest. It stays its turn until it is taken. */
  next(now: number): number | null {
    this.#wakeRested(now);
    return this.#turns.first();
  }

  /** The slot is being read, whether or not it was its turn. */
  taken(slot: number): void {
    if (this.#shareSum > 0) this.#virtualNow += 1 / this.#shareSum;
    this.#turns.delete(slot);
  }

  /** The reading that began at `startedAt` has ended: the slot rests, and then waits for its turn. */
  served(slot: number, startedAt: number): void {
    this.#resting.push({ slot, until: startedAt + this.#restMs, served: this.#virtualNow });
  }

  /** It was read for another reason at that moment, or is being read (null): not its turn yet. */
  postpone(slot: number, startedAt: number | null): void {
    this.#turns.delete(slot);
    if (startedAt !== null) this.served(slot, startedAt);
  }

  /** When the first one has rested; null when nobody rests. */
  nextRestedAt(): number | null {
    return this.#resting[this.#firstResting]?.until ?? null;
  }

  #wakeRested(now: number): void {
    for (let one = this.#resting[this.#firstResting]; one && one.until <= now; ) {
      this.#firstResting += 1;
      const isMember = !Number.isNaN(this.#weights[one.slot] ?? Number.NaN);
      if (isMember) this.#turns.set(one.slot, one.served + 1 / this.#shareAnew(one.slot));
      one = this.#resting[this.#firstResting];
    }
    if (this.#firstResting * 2 <= this.#resting.length) return;
    this.#resting = this.#resting.slice(this.#firstResting);
    this.#firstResting = 0;
  }

  /** The share by its weight and today's mean, which is kept as the present one. */
  #shareAnew(slot: number): number {
    const floor = this.#weightSum > 0 ? (floorShare * this.#weightSum) / this.#members : 1;
    const share = Math.fround(Math.max(this.#weights[slot] ?? 0, floor));
    this.#shareSum += share - (this.#shares[slot] ?? 0);
    this.#shares[slot] = share;
    return share;
  }

  #reserve(slots: number): void {
    if (slots <= this.#weights.length) return;
    const capacity = Math.max(slots, Math.ceil(this.#weights.length * 1.2), 8);
    const [weights, shares] = [new Float32Array(capacity).fill(Number.NaN), new Float32Array(capacity)];
    weights.set(this.#weights);
    shares.set(this.#shares);
    [this.#weights, this.#shares] = [weights, shares];
  }
}
