// Memory of the guard about a mailbox, and its changes by events. docs/guard.md, "After a change".

import type { ActionKind, GuardActionKind } from '../action.ts';
import type { StatsRow } from '../answers.ts';
import { isWarmupMode, type Policy, type RecentLimits } from '../policy.ts';
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
import { evidenceWindow, isBreach } from './window.ts';

/** Emails that were read of some days, and that the API no longer shows: half of them or more. */
export interface LostCounts {
  readonly from: IsoDate;
  readonly to: IsoDate;
  readonly sent: number;
}

export interface GuardMemory {
  readonly firstSeenAt: EpochMs;
  /** Fresh stats answers judged so far: a first breach waits for the second. */
  readonly answersJudged: number;
  /** Mode and run state that were believed last; a difference is an outside change unless we claimed it. */
  readonly mode: string | null;
  /** The modes before it, the newest first, as far back as statistics reach. Absent until the mode changes. */
  readonly earlierModes?: readonly EarlierMode[];
  readonly run: RunState;
  /** The status word under which the warm-up ran last, null being a word, too. Absent until it runs. */
  readonly runningWord?: string | null;
  /** The day of the first look since which no look led to a judgement on any counts; null, or absent, when the last one did. */
  readonly unjudgedSince?: IsoDate | null;
  readonly evidence: EvidenceStart | null;
  readonly emergencyEvidence: EvidenceStart | null;
  /**
   * Moment at which the mailbox was found in recovery mode with a breach in its last days. null, or absent, otherwise
   * and once the evidence restarted.
   */
  readonly foundBreachAt?: EpochMs | null;
  readonly interventions: readonly EpochMs[];
  readonly claim: Claim | null;
  /** The status word that proved a pause: it means paused until the warm-up runs again, whether or not anybody listed it. */
  readonly pauseWord: string | null;
  /** Moments at which others took back our changes. */
  readonly reversals: readonly EpochMs[];
  /** Ids under which this address was guarded before it came back under another one (docs/faults.md S9), the newest first. */
  readonly formerIds?: readonly string[];
  readonly limits?: RecentLimits;
  readonly lost?: LostCounts;
}

export interface Sight {
  readonly mode: string | null;
  readonly run: RunState;
  /** The status word. Absent where only the run state is known. */
  readonly word?: string | null;
  readonly rows: readonly StatsRow[] | null;
  readonly now: EpochMs;
  /** Milliseconds by which the API's clock is ahead of ours. */
  readonly apiAheadMs?: number;
}

function daysIn({ rows, now, apiAheadMs = 0 }: Sight): Days {
  return readDays(rows ?? [], now + apiAheadMs);
}

const today = ({ rows, now, apiAheadMs = 0 }: Pick<Sight, 'rows' | 'now' | 'apiAheadMs'>) =>
  newestToday(rows, now, apiAheadMs);

/** Evidence that begins at this moment: on its first day only what comes on top of the counts of now. */
function fromNow(sight: Sight): EvidenceStart {
  const days = daysIn(sight);
  const from = days.anchor ?? utcDate(sight.now);
  return { from, before: countsOf(days, from) };
}

function fromNextFullDay(sight: Sight): EvidenceStart {
  return { from: addDays(today(sight), 1), before: null };
}

/**
 * Start of the evidence for an unknown mailbox, or null until its mode and a day were read. In recovery the evidence
 * begins now, and a breach in the window's last days is noted.
 */
function firstEvidence(policy: Policy, sight: Sight): Pick<GuardMemory, 'evidence' | 'foundBreachAt'> {
  const days = daysIn(sight);
  const { anchor } = days;
  if (anchor === null || !isWarmupMode(sight.mode)) return { evidence: null, foundBreachAt: null };
  const from = addDays(anchor, 1 - policy.windowDays);
  if (sight.mode !== 'recovery') return { evidence: { from, before: null }, foundBreachAt: null };
  const isFoundSo = isBreach(pool(days, { from, to: anchor }, null), policy.limitsPpm.recovery, policy.minBounces);
  return { evidence: fromNow(sight), foundBreachAt: isFoundSo ? sight.now : null };
}

const statsDays = 90;
/** Limit for remembered modes: with more changes than days the newest count. */
const earlierModesKept = 90;

/** The mode of now, and those before it: the day of a change belongs to the mode before. */
function modesAfter(memory: GuardMemory, sight: Sight): Pick<GuardMemory, 'mode' | 'earlierModes'> {
  const mode = isWarmupMode(sight.mode) ? sight.mode : memory.mode;
  if (!isWarmupMode(memory.mode) || mode === memory.mode) return { mode };
  const date = today(sight);
  const changed: EarlierMode = { mode: memory.mode, until: date };
  const remembered = (memory.earlierModes ?? []).filter(({ until }) => until >= addDays(date, -statsDays));
  return { mode, earlierModes: [changed, ...remembered].slice(0, earlierModesKept) };
}

/** A mailbox that nobody remembers: in recovery the evidence starts now, elsewhere with the window's last days. */
export function firstSight(policy: Policy, sight: Sight): GuardMemory {
  return {
    firstSeenAt: sight.now,
    answersJudged: 0,
    mode: isWarmupMode(sight.mode) ? sight.mode : null,
    run: sight.run,
    ...ranUnder(sight),
    ...firstEvidence(policy, sight),
    emergencyEvidence: null,
    interventions: [],
    claim: null,
    pauseWord: null,
    reversals: [],
  };
}

/**
 * The memory of an address that is back under another id: what we did counts on, but neither a claim nor a hold is
 * carried over, and what the new one sends is judged as at first sight (docs/faults.md S9).
 */
export function underNewId(before: GuardMemory, formerId: string, now: EpochMs): GuardMemory {
  const formerIds = [formerId, ...(before.formerIds ?? [])];
  const nothing = { evidence: null, emergencyEvidence: null, claim: null, reversals: [] };
  const { interventions, pauseWord } = before;
  return {
    firstSeenAt: now,
    answersJudged: 0,
    mode: null,
    run: 'unknown',
    interventions,
    pauseWord,
    formerIds,
    ...nothing,
  };
}

function ranUnder({ run, word }: Sight): Pick<GuardMemory, 'runningWord'> {
  return run === 'running' && word !== undefined ? { runningWord: word } : {};
}

/**
 * Applies outside changes since the last look: another mode or a resume may restart the evidence, and a change of a
 * claimed setting ends the claim. An unreadable or unknown mode or state changes nothing.
 */
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

/** The memory with dates no later than a look can set them: a clock that was ahead for a while has left later ones. */
function withoutFuture(memory: GuardMemory, sight: Sight): GuardMemory {
  const { evidence, emergencyEvidence, unjudgedSince, reversals } = memory;
  const [now, next] = [today(sight), fromNextFullDay(sight)];
  const isAhead = (start: EvidenceStart | null) => start !== null && start.from > next.from;
  const late = reversals.filter((at) => at > sight.now);
  if (!isAhead(evidence) && !isAhead(emergencyEvidence) && !((unjudgedSince ?? now) > now) && late.length === 0)
    return memory;
  return {
    ...memory,
    evidence: isAhead(evidence) ? next : evidence,
    emergencyEvidence: isAhead(emergencyEvidence) ? fromNow(sight) : emergencyEvidence,
    unjudgedSince: unjudgedSince && unjudgedSince > now ? now : (unjudgedSince ?? null),
    reversals: reversals.filter((at) => at <= sight.now),
  };
}

function stands(claim: Claim | null, mode: string | null, run: RunState): boolean {
  if (!claim) return false;
  return claim.kind === 'pause' ? run === 'paused' : mode === 'recovery';
}

/**
 * A change that others made. A resume of what we paused forgets what we acted on. Any other change forgets nothing that nobody
 * acted on: it moves the start of the evidence once within the window's days, and not while what counts is a breach, unless
 * the change is the switch to recovery, which is what a breach leads to. In a recovery of ours, clean days are kept. What an emergency counts is never moved.
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
  // The clean days of a recovery of ours count on: they end it.
  const isClean = claim?.kind === 'recovery' && mode === 'recovery' && counted?.bounced === 0;
  if (isMovedLately || isClean) return memory;
  const actsOnIt = mode === 'recovery' && memory.mode !== 'recovery';
  const isOver = counted && limitPpm !== null && isBreach(counted, limitPpm, policy.minBounces);
  if (isOver && !actsOnIt) return memory;
  return { ...memory, evidence: { ...next, byOthers: true }, foundBreachAt: null };
}

/** The emergency rule ignores the restart of a switch to recovery: it must see the bounces that arrive late. */
function restart(memory: GuardMemory, sight: Sight, switchedToRecovery: boolean): GuardMemory {
  return {
    ...memory,
    evidence: fromNextFullDay(sight),
    foundBreachAt: null,
    emergencyEvidence: switchedToRecovery ? memory.emergencyEvidence : fromNow(sight),
  };
}

/** Reasons that say nothing about the bounces: such an answer is not one of the two that a first breach waits for. */
const unjudged: readonly Reason[] = ['already_paused', 'not_running', 'no_data', 'stale_data'];
/** An unknown status word or a contradicted one hinders the action, not the judgement. */
const judgedBlindly: readonly Reason[] = ['unknown_status', 'word_against_counts'];

/** A look led to a verdict. `fresh`: by a new stats answer. */
export function afterJudgement(
  memory: GuardMemory,
  { reason, run, sent, emergency }: Pick<Verdict, 'reason' | 'run' | 'sent' | 'emergency'>,
  { fresh, ...sight }: Pick<Sight, 'rows' | 'now' | 'apiAheadMs'> & { readonly fresh: boolean },
): GuardMemory {
  const saysNothing = unjudged.includes(reason) || isBlind(reason);
  const counts = fresh && (!saysNothing || judgedBlindly.includes(reason));
  const answersJudged = memory.answersJudged + (counts ? 1 : 0);
  const isJudged = run === 'running' && !saysNothing && (sent > 0 || emergency !== null);
  const before = memory.unjudgedSince ?? null;
  const unjudgedSince = isJudged ? null : (before ?? today(sight));
  // Looks that change neither keep the stored object.
  if (unjudgedSince === before) return counts ? { ...memory, answersJudged } : memory;
  return { ...memory, answersJudged, unjudgedSince };
}

export interface Done<Kind extends ActionKind = ActionKind> {
  readonly kind: Kind;
  readonly actionId: string;
  readonly previousMode: string | null;
  /** The status word that was read back. */
  readonly word: string | null;
}

/**
 * The guard's own change was read back: it is claimed, it counts as an intervention, and the evidence restarts. A
 * restore ends the claim instead, and is no intervention.
 */
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

/** A pause that was read back: what left on its day left before it. */
function pausedUnder({ word }: Done, sight: Sight): Pick<GuardMemory, 'pauseWord' | 'unjudgedSince'> {
  return { pauseWord: word, unjudgedSince: today(sight) };
}

/**
 * A person's change through Warmwarden was read back: nothing of it is claimed and it is no intervention; the evidence
 * restarts as after any change of others. What we had changed and they took back is a reversal. A resume leaves a recovery of
 * ours, that our pause stood on, as ours. Another target daily limit is no change of the mode or the run state: the
 * evidence stays, and so does our claim on the mode.
 */
export function afterOperatorChange(policy: Policy, memory: GuardMemory, done: Done, sight: Sight): GuardMemory {
  if (done.kind === 'limit') return memory;
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

/** An unknown run state changes nothing. */
function runSeen(memory: GuardMemory, { run }: Sight): RunState {
  return run === 'unknown' ? memory.run : run;
}

/** Number of reversals, within `contestedMs`, from which the guard stays out of a quarrel. */
const contestedReversals = 2;
const contestedMs = dayMs;

/** Moments at which others took back our changes; older reversals do not count. */
export function recentReversals({ reversals }: GuardMemory, now: EpochMs): readonly EpochMs[] {
  return reversals.filter((at) => now - at < contestedMs);
}

/** True if others took back our changes so often lately that another action would be a quarrel. */
export function isContested(memory: GuardMemory, now: EpochMs): boolean {
  return recentReversals(memory, now).length >= contestedReversals;
}

export function afterRelease(memory: GuardMemory): GuardMemory {
  return { ...memory, reversals: [] };
}

export function recentInterventions(memory: GuardMemory, policy: Policy, now: EpochMs): number {
  return memory.interventions.filter((at) => now - at <= policy.maxInterventions.days * dayMs).length;
}
