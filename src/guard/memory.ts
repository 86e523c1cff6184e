// What the guard remembers of a mailbox and how events change it. POLICY.md, "Memory".
import type { ActionKind } from '../model/action.ts';
import type { StatsRow } from '../model/answers.ts';
import type { Policy } from '../model/policy.ts';
import { addDays, dayMs, type EpochMs, type IsoDate, utcDate } from '../model/time.ts';
import type { Claim, EvidenceStart, GuardMemory, RunState } from '../model/verdict.ts';
import { readDays } from './rows.ts';

/** What a look at the mailbox shows. */
export interface Sight {
  readonly mode: string | null;
  readonly run: RunState;
  readonly rows: readonly StatsRow[] | null;
  readonly now: EpochMs;
}

/** The newest day that the API or UTC calls today: a date is an opaque label, and one day ahead is normal. */
function today(sight: Sight): IsoDate {
  const anchor = readDays(sight.rows ?? [], sight.now).anchor;
  const utc = utcDate(sight.now);
  return anchor !== null && anchor > utc ? anchor : utc;
}

/** Evidence that begins at this moment: on its first day only what comes on top of the counts of now. */
function fromNow(sight: Sight): EvidenceStart {
  const days = readDays(sight.rows ?? [], sight.now);
  const from = days.anchor ?? utcDate(sight.now);
  return { from, before: days.byDate.get(from)?.counts ?? null };
}

/** Evidence that begins on the first full day after this moment. */
function fromNextFullDay(sight: Sight): EvidenceStart {
  return { from: addDays(today(sight), 1), before: null };
}

/** A mailbox that nobody remembers: in recovery the evidence starts now, elsewhere with the window's last days. */
export function firstSight(policy: Policy, sight: Sight): GuardMemory {
  const anchor = readDays(sight.rows ?? [], sight.now).anchor;
  const lastDays = anchor === null ? null : { from: addDays(anchor, 1 - policy.windowDays), before: null };
  return {
    firstSeenAt: sight.now,
    answersJudged: 0,
    mode: sight.mode,
    run: sight.run,
    evidence: sight.mode === 'recovery' ? fromNow(sight) : lastDays,
    emergencyEvidence: null,
    interventions: [],
    claim: null,
    reversals: [],
  };
}

/**
 * What changed outside since the last look: another mode or a resume restarts the evidence, and a change of what we
 * claimed ends the claim. A mode or state that could not be read changes nothing.
 */
export function afterSight(memory: GuardMemory, sight: Sight): GuardMemory {
  const mode = sight.mode ?? memory.mode;
  const run = sight.run === 'unknown' ? memory.run : sight.run;
  const modeChanged = memory.mode !== null && mode !== memory.mode;
  const resumed = memory.run === 'paused' && run === 'running';
  const restarted =
    modeChanged || resumed ? restart(memory, sight, modeChanged && mode === 'recovery' && !resumed) : memory;
  const claim = stands(memory.claim, mode, run) ? memory.claim : null;
  const reversed = memory.claim !== null && claim === null && !(memory.claim.kind === 'recovery' && run === 'paused');
  const reversals = reversed ? [...memory.reversals, sight.now] : memory.reversals;
  return { ...restarted, mode, run, claim, reversals };
}

function stands(claim: Claim | null, mode: string | null, run: RunState): boolean {
  if (!claim) return false;
  return claim.kind === 'pause' ? run === 'paused' : mode === 'recovery' && run !== 'paused';
}

/** The emergency rule ignores the restart of a switch to recovery: it must see the bounces that arrive late. */
function restart(memory: GuardMemory, sight: Sight, switchedToRecovery: boolean): GuardMemory {
  return {
    ...memory,
    evidence: fromNextFullDay(sight),
    emergencyEvidence: switchedToRecovery ? memory.emergencyEvidence : fromNow(sight),
  };
}

/** One more fresh stats answer was judged. */
export function afterJudgement(memory: GuardMemory): GuardMemory {
  return { ...memory, answersJudged: memory.answersJudged + 1 };
}

/**
 * Our change was read back: it is claimed, it counts as an intervention, and the evidence restarts. A restore ends the
 * claim instead, and is no intervention.
 */
export function afterConfirmed(
  memory: GuardMemory,
  done: { readonly kind: ActionKind; readonly actionId: string; readonly previousMode: string | null },
  sight: Sight,
): GuardMemory {
  const mode = sight.mode ?? memory.mode;
  if (done.kind === 'restore') return { ...restart(memory, sight, false), mode, run: sight.run, claim: null };
  return {
    ...(done.kind === 'recovery' ? restart(memory, sight, true) : memory),
    mode,
    run: done.kind === 'pause' ? 'paused' : sight.run,
    interventions: [...memory.interventions, sight.now],
    claim: { kind: done.kind, actionId: done.actionId, since: sight.now, previousMode: done.previousMode },
  };
}

/** So many reversals within this time are a quarrel that the guard does not enter. */
const contestedReversals = 2;
const contestedMs = dayMs;

/** Whether others took back what we changed so often lately that acting again would be a quarrel. */
export function isContested(memory: GuardMemory, now: EpochMs): boolean {
  return memory.reversals.filter((at) => now - at < contestedMs).length >= contestedReversals;
}

/** A person says that the guard may act again. */
export function afterRelease(memory: GuardMemory): GuardMemory {
  return { ...memory, reversals: [] };
}

/** Interventions within the policy's last days, this moment included. */
export function recentInterventions(memory: GuardMemory, policy: Policy, now: EpochMs): number {
  return memory.interventions.filter((at) => now - at <= policy.maxInterventions.days * dayMs).length;
}
