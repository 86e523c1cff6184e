// The circuit breaker over everything under one base_url. docs/guard.md, "When it does nothing, on purpose".
import { accountOfKey, idOfKey, mailboxKey } from '../mailbox.ts';
import type { Policy } from '../policy.ts';
import { type EpochMs, elapsedMs, minuteMs } from '../time.ts';
import type { Verdict } from '../verdict.ts';

export interface BreakerEntry {
  readonly key: string;
  readonly account: string;
  readonly email: string;
  readonly domain: string;
  readonly at: EpochMs;
  readonly held: boolean;
  /** Moment since which the mailbox is held without a break. */
  readonly heldSince?: EpochMs;
  readonly firstSight: boolean;
  /** Gravity: bounces per million over the limit's share. Used for comparison only. */
  readonly weight: number;
  readonly emergency?: true;
}

export interface BreakerState {
  /** Moment since which everything is held, or null while actions are admitted. */
  readonly openSince: EpochMs | null;
  /** True if mostly mailboxes at first sight tripped the breaker: then only a person opens it again. */
  readonly atFirstSight: boolean;
  readonly entries: readonly BreakerEntry[];
  readonly trickle: readonly EpochMs[];
  /** Keys whose held actions a person lets go ahead. These actions are not counted. */
  readonly approved: readonly string[];
  /** Number of emergencies since the breaker opened, including those that a person let go ahead. */
  readonly emergencies?: number;
}

export const closedBreaker: BreakerState = {
  openSince: null,
  atFirstSight: false,
  entries: [],
  trickle: [],
  approved: [],
};

export function heldEntries(state: BreakerState): readonly BreakerEntry[] {
  return state.entries.filter(({ held }) => held).sort((a, b) => b.weight - a.weight);
}

export function moveEntries(
  state: BreakerState,
  moves: readonly { readonly from: string; readonly to: string; readonly ids: readonly string[] | null }[],
): BreakerState {
  const movedTo = (key: string) =>
    moves.find(({ from, ids }) => from === accountOfKey(key) && (ids?.includes(idOfKey(key)) ?? true))?.to;
  const keys = [...state.entries.map(({ key }) => key), ...state.approved];
  if (keys.every((key) => movedTo(key) === undefined)) return state;
  const keyNow = (key: string) => mailboxKey(movedTo(key) ?? accountOfKey(key), idOfKey(key));
  return {
    ...state,
    entries: state.entries.map((entry) => {
      const account = movedTo(entry.key);
      return account === undefined ? entry : { ...entry, account, key: keyNow(entry.key) };
    }),
    approved: state.approved.map(keyNow),
  };
}

export interface Candidate extends Omit<BreakerEntry, 'at' | 'held' | 'heldSince'> {
  readonly statsAt: EpochMs;
}

/** Share of the running mailboxes that an open breaker admits in each period. */
const trickleShare = 0.1;
const trickleMs = 15 * minuteMs;

interface BreakerLook {
  readonly policy: Policy['breaker'];
  readonly running: () => number;
  readonly now: EpochMs;
}

export function admit(
  state: BreakerState,
  candidate: Candidate,
  look: BreakerLook,
): { readonly state: BreakerState; readonly admitted: boolean } {
  const { policy, running, now } = look;
  const { statsAt: _, ...about } = candidate;
  const { key } = candidate;
  if (state.approved.includes(key)) {
    return { state: { ...state, approved: state.approved.filter((one) => one !== key) }, admitted: true };
  }
  // A held entry stays until it is acted on or withdrawn; only actions age.
  const others = state.entries.filter(
    (entry) => entry.key !== key && (entry.held || elapsedMs(entry.at, now) < policy.windowMs),
  );
  const heldSince = state.entries.find((entry) => entry.key === key && entry.held)?.heldSince ?? now;
  const next = (held: boolean): BreakerState => ({
    ...state,
    entries: [...others, { ...about, at: now, held, ...(held && { heldSince }) }],
    ...(held && isNewEmergency(state, candidate) && { emergencies: (state.emergencies ?? 0) + 1 }),
  });
  if (state.openSince !== null) {
    const admitted = mayTrickle(state, others, candidate, look);
    const trickle = admitted ? [...recentTrickle(state, now), now] : state.trickle;
    return { state: closedWhenFree({ ...next(!admitted), trickle }), admitted };
  }
  const pending = others.length + 1;
  const domains = new Set([candidate.domain, ...others.map(({ domain }) => domain)]).size;
  const isMany = pending >= policy.minMailboxes && domains >= policy.minDomains;
  if (!isMany || (pending < policy.maxMailboxes && pending * 1e6 < policy.sharePpm * running()))
    return { state: next(false), admitted: true };
  const opened = next(true);
  const strangers = opened.entries.filter(({ firstSight }) => firstSight).length;
  const atFirstSight = strangers * 2 > opened.entries.length;
  return { state: { ...opened, openSince: now, atFirstSight, trickle: [] }, admitted: false };
}

function isNewEmergency({ entries }: BreakerState, { key, emergency }: Candidate): boolean {
  return emergency === true && !entries.some((entry) => entry.key === key && entry.held && entry.emergency);
}

export function heldByBreaker(verdict: Verdict): Verdict {
  return { ...verdict, action: 'hold', reason: 'circuit_breaker', wanted: verdict.action };
}

/** Closes a breaker that holds no mailbox. What was done counts for the window. */
function closedWhenFree(state: BreakerState): BreakerState {
  if (state.openSince === null || state.entries.some(({ held }) => held)) return state;
  return { ...closedBreaker, entries: state.entries, approved: state.approved };
}

function recentTrickle(state: BreakerState, now: EpochMs): readonly EpochMs[] {
  return state.trickle.filter((at) => elapsedMs(at, now) < trickleMs);
}

/** True if a held action may go ahead after the window, the worst first. */
function mayTrickle(
  state: BreakerState,
  others: readonly BreakerEntry[],
  candidate: Candidate,
  { policy, running, now }: BreakerLook,
): boolean {
  if (state.openSince === null || state.atFirstSight) return false;
  const waitedUntil = state.openSince + policy.windowMs;
  // The statistics must be from after the wait, too.
  if (now < waitedUntil || candidate.statsAt < waitedUntil) return false;
  const room = Math.max(1, Math.floor(running() * trickleShare)) - recentTrickle(state, now).length;
  // A worse mailbox without recent data must not keep the others waiting.
  const before = others.filter(
    ({ held, weight, at }) => held && weight > candidate.weight && elapsedMs(at, now) < policy.windowMs,
  );
  return before.length < room;
}

/** Removes a mailbox that has left or wants no action. */
export function withdraw(state: BreakerState, key: string): BreakerState {
  return keep(state, (one) => one !== key);
}

export function withdrawOthers(state: BreakerState, accounts: ReadonlySet<string>): BreakerState {
  return keep(state, (key) => accounts.has(accountOfKey(key)));
}

/** Removes held and approved mailboxes. The state is the same object if there are none. */
function keep(state: BreakerState, stays: (key: string) => boolean): BreakerState {
  const entries = state.entries.filter(({ key, held }) => !held || stays(key));
  const approved = state.approved.filter(stays);
  const isSame = entries.length === state.entries.length && approved.length === state.approved.length;
  return closedWhenFree(isSame ? state : { ...state, entries, approved });
}

/** Lets all held actions go ahead. Later ones are admitted as before. */
export function applyHeld(state: BreakerState): BreakerState {
  const approved = state.entries.filter(({ held }) => held).map(({ key }) => key);
  return { ...discardHeld(state), approved };
}

/** Drops all held actions, and closes the breaker. */
export function discardHeld(state: BreakerState): BreakerState {
  return closedWhenFree({ ...state, entries: state.entries.filter(({ held }) => !held) });
}

/** Short name of an API in messages and commands: the host of its base_url. */
export function apiHost(api: string): string {
  return URL.canParse(api) ? new URL(api).host : api;
}
