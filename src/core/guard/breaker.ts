// The breaker over everything under one base_url: admits actions until too much of the fleet would be acted upon at once.
// docs/guard.md, "When it does nothing, on purpose".
import { accountOfKey, idOfKey, mailboxKey } from '../mailbox.ts';
import type { Policy } from '../policy.ts';
import { type EpochMs, elapsedMs, minuteMs } from '../time.ts';
import type { Verdict } from '../verdict.ts';

/** A mailbox that was acted on, or is held for an action. */
export interface BreakerEntry {
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

export interface Candidate extends Omit<BreakerEntry, 'at' | 'held'> {
  /** Moment at which its statistics were read. */
  readonly statsAt: EpochMs;
}

/** The second step: this share of the running mailboxes in each stretch of this length. */
const trickleShare = 0.1;
const trickleMs = 15 * minuteMs;

export interface Admission {
  readonly state: BreakerState;
  readonly admitted: boolean;
}

type Running = () => number;

/** Decides if one more action may go ahead, and returns the state after it. */
export function admit(
  state: BreakerState,
  candidate: Candidate,
  given: { readonly policy: Policy['breaker']; readonly running: Running; readonly now: EpochMs },
): Admission {
  const { policy, running, now } = given;
  const { statsAt: _, ...about } = candidate;
  const { key } = candidate;
  if (state.released.includes(key)) {
    return { state: { ...state, released: state.released.filter((one) => one !== key) }, admitted: true };
  }
  // A held entry stays until it is acted on or withdrawn; only actions age.
  const others = state.entries.filter(
    (entry) => entry.key !== key && (entry.held || elapsedMs(entry.at, now) < policy.windowMs),
  );
  const next = (held: boolean): BreakerState => ({
    ...state,
    entries: [...others, { ...about, at: now, held }],
    ...(held && isNewEmergency(state, candidate) && { emergencies: (state.emergencies ?? 0) + 1 }),
  });
  if (state.openSince !== null) {
    const admitted = mayTrickle(state, others, candidate, given);
    const trickle = admitted ? [...recentTrickle(state, now), now] : state.trickle;
    return { state: closedWhenFree({ ...next(!admitted), trickle }), admitted };
  }
  const domains = new Set([candidate.domain, ...others.map(({ domain }) => domain)]);
  const pressure = { pending: others.length + 1, distinctDomains: domains.size };
  if (!breakerTrips(policy, pressure, running)) return { state: next(false), admitted: true };
  const opened = next(true);
  const strangers = opened.entries.filter(({ firstSight }) => firstSight).length;
  const atFirstSight = strangers * 2 > opened.entries.length;
  return { state: { ...opened, openSince: now, atFirstSight, trickle: [] }, admitted: false };
}

function isNewEmergency({ entries }: BreakerState, { key, emergency }: Candidate): boolean {
  return emergency === true && !entries.some((entry) => entry.key === key && entry.held && entry.emergency);
}

/** Number of mailboxes and domains that would be acted upon at once. */
interface Pressure {
  /** Mailboxes acted on or held for an action within the breaker's window, this one included. */
  readonly pending: number;
  readonly distinctDomains: number;
}

/** True if too much of the fleet would be acted upon at once. */
function breakerTrips(policy: Policy['breaker'], { pending, distinctDomains }: Pressure, running: Running): boolean {
  if (distinctDomains < policy.minDomains || pending < policy.minMailboxes) return false;
  return pending >= policy.maxMailboxes || pending * 1e6 >= policy.sharePpm * running();
}

/** The verdict on a mailbox that wants an action and was not admitted. */
export function heldByBreaker(verdict: Verdict): Verdict {
  return { ...verdict, action: 'hold', reason: 'circuit_breaker', wanted: verdict.action };
}

/** A breaker that holds nobody any more is closed; what was done stays and counts for the window. */
function closedWhenFree(state: BreakerState): BreakerState {
  if (state.openSince === null || state.entries.some(({ held }) => held)) return state;
  return { ...closedBreaker, entries: state.entries, released: state.released };
}

function recentTrickle(state: BreakerState, now: EpochMs): readonly EpochMs[] {
  return state.trickle.filter((at) => elapsedMs(at, now) < trickleMs);
}

/** True if a held action may go ahead after the window: worse held ones go first. */
function mayTrickle(
  state: BreakerState,
  others: readonly BreakerEntry[],
  candidate: Candidate,
  given: { readonly policy: Policy['breaker']; readonly running: Running; readonly now: EpochMs },
): boolean {
  const { policy, running, now } = given;
  if (state.openSince === null || state.atFirstSight) return false;
  const waitedUntil = state.openSince + policy.windowMs;
  // The statistics, too, must be from after the wait: "on fresh data that still says so".
  if (now < waitedUntil || candidate.statsAt < waitedUntil) return false;
  const room = Math.max(1, Math.floor(running() * trickleShare)) - recentTrickle(state, now).length;
  // A worse one that nobody could look at lately must not keep the others waiting.
  const before = others.filter(
    ({ held, weight, at }) => held && weight > candidate.weight && elapsedMs(at, now) < policy.windowMs,
  );
  return before.length < room;
}

/** A mailbox no longer wants an action, or has left. The breaker closes when nobody is held any more. */
export function withdraw(state: BreakerState, key: string): BreakerState {
  const isHeld = state.entries.some((entry) => entry.key === key && entry.held);
  const isReleased = state.released.includes(key);
  if (!isHeld && !isReleased) return closedWhenFree(state);
  return closedWhenFree({
    ...state,
    entries: state.entries.filter((entry) => entry.key !== key || !entry.held),
    released: state.released.filter((one) => one !== key),
  });
}

/** Accounts have left the API: their mailboxes are held for nobody any more. */
export function withdrawOthers(state: BreakerState, accounts: ReadonlySet<string>): BreakerState {
  const stays = (key: string) => accounts.has(accountOfKey(key));
  const entries = state.entries.filter(({ key, held }) => !held || stays(key));
  const released = state.released.filter(stays);
  const isSame = entries.length === state.entries.length && released.length === state.released.length;
  return closedWhenFree(isSame ? state : { ...state, entries, released });
}

/** A person says that the held actions are right: they go ahead, and what follows is admitted as before. */
export function release(state: BreakerState): BreakerState {
  const released = state.entries.filter(({ held }) => held).map(({ key }) => key);
  return { ...closedBreaker, entries: state.entries.filter(({ held }) => !held), released };
}
