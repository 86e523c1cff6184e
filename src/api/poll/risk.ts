// Urgency of reading a mailbox's statistics again: the closer it is to its limit and the more it sends, the sooner.
// Pure. docs/decisions/0006 has the measurements behind the numbers; `npm run bench -- lag` repeats them.
import type { MailboxState } from '../../core/mailbox.ts';
import { type EpochMs, utcDate } from '../../core/time.ts';

/** Risk that a mailbox crosses its limit before its statistics are read again. */
export interface Risk {
  /** Emails a day, or 0 if it does not send. */
  readonly sendsPerDay: number;
  /** Emails that it may still send today, or Infinity if its daily limit is unknown. */
  readonly sendsLeftToday: number;
  /** Minimum number of further bounces that cross the limit. */
  readonly bouncesLeft: number;
}

/** Number of bounces left if the rate is over the limit already and only the minimum sample is missing. */
export const armedBounces = 0.1;

/**
 * Exponent of the risk; 0 is round robin. An earlier simulation chose 0.5, because without a cap on the staleness a
 * higher value let the calm mailboxes wait too long. With the cap, 0.9 saw crossings sooner at every quantile.
 */
const sharpness = 0.9;

/** Returns the relative share of requests for a mailbox: its sends for each bounce that is left. */
export function weightOf({ sendsPerDay, bouncesLeft }: Risk): number {
  return (Math.max(0, sendsPerDay) / Math.max(bouncesLeft, armedBounces)) ** sharpness;
}

/**
 * True if the mailbox can cross its limit today. It cannot if that takes more bounces than emails that it may still
 * send.
 */
export function mayCrossToday({ bouncesLeft, sendsLeftToday }: Risk): boolean {
  return bouncesLeft <= sendsLeftToday;
}

/**
 * Returns the present risk of a mailbox, or null before its first verdict. A known breach counts as one bounce left:
 * its action is in progress, and further reads would not help.
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

/**
 * Returns the emails of the newest day if that is today. The API's day may be one ahead of ours (docs/faults.md T10).
 */
function sentToday({ stats }: MailboxState, now: EpochMs): number {
  const today = utcDate(now);
  const rows = (stats?.answer.rows ?? []).filter(({ date }) => date !== null && date >= today);
  return Math.max(0, ...rows.map(({ sent }) => sent ?? 0));
}

// Order of reads by risk: each mailbox's share of requests is its share of all weights, evenly spread (weighted fair
// queueing by virtual deadlines).

/** Minimum weight as a share of the mean, so that mailboxes that seem calm are read, too. */
const floorShare = 0.5;

/**
 * Mailboxes in the order of a number each. Finding the first takes a walk over all, which is cheap for the hundreds of
 * an account.
 */
export class TurnOrder {
  readonly #keys = new Map<string, number>();
  /** First mailbox while it is known, or undefined after it left or moved. */
  #first: string | null | undefined = null;

  get size(): number {
    return this.#keys.size;
  }

  /** Returns the mailbox with the smallest number, the earliest among equals, or null if there is none. */
  first(): string | null {
    if (this.#first !== undefined) return this.#first;
    let [first, smallest]: [string | null, number] = [null, Number.POSITIVE_INFINITY];
    for (const [id, key] of this.#keys) if (first === null || key < smallest) [first, smallest] = [id, key];
    this.#first = first;
    return first;
  }

  /** Returns the number of a mailbox, or null if it is not in the order. */
  keyOf(id: string): number | null {
    return this.#keys.get(id) ?? null;
  }

  /** Adds or moves a mailbox. */
  set(id: string, key: number): void {
    const first = this.#first;
    this.#keys.set(id, key);
    if (first === undefined) return;
    if (first === id) this.#first = undefined;
    else if (first === null || key < (this.#keys.get(first) ?? key)) this.#first = id;
  }

  delete(id: string): void {
    this.#keys.delete(id);
    if (this.#first === id) this.#first = undefined;
  }

  /** Returns the count of smaller numbers. */
  countBelow(key: number): number {
    return [...this.#keys.values()].filter((one) => one < key).length;
  }
}

interface Resting {
  readonly id: string;
  readonly until: number;
  /** Virtual time at which it was served. */
  readonly served: number;
}

interface RiskMember {
  readonly weight: number;
  /** True if the mailbox cannot cross its limit today. */
  readonly calm: boolean;
  /** Weight that decides its turns at present. */
  share: number;
}

/** Times are milliseconds of the monotonic clock. */
export class RiskOrder {
  readonly #restMs: number;
  /** Mailboxes by virtual deadline. */
  readonly #turns = new TurnOrder();
  /** Mailboxes that were served recently, in the order of serving. */
  readonly #resting: Resting[] = [];
  readonly #members = new Map<string, RiskMember>();
  #weightSum = 0;
  #shareSum = 0;
  /** Virtual time. Each reading advances it by one divided by the sum of all shares. */
  #virtualNow = 0;

  /** `restMs`: minimum time before a mailbox is served again. */
  constructor(restMs: number) {
    this.#restMs = restMs;
  }

  /** Sets the weight of a mailbox, and adds a new one. `calm`: it cannot cross its limit today. */
  weigh(id: string, weight: number, calm: boolean): void {
    const known = this.#members.get(id);
    const before = known?.share ?? 0;
    this.#weightSum += weight - (known?.weight ?? 0);
    const member = { weight, calm, share: before };
    this.#members.set(id, member);
    const share = this.#shareAnew(member);
    const deadline = this.#turns.keyOf(id);
    if (deadline === null || deadline <= this.#virtualNow) return;
    this.#turns.set(id, this.#virtualNow + ((deadline - this.#virtualNow) * before) / share);
  }

  leave(id: string): void {
    this.#turns.delete(id);
    const known = this.#members.get(id);
    if (!known) return;
    this.#members.delete(id);
    const isEmpty = this.#members.size === 0;
    this.#weightSum = isEmpty ? 0 : this.#weightSum - known.weight;
    this.#shareSum = isEmpty ? 0 : this.#shareSum - known.share;
  }

  /** Returns the next mailbox, or null if all rest. Does not remove it. */
  next(now: number): string | null {
    this.#wakeRested(now);
    return this.#turns.first();
  }

  /** Records that a mailbox is being read, whether or not it was its turn. */
  taken(id: string): void {
    if (this.#shareSum > 0) this.#virtualNow += 1 / this.#shareSum;
    this.#turns.delete(id);
  }

  /** Records that the reading of `startedAt` has ended. The mailbox rests, and then waits for its turn. */
  served(id: string, startedAt: number): void {
    this.#resting.push({ id, until: startedAt + this.#restMs, served: this.#virtualNow });
  }

  /** Removes the turn of a mailbox that was read for another reason at that time, or is being read (null). */
  postpone(id: string, startedAt: number | null): void {
    this.#turns.delete(id);
    if (startedAt !== null) this.served(id, startedAt);
  }

  /** Returns the time at which the first mailbox has rested, or null if none rests. */
  nextRestedAt(): number | null {
    return this.#resting[0]?.until ?? null;
  }

  #wakeRested(now: number): void {
    for (let one = this.#resting[0]; one && one.until <= now; one = this.#resting[0]) {
      this.#resting.shift();
      const member = this.#members.get(one.id);
      if (member) this.#turns.set(one.id, one.served + 1 / this.#shareAnew(member));
    }
  }

  /** Computes the share by the weight and the present mean, and stores it. */
  #shareAnew(member: RiskMember): number {
    const floor = this.#weightSum > 0 ? (floorShare * this.#weightSum) / this.#members.size : 1;
    const share = Math.max(member.calm ? 0 : member.weight, floor);
    this.#shareSum += share - member.share;
    member.share = share;
    return share;
  }
}
