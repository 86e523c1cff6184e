// Memory of the guard about a mailbox. docs/guard.md, "After a change".

import { type ActionKind, type GuardActionKind, leavesGuardAlone } from '../action.ts';
import type { StatsRow } from '../answers.ts';
import { isWarmupMode, maxStatsDays, type Policy } from '../policy.ts';
import { addDays, dayMs, type EpochMs, type IsoDate, utcDate } from '../time.ts';
import {
  type Claim,
  type EarlierMode,
  type EvidenceStart,
  isBlind,
  type Reason,
  type RunState,
  type Verdict,
} from '../verdict.ts';
import { countsOf, type Days, newestToday, pool, readDays } from './rows.ts';
import { baseStart, evidenceWindow, isBreach } from './window.ts';

export interface LostCounts {
  readonly from: IsoDate;
  readonly to: IsoDate;
  readonly sent: number;
}

export interface GuardMemory {
  readonly firstSeenAt: EpochMs;
  /** Number of judged stats answers: a first breach waits for the second. */
  readonly answersJudged: number;
  /** Last known mode. A difference is an outside change unless we claimed it. */
  readonly mode: string | null;
  /** Earlier modes, the newest first, as far back as statistics reach. */
  readonly earlierModes?: readonly EarlierMode[];
  readonly run: RunState;
  /** Last status word of a running warm-up, which may be null. Absent until the warm-up runs. */
  readonly runningWord?: string | null;
  /** Day since which no look led to a judgement, or null. Emails of a later day contradict a word for a stopped warm-up. */
  readonly unjudgedSince?: IsoDate | null;
  readonly evidence: EvidenceStart | null;
  readonly emergencyEvidence: EvidenceStart | null;
  /** Time at which the mailbox was found in recovery mode with a breach, until the evidence restarts. */
  readonly foundBreachAt?: EpochMs | null;
  readonly interventions: readonly EpochMs[];
  readonly claim: Claim | null;
  /** Status word that proved a pause. It means paused until the warm-up runs again. */
  readonly pauseWord: string | null;
  readonly reversals: readonly EpochMs[];
  /** Earlier ids of this address (docs/faults.md S9), the newest first. */
  readonly formerIds?: readonly string[];
  readonly lost?: LostCounts;
}

export interface Sight {
  readonly mode: string | null;
  readonly run: RunState;
  readonly word?: string | null;
  readonly rows: readonly StatsRow[] | null;
  readonly now: EpochMs;
  readonly apiAheadMs?: number;
}

type DatedRows = Pick<Sight, 'rows' | 'now' | 'apiAheadMs'>;

function daysIn({ rows, now, apiAheadMs = 0 }: DatedRows): Days {
  return readDays(rows ?? [], now + apiAheadMs);
}

const today = ({ rows, now, apiAheadMs = 0 }: DatedRows) => newestToday(rows, now, apiAheadMs);

/** Evidence from now on: the first day counts only above its present counts. */
function fromNow(sight: DatedRows): EvidenceStart {
  const days = daysIn(sight);
  const from = days.anchor ?? utcDate(sight.now);
  return { from, before: countsOf(days, from) };
}

function fromNextFullDay(sight: Sight): EvidenceStart {
  return { from: addDays(today(sight), 1), before: null };
}

/** Start of the evidence, or null until a mode and a day are known. In recovery the evidence begins now. */
function firstEvidence(policy: Policy, sight: Sight): Pick<GuardMemory, 'evidence' | 'foundBreachAt'> {
  const days = daysIn(sight);
  const { anchor } = days;
  if (anchor === null || !isWarmupMode(sight.mode)) return { evidence: null, foundBreachAt: null };
  const from = baseStart(policy, anchor);
  if (sight.mode !== 'recovery') return { evidence: { from, before: null }, foundBreachAt: null };
  const isFoundSo = isBreach(pool(days, { from, to: anchor }, null), policy.limitsPpm.recovery, policy.minBounces);
  return { evidence: fromNow(sight), foundBreachAt: isFoundSo ? sight.now : null };
}

const earlierModesKept = 90;

/** The day of a change belongs to the mode before. */
function modesAfter(memory: GuardMemory, sight: Sight): Pick<GuardMemory, 'mode' | 'earlierModes'> {
  const mode = isWarmupMode(sight.mode) ? sight.mode : memory.mode;
  if (!isWarmupMode(memory.mode) || mode === memory.mode) return { mode };
  const date = today(sight);
  const changed: EarlierMode = { mode: memory.mode, until: date };
  const remembered = (memory.earlierModes ?? []).filter(({ until }) => until >= addDays(date, -maxStatsDays));
  return { mode, earlierModes: [changed, ...remembered].slice(0, earlierModesKept) };
}

/** Memory of an unknown mailbox. In recovery the evidence starts now, otherwise with the window's last days. */
export function firstSight(policy: Policy, sight: Sight): GuardMemory {
  return {
    ...unknown,
    firstSeenAt: sight.now,
    mode: isWarmupMode(sight.mode) ? sight.mode : null,
    run: sight.run,
    ...ranUnder(sight),
    ...firstEvidence(policy, sight),
  };
}

const unknown = {
  answersJudged: 0,
  emergencyEvidence: null,
  interventions: [],
  claim: null,
  pauseWord: null,
  reversals: [],
};

/** Memory of an address under a new id: interventions count on, claims and holds do not (docs/faults.md S9). */
export function underNewId(before: GuardMemory, formerId: string, now: EpochMs): GuardMemory {
  const formerIds = [formerId, ...(before.formerIds ?? [])];
  const { interventions, pauseWord } = before;
  const nothing = { ...unknown, mode: null, run: 'unknown', evidence: null } as const;
  return { ...nothing, firstSeenAt: now, interventions, pauseWord, formerIds };
}

function ranUnder({ run, word }: Sight): Pick<GuardMemory, 'runningWord'> {
  return run === 'running' && word !== undefined ? { runningWord: word } : {};
}

/** Applies outside changes since the last look. An unknown mode or state changes nothing. */
export function afterSight(policy: Policy, before: GuardMemory, sight: Sight): GuardMemory {
  const memory = withoutFuture(before, sight);
  const modes = modesAfter(memory, sight);
  const { mode } = modes;
  const run = runSeen(memory, sight);
  const modeChanged = memory.mode !== null && mode !== memory.mode;
  const resumed = (memory.run === 'paused' || memory.run === 'not_running') && run === 'running';
  const known = memory.evidence ? memory : { ...memory, ...firstEvidence(policy, sight) };
  const restarted = modeChanged || resumed ? restartByOthers(policy, known, sight, { mode, resumed }) : known;
  const claim = stands(memory.claim, mode, run) ? memory.claim : null;
  const reversed = memory.claim !== null && claim === null;
  const reversals = reversed ? [...memory.reversals, sight.now] : memory.reversals;
  const pauseWord = run === 'running' ? null : memory.pauseWord;
  return { ...restarted, ...modes, ...ranUnder(sight), run, claim, pauseWord, reversals };
}

/**
 * Moves times in the future, which a clock that was ahead left behind, to the present: what Warmwarden did still counts.
 * Forgets reversals in the future and those that no longer count.
 */
function withoutFuture(memory: GuardMemory, sight: Sight): GuardMemory {
  const { evidence, emergencyEvidence, unjudgedSince, foundBreachAt, interventions, claim } = memory;
  const [now, next] = [today(sight), fromNextFullDay(sight)];
  const isAhead = (start: EvidenceStart | null) => start !== null && start.from > next.from;
  const notAfterNow = (at: EpochMs) => Math.min(at, sight.now);
  return {
    ...memory,
    evidence: isAhead(evidence) ? next : evidence,
    emergencyEvidence: isAhead(emergencyEvidence) ? fromNow(sight) : emergencyEvidence,
    unjudgedSince: unjudgedSince && unjudgedSince > now ? now : (unjudgedSince ?? null),
    ...(foundBreachAt && { foundBreachAt: notAfterNow(foundBreachAt) }),
    interventions: interventions.map(notAfterNow),
    claim: claim && claimedBy(claim, sight.now),
    reversals: recentReversals(memory, sight.now),
  };
}

function claimedBy(claim: Claim, now: EpochMs): Claim {
  return { ...claim, since: Math.min(claim.since, now), under: claim.under && claimedBy(claim.under, now) };
}

function stands(claim: Claim | null, mode: string | null, run: RunState): boolean {
  if (!claim) return false;
  return claim.kind === 'pause' ? run === 'paused' : mode === 'recovery';
}

/**
 * A change by others. A resume of our pause forgets what we acted on. Others move the start of the evidence once within
 * the window's days, and not during a breach, except for a switch to recovery. An emergency's counts never move.
 */
function restartByOthers(
  policy: Policy,
  memory: GuardMemory,
  sight: Sight,
  { mode, resumed }: { readonly mode: string | null; readonly resumed: boolean },
): GuardMemory {
  const { claim, evidence } = memory;
  if (resumed && claim?.kind === 'pause') return restart(memory, sight, false);
  const next = fromNextFullDay(sight);
  // A pause of every weekend is a change of every seventh day: it moves the start every other week.
  const isMovedLately =
    evidence?.byOthers && next.from >= evidence.from && next.from <= addDays(evidence.from, policy.windowDays);
  const limitPpm = isWarmupMode(memory.mode) ? policy.limitsPpm[memory.mode] : null;
  const counted = evidenceWindow(daysIn(sight), policy, limitPpm, evidence);
  // The clean days of our recovery count on: they end it.
  const isClean = claim?.kind === 'recovery' && mode === 'recovery' && counted?.bounced === 0;
  if (isMovedLately || isClean) return memory;
  const actsOnIt = mode === 'recovery' && memory.mode !== 'recovery';
  const isInBreach = counted && isBreach(counted, limitPpm, policy.minBounces);
  if (isInBreach && !actsOnIt) return memory;
  return { ...memory, evidence: { ...next, byOthers: true }, foundBreachAt: null };
}

/** A switch to recovery does not restart the emergency rule, which must see bounces that arrive late. */
function restart(memory: GuardMemory, sight: Sight, switchedToRecovery: boolean): GuardMemory {
  return {
    ...memory,
    evidence: fromNextFullDay(sight),
    foundBreachAt: null,
    emergencyEvidence: switchedToRecovery ? memory.emergencyEvidence : fromNow(sight),
  };
}

/** Reasons that say nothing about bounces: a first breach does not count such answers. */
const unjudged: readonly Reason[] = ['already_paused', 'not_running', 'no_data', 'stale_data'];
/** An unknown status word or a contradicted one hinders the action, not the judgement. */
const judgedBlindly: readonly Reason[] = ['unknown_status', 'word_against_counts'];

/** Applies a verdict. `fresh`: by a new stats answer. */
export function afterJudgement(
  memory: GuardMemory,
  { reason, run, sent, emergency }: Pick<Verdict, 'reason' | 'run' | 'sent' | 'emergency'>,
  { fresh, ...sight }: DatedRows & { readonly fresh: boolean },
): GuardMemory {
  const saysNothing = unjudged.includes(reason) || isBlind(reason);
  const counts = fresh && (!saysNothing || judgedBlindly.includes(reason));
  const answersJudged = memory.answersJudged + (counts ? 1 : 0);
  const isJudged = run === 'running' && !saysNothing && (sent > 0 || emergency !== null);
  const before = memory.unjudgedSince ?? null;
  const unjudgedSince = isJudged ? null : (before ?? today(sight));
  // A look that changes neither keeps the stored object.
  if (unjudgedSince === before) return counts ? { ...memory, answersJudged } : memory;
  return { ...memory, answersJudged, unjudgedSince };
}

export interface Done<Kind extends ActionKind = ActionKind> {
  readonly kind: Kind;
  readonly actionId: string;
  readonly previousMode: string | null;
  readonly word: string | null;
}

/** A confirmed change is claimed, is an intervention, and restarts the evidence. A restore only ends the claim. */
export function afterConfirmed(memory: GuardMemory, done: Done<GuardActionKind>, sight: Sight): GuardMemory {
  const seen = { ...modesAfter(memory, sight), run: runAfter(memory, done, sight) };
  if (done.kind === 'restore') return { ...restart(memory, sight, false), ...seen, claim: null };
  const paused = done.kind === 'pause';
  return {
    ...(paused ? memory : restart(memory, sight, true)),
    ...seen,
    ...(paused ? pausedUnder(done, sight) : {}),
    interventions: [...memory.interventions, sight.now],
    claim: {
      kind: paused ? 'pause' : 'recovery',
      actionId: done.actionId,
      since: sight.now,
      previousMode: done.previousMode,
      under: paused && memory.claim?.kind === 'recovery' ? memory.claim : null,
    },
  };
}

/** Emails on the day of a pause left before it. */
function pausedUnder({ word }: Done, sight: Sight): Pick<GuardMemory, 'pauseWord' | 'unjudgedSince'> {
  return { pauseWord: word, unjudgedSince: today(sight) };
}

/**
 * A person's change through Warmwarden is not claimed and restarts the evidence. A reverted change of ours counts as a
 * reversal. A resume keeps our recovery under our pause. A new daily limit, or another setting, changes neither evidence nor claim.
 */
export function afterOperatorChange(policy: Policy, memory: GuardMemory, done: Done, sight: Sight): GuardMemory {
  if (leavesGuardAlone(done.kind)) return memory;
  const { claim } = memory;
  const seen = { ...modesAfter(memory, sight), run: runAfter(memory, done, sight) };
  if (done.kind === 'pause') return { ...memory, ...seen, claim: null, ...pausedUnder(done, sight) };
  const resumed = done.kind === 'resume';
  const reversed = claim !== null && (claim.kind === 'pause') === resumed;
  return {
    ...restartByOthers(policy, memory, sight, { mode: seen.mode, resumed }),
    ...seen,
    ...(resumed ? { runningWord: done.word } : {}),
    pauseWord: resumed ? null : memory.pauseWord,
    claim: !resumed ? null : claim?.kind === 'pause' ? claim.under : claim,
    reversals: reversed ? [...memory.reversals, sight.now] : memory.reversals,
  };
}

function runAfter(memory: GuardMemory, { kind }: Done, sight: Sight): RunState {
  if (kind === 'pause') return 'paused';
  return kind === 'resume' && sight.run === 'unknown' ? 'running' : runSeen(memory, sight);
}

function runSeen(memory: GuardMemory, { run }: Sight): RunState {
  return run === 'unknown' ? memory.run : run;
}

const contestedReversals = 2;
const contestedMs = dayMs;

export function recentReversals({ reversals }: GuardMemory, now: EpochMs): readonly EpochMs[] {
  return reversals.filter((at) => at <= now && now - at < contestedMs);
}

export function isContested(memory: GuardMemory, now: EpochMs): boolean {
  return recentReversals(memory, now).length >= contestedReversals;
}

/** Time at which too few reversals count, if no other comes, or null if the mailbox is not contested. */
export function contestedUntil(memory: GuardMemory, now: EpochMs): EpochMs | null {
  const last = recentReversals(memory, now).at(-contestedReversals);
  return last === undefined ? null : last + contestedMs;
}

export function withoutReversals(memory: GuardMemory): GuardMemory {
  return { ...memory, reversals: [] };
}

/** A person found the counts wrong: only bounces from now on are evidence. */
export function withoutCounts(memory: GuardMemory, sight: DatedRows): GuardMemory {
  const evidence = fromNow(sight);
  return { ...memory, evidence, emergencyEvidence: evidence, foundBreachAt: null };
}

export function recentInterventions(memory: GuardMemory, policy: Policy, now: EpochMs): number {
  return memory.interventions.filter((at) => now - at <= policy.maxInterventions.days * dayMs).length;
}
