// The breaker's memory: which mailboxes under one base_url were acted on or are held. docs/guard.md, "When it does nothing, on purpose".
import { accountOfKey, idOfKey, mailboxKey } from './mailbox.ts';
import type { EpochMs, IsoDate } from './time.ts';

/** A mailbox that was acted on, or is held for an action. */
export interface BreakerEntry {
  /** `ACCOUNT/ID`. */
  readonly key: string;
  readonly account: string;
  readonly email: string;
  readonly domain: string;
  /** Moment of its admission, or of its latest breach. */
  readonly at: EpochMs;
  readonly held: boolean;
  /** True if the mailbox was judged for the first or second time. */
  readonly firstSight: boolean;
  /** Gravity: bounces per million over the limit's share. Used for comparison only. */
  readonly weight: number;
  /** True if the bounces are an emergency. */
  readonly emergency?: true;
}

export interface BreakerState {
  /** Moment since which everything is held, or null while actions are admitted. */
  readonly openSince: EpochMs | null;
  /** True if mostly mailboxes at first sight tripped the breaker: only a release opens the way. */
  readonly atFirstSight: boolean;
  readonly entries: readonly BreakerEntry[];
  /** Admissions since it opened: the capped second step. */
  readonly trickle: readonly EpochMs[];
  /** Keys that a person released: they are acted on without being counted. */
  readonly released: readonly string[];
  /** Number of emergencies held since the breaker opened, including released ones. */
  readonly emergencies?: number;
}

export const closedBreaker: BreakerState = {
  openSince: null,
  atFirstSight: false,
  entries: [],
  trickle: [],
  released: [],
};

/** The mailboxes that are held, the worst first. */
export function heldEntries(state: BreakerState): readonly BreakerEntry[] {
  return state.entries.filter(({ held }) => held).sort((a, b) => b.weight - a.weight);
}

/** The state once mailboxes are guarded under other accounts. */
export function moveEntries(
  state: BreakerState,
  moves: readonly { readonly from: string; readonly to: string; readonly ids: readonly string[] | null }[],
): BreakerState {
  const movedTo = (key: string) =>
    moves.find(({ from, ids }) => from === accountOfKey(key) && (ids?.includes(idOfKey(key)) ?? true))?.to;
  const keys = [...state.entries.map(({ key }) => key), ...state.released];
  if (keys.every((key) => movedTo(key) === undefined)) return state;
  const keyNow = (key: string) => mailboxKey(movedTo(key) ?? accountOfKey(key), idOfKey(key));
  return {
    ...state,
    entries: state.entries.map((entry) => {
      const account = movedTo(entry.key);
      return account === undefined ? entry : { ...entry, account, key: keyNow(entry.key) };
    }),
    released: state.released.map(keyNow),
  };
}

// Findings in the pooled counts of a domain and of an account. docs/guard.md, "Beyond one mailbox".

/** Sums over some days of some mailboxes. */
export interface PooledSum {
  readonly sent: number;
  readonly bounced: number;
  /** Each day's emails times its limit in ppm: a million times the bounces that the limits allow. */
  readonly allowed: number;
}

/** The sums of the days from one date to another, both included. */
export interface PooledWindow extends PooledSum {
  readonly from: IsoDate;
  readonly to: IsoDate;
}

/** The newest days in which a domain had at least three bounces more than its limits allow. */
export interface DomainExcess extends PooledWindow {
  /** Number of mailboxes that sent or bounced in these days. */
  readonly mailboxes: number;
}

/** The last seven days of a domain. */
export interface DomainWeek extends PooledWindow {
  /** True if the week and each shorter stretch stay within the limits: otherwise one more bounce would fire again. */
  readonly isWithinLimits: boolean;
}

/** The last two days of an account against the 28 before them. */
export interface AccountShift {
  readonly last: PooledWindow;
  readonly before: PooledWindow;
  /** Number of domains with bounces in the last days. */
  readonly domains: number;
  /** Twice the earlier rate, and at least 12 bounces more, on at least five domains. */
  readonly isShifted: boolean;
  /** True if the rate is below one and a half times the earlier rate. */
  readonly isOver: boolean;
}
