// How urgently a mailbox's statistics should be read again: the closer to its limit and the more it sends, the sooner.
// Pure. docs/decisions/0006 has the measurements behind the numbers; `npm run bench -- lag` repeats them.
import type { MailboxState } from '../../core/mailbox.ts';
import { type EpochMs, utcDate } from '../../core/time.ts';

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

/** Mailboxes in the order of a number each. To find the first costs a look at all: an account has hundreds. */
export class TurnOrder {
  readonly #keys = new Map<string, number>();
  /** The first, as long as it is known: undefined after it left or moved. */
  #first: string | null | undefined = null;

  get size(): number {
    return this.#keys.size;
  }

  /** The mailbox with the smallest number, the one that came first among equals; null when there is none. */
  first(): string | null {
    if (this.#first !== undefined) return this.#first;
    let [first, smallest]: [string | null, number] = [null, Number.POSITIVE_INFINITY];
    for (const [id, key] of this.#keys) if (first === null || key < smallest) [first, smallest] = [id, key];
    this.#first = first;
    return first;
  }

  /** The number of a mailbox; null when it is not in. */
  keyOf(id: string): number | null {
    return this.#keys.get(id) ?? null;
  }

  /** Puts a mailbox in, or moves it. */
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

  /** How many numbers are smaller. */
  countBelow(key: number): number {
    return [...this.#keys.values()].filter((one) => one < key).length;
  }
}

interface Resting {
  readonly id: string;
  readonly until: number;
  /** The virtual time at which it was served. */
  readonly served: number;
}

interface RiskMember {
  readonly weight: number;
  /** It can't cross its limit today. */
  readonly calm: boolean;
  /** The weight that its turns are given by at present. */
  share: number;
}

/** Times are milliseconds of the monotonic clock. */
export class RiskOrder {
  readonly #restMs: number;
  /** By virtual deadline. */
  readonly #turns = new TurnOrder();
  /** Served lately, in the order of serving. */
  readonly #resting: Resting[] = [];
  readonly #members = new Map<string, RiskMember>();
  #weightSum = 0;
  #shareSum = 0;
  /** Moves on by one, divided by all shares, with each reading. */
  #virtualNow = 0;

  /** `restMs`: a mailbox that was served is not served again before. */
  constructor(restMs: number) {
    this.#restMs = restMs;
  }

  /** Gives a mailbox its weight, a newcomer at its first. `calm`: it can't cross its limit today. */
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

  /** Next mailbox, or null when all rest. Does not remove it. */
  next(now: number): string | null {
    this.#wakeRested(now);
    return this.#turns.first();
  }

  /** The mailbox is being read, whether or not it was its turn. */
  taken(id: string): void {
    if (this.#shareSum > 0) this.#virtualNow += 1 / this.#shareSum;
    this.#turns.delete(id);
  }

  /** The reading that began at `startedAt` has ended: the mailbox rests, and then waits for its turn. */
  served(id: string, startedAt: number): void {
    this.#resting.push({ id, until: startedAt + this.#restMs, served: this.#virtualNow });
  }

  /** It was read for another reason at that moment, or is being read (null): not its turn yet. */
  postpone(id: string, startedAt: number | null): void {
    this.#turns.delete(id);
    if (startedAt !== null) this.served(id, startedAt);
  }

  /** When the first one has rested; null when nobody rests. */
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

  /** The share by its weight and today's mean, which is kept as the present one. */
  #shareAnew(member: RiskMember): number {
    const floor = this.#weightSum > 0 ? (floorShare * this.#weightSum) / this.#members.size : 1;
    const share = Math.max(member.calm ? 0 : member.weight, floor);
    this.#shareSum += share - member.share;
    member.share = share;
    return share;
  }
}
