// The verdict as a pure function. docs/guard.md.
import { countExpectedDays } from '../daily-counts.ts';
import { type Counts, isOver, isWarmupMode, type Policy, type Ppm, type WarmupMode } from '../policy.ts';
import { addDays, dayMs, type EpochMs, type IsoDate, utcDate } from '../time.ts';
import {
  type Claim,
  type Doubt,
  type EvidenceStart,
  isBlind,
  type Reason,
  type RestoreProgress,
  type Verdict,
  type VerdictAction,
} from '../verdict.ts';
import { type GuardMemory, isContested, type LostCounts, recentInterventions, type Sight } from './memory.ts';
import {
  type CountsFinding,
  contradictionIn,
  type Days,
  hasInvalid,
  isCounted,
  pool,
  readDays,
  sendingDaysAfter,
} from './rows.ts';
import { leftLately } from './run-state.ts';
import {
  baseStart,
  daysInclusive,
  type EvidenceWindow,
  evidenceWindow,
  isBreach,
  representativeVolume,
} from './window.ts';

interface Look extends Sight {
  readonly statsAt: EpochMs;
  /** True if Saturdays and Sundays without mail are no sign of stale data. */
  readonly weekdaysOnly: boolean;
  readonly warmupDay?: number | null;
}

/** A look, and what the memory of the mailbox adds to it. */
export interface Situation
  extends Look,
    Pick<GuardMemory, 'evidence' | 'emergencyEvidence' | 'claim'>,
    Required<Pick<GuardMemory, 'unjudgedSince' | 'foundBreachAt'>> {
  readonly recentInterventions: number;
  /** True before the first judged answer: a breach waits for the next one. */
  readonly firstSight: boolean;
  /** True if others took back our changes twice within a day: the guard leaves the mailbox alone. */
  readonly contested: boolean;
  /** True after the first days: then no email on any day is no answer. */
  readonly expectsEmails?: boolean;
  readonly lost?: LostCounts | null;
}

/** Result of one step of the order, or null to pass on to the next. */
interface Ruling {
  readonly action: VerdictAction;
  readonly reason: Reason;
  readonly wanted?: VerdictAction;
  /** Counts behind the ruling, if not those of the evidence window. */
  readonly counts?: PeriodCounts;
  /** Bounces until a breach, if not those of the evidence window. */
  readonly bouncesLeft?: number;
  readonly doubt?: Doubt;
}

type EmergencyCounts = NonNullable<Verdict['emergency']>;

/** Judges a mailbox. Never throws: what can't be judged is a hold with its reason. */
export function judge(configured: Policy, situation: Situation): Verdict {
  const foundUntil = foundUntilOf(configured, situation);
  const policy = foundUntil === null ? configured : { ...configured, minBounces: 1 };
  const days = readDays(situation.rows ?? [], situation.now + (situation.apiAheadMs ?? 0));
  const limitPpm = isWarmupMode(situation.mode) ? policy.limitsPpm[situation.mode] : null;
  const { anchor } = days;
  const { claim, evidence, now } = situation;
  const window = evidenceWindow(days, policy, limitPpm, evidence);
  const emergency = emergencyIn(days, policy, situation.emergencyEvidence);
  const inRecovery = situation.mode === 'recovery' && situation.run === 'running';
  const evidenceFrom = evidence?.from ?? null;
  const restore = inRecovery ? restoreProgress(days, policy, { claim, evidenceFrom, now }) : null;
  const isFound = foundUntil !== null && anchor !== null;
  const found = isFound ? countsIn(days, { from: baseStart(policy, anchor), to: anchor }) : null;
  const burst = limitPpm === null ? null : burstIn(days, limitPpm, evidence);
  const doubt = contradictionIn(days, utcDate(now), (read) => findingIn(read, policy, situation, limitPpm));
  const ruling = rule({ policy, situation, days, window, found, burst, emergency, restore, doubt });
  const { action, reason, wanted = action, counts, bouncesLeft } = withHolds(ruling, situation);
  const shown = counts ?? window;
  const isFoundSo = counts !== undefined && counts === found;
  const left = window && limitPpm !== null ? bouncesUntilBreach(window, limitPpm, policy.minBounces) : null;
  return {
    action,
    reason,
    wanted,
    mode: situation.mode,
    run: situation.run,
    sent: shown?.sent ?? 0,
    bounced: shown?.bounced ?? 0,
    limitPpm,
    windowFrom: shown && shown.days > 0 ? shown.from : null,
    windowTo: shown && shown.days > 0 ? shown.to : null,
    windowDays: shown?.days ?? 0,
    emergency: reason === 'emergency' || reason === 'word_against_counts' ? emergency : null,
    burst,
    bouncesUntilBreach: bouncesLeft ?? (isFoundSo ? (left ?? 1) : left),
    ...(isFoundSo ? { foundUntil } : {}),
    ...(ruling.doubt && { doubt: ruling.doubt }),
    restore,
    dataAgeMs: Math.max(0, situation.now - situation.statsAt),
    warnings: days.warnings,
  };
}

export function verdictWithoutCounts(known: Pick<Verdict, 'reason' | 'mode' | 'run' | 'dataAgeMs'>): Verdict {
  return {
    ...known,
    action: 'none',
    wanted: 'none',
    sent: 0,
    bounced: 0,
    limitPpm: null,
    windowFrom: null,
    windowTo: null,
    windowDays: 0,
    emergency: null,
    burst: null,
    bouncesUntilBreach: null,
    restore: null,
    warnings: [],
  };
}

/** Time until which a single bounce is a breach, for a mailbox that was found in recovery mode with one. */
function foundUntilOf(policy: Policy, { mode, foundBreachAt, now }: Situation): EpochMs | null {
  if (foundBreachAt === null || mode !== 'recovery') return null;
  const until = foundBreachAt + policy.windowDays * dayMs;
  return now < until ? until : null;
}

interface Findings {
  readonly policy: Policy;
  readonly situation: Situation;
  readonly days: Days;
  readonly window: EvidenceWindow | null;
  readonly found: PeriodCounts | null;
  readonly burst: Burst | null;
  readonly emergency: EmergencyCounts | null;
  readonly restore: RestoreProgress | null;
  readonly doubt: Doubt | null;
}

function rule(findings: Findings): Ruling {
  const { run } = findings.situation;
  if (run === 'paused') return againstWord(findings, { action: 'none', reason: 'already_paused' });
  if (run === 'not_running') return againstWord(findings, { action: 'none', reason: 'not_running' });
  return ruleOnCounts(findings);
}

/** Rules against a word for a stopped warm-up that emails of a later day contradict: an emergency alone acts. */
function againstWord(findings: Findings, asSaid: Ruling): Ruling {
  const { days, situation } = findings;
  const { unjudgedSince, run, now } = situation;
  if (unjudgedSince === null || !leftLately(days, unjudgedSince, now)) return asSaid;
  const counted = ruleOnCounts(findings);
  if (isBlind(counted.reason)) return counted;
  const { action, wanted = action } = counted;
  if (wanted !== 'recovery' && wanted !== 'pause') return asSaid;
  if (run === 'not_running' && counted.reason === 'emergency') return counted;
  return { ...counted, action: 'hold', reason: 'word_against_counts', wanted };
}

function ruleOnCounts({ policy, situation, days, window, found, burst, emergency, restore, doubt }: Findings): Ruling {
  if (situation.rows === null) return { action: 'hold', reason: 'bad_payload' };
  const { lost, expectsEmails } = situation;
  if (lost && !(emergency && outlivesLoss(emergency, lost, { policy, days }))) {
    const doubtful = { counts: countsIn(days, lost), doubt: { by: 'earlier_answer', ...lost } } as const;
    return { action: 'hold', reason: 'missing_counts', ...doubtful };
  }
  const isEmpty = days.days.every(({ sent, bounced }) => sent === 0 && bounced === 0);
  if (isEmpty && expectsEmails && !days.undated) return { action: 'hold', reason: 'missing_counts' };
  if (days.anchor === null || window === null) {
    return days.undated ? { action: 'hold', reason: 'invalid_row' } : { action: 'none', reason: 'no_data' };
  }
  if (isStale(days, days.anchor, policy, situation)) return { action: 'hold', reason: 'stale_data' };
  if (doubt) return { action: 'hold', reason: 'contradicting_counts', doubt };
  if (emergency) return { action: 'pause', reason: 'emergency' };
  if (!isWarmupMode(situation.mode)) return { action: 'hold', reason: 'unknown_mode' };
  if (days.undated || hasInvalid(days, baseStart(policy, days.anchor), days.anchor)) {
    return { action: 'hold', reason: 'invalid_row' };
  }
  // A single bounce may be the only new count of a mailbox that was just found: the days before show plausibility.
  const isPlausible = [window, ...(found ? [found] : [])].some(({ sent, bounced }) => bounced <= sent);
  if (!isPlausible) return { action: 'hold', reason: 'implausible_counts' };
  const onEvidence = ruleOnRate(policy, situation, { window, burst }, situation.mode);
  const onRate: Ruling =
    onEvidence.reason === 'ok' && found && isOver(found, policy.limitsPpm[situation.mode])
      ? { action: 'none', reason: 'insufficient_evidence', counts: found }
      : onEvidence;
  if (onRate.reason === 'ok' && window.sent === 0 && sendsUncounted(days, situation)) {
    return { action: 'hold', reason: 'no_evidence' };
  }
  // A single old bounce in a window of up to 30 days is no obstacle: the restore restarts the evidence.
  const calm = onRate.reason === 'ok' || onRate.reason === 'insufficient_evidence';
  return calm && isRestoreDue(restore) ? { action: 'restore', reason: 'clean_volume' } : onRate;
}

/** True if an emergency stands with the lost emails added, or if more than a quarter of these is left. */
function outlivesLoss(
  { sent, bounced }: Counts,
  lost: LostCounts,
  { policy, days }: Pick<Findings, 'policy' | 'days'>,
): boolean {
  if (pool(days, lost, null).sent * 4 > lost.sent) return true;
  const { emergency } = policy;
  const before = (lost.sent * emergency.days) / daysInclusive(lost.from, lost.to);
  return bounced * 1e6 >= emergency.ratePpm * Math.max(sent, before);
}

const uncountedSendingDays = 2;

function sendsUncounted(days: Days, { unjudgedSince }: Situation): boolean {
  return unjudgedSince !== null && sendingDaysAfter(days, unjudgedSince).length >= uncountedSendingDays;
}

function ruleOnRate(
  policy: Policy,
  situation: Situation,
  { window, burst }: { readonly window: EvidenceWindow; readonly burst: Burst | null },
  mode: WarmupMode,
): Ruling {
  const isOverLimit = isOver(window, policy.limitsPpm[mode]);
  const breaches = isOverLimit && window.bounced >= policy.minBounces;
  if (!breaches && !(burst && policy.burst === 'act')) {
    return { action: 'none', reason: isOverLimit ? 'insufficient_evidence' : 'ok' };
  }
  const ofBurst = !breaches && burst && { counts: { ...burst, to: window.to }, bouncesLeft: 0 };
  const breach = { ...breachRuling(policy, situation.recentInterventions, mode), ...ofBurst };
  if (breach.action === 'none' || !situation.firstSight) return breach;
  return { ...breach, action: 'hold', reason: 'first_sight', wanted: breach.action };
}

/** With `alert` nothing is done, and `wanted` shows the action. */
function breachRuling(policy: Policy, recentInterventions: number, mode: WarmupMode): Ruling {
  const response = mode === 'recovery' ? policy.onRecoveryBreach : policy.onBreach;
  const repeated = recentInterventions + 1 >= policy.maxInterventions.count;
  const reason: Reason = repeated ? 'repeat_offender' : 'bounce_rate_over_limit';
  if (response === 'alert') {
    return { action: 'none', reason, wanted: repeated || mode === 'recovery' ? 'pause' : 'recovery' };
  }
  return { action: repeated ? 'pause' : response, reason };
}

/** Holds every write to a mailbox with an unknown status word, and to a contested one. */
function withHolds(ruling: Ruling, situation: Situation): Ruling {
  const acts = ruling.action !== 'none' && ruling.action !== 'hold';
  if (situation.contested && acts) return { action: 'hold', reason: 'contested', wanted: ruling.action };
  if (situation.run !== 'unknown' || ruling.action === 'hold' || ruling.reason === 'no_data') return ruling;
  return { action: 'hold', reason: 'unknown_status', wanted: ruling.wanted ?? ruling.action };
}

function isStale({ days }: Days, newest: IsoDate, policy: Policy, { weekdaysOnly, now }: Situation): boolean {
  const known = days.map((day) => (isCounted(day) ? day : { date: day.date, sent: null }));
  const tooMany = policy.staleAfterDays + 1;
  return countExpectedDays([addDays(newest, 1), utcDate(now)], tooMany, { weekdaysOnly, known }) === tooMany;
}

/** With more bounces than emails in the newest days, the whole base window decides. */
function emergencyIn(days: Days, policy: Policy, evidence: EvidenceStart | null): EmergencyCounts | null {
  if (days.anchor === null) return null;
  const to = days.anchor;
  for (const length of [policy.emergency.days, policy.windowDays]) {
    const from = addDays(to, 1 - length);
    if (hasInvalid(days, from, to)) return null;
    const { sent, bounced } = pool(days, { from, to }, evidence);
    if (bounced > sent) continue;
    const fires = bounced >= policy.emergency.minBounces && bounced * 1e6 >= policy.emergency.ratePpm * sent;
    return fires ? { sent, bounced, ...countedSince(from, evidence) } : null;
  }
  return null;
}

/** First day of the counts: only emails after the start of the evidence count. */
function countedSince(from: IsoDate, evidence: EvidenceStart | null): Omit<EmergencyCounts, keyof Counts> {
  if (evidence === null || evidence.from < from) return { from };
  const isWithinDay = evidence.before !== null && evidence.before.sent > 0;
  return { from: evidence.from, ...(isWithinDay && { again: true }) };
}

function findingIn(days: Days, policy: Policy, situation: Situation, limitPpm: Ppm | null): CountsFinding | null {
  const window = evidenceWindow(days, policy, limitPpm, situation.evidence);
  if (!window) return null;
  const { sent, bounced, from, to } = window;
  const isEmergency = emergencyIn(days, policy, situation.emergencyEvidence) !== null;
  const breaches = isBreach(window, limitPpm, policy.minBounces);
  return { grade: isEmergency ? 2 : breaches ? 1 : 0, sent, bounced, from, to };
}

interface PeriodCounts extends Counts {
  readonly from: IsoDate;
  readonly to: IsoDate;
  readonly days: number;
}

/** Counts of these days, whatever the evidence. */
function countsIn(days: Days, { from, to }: { readonly from: IsoDate; readonly to: IsoDate }): PeriodCounts {
  return { ...pool(days, { from, to }, null), from, to, days: daysInclusive(from, to) };
}

/** Number of further bounces until a breach, or null if it exceeds the emails, which is implausible. */
function bouncesUntilBreach(window: EvidenceWindow, limitPpm: number, minBounces: number): number | null {
  const left = [window, window.base].flatMap(({ sent, bounced }) => {
    const needed = Math.max(Math.floor((limitPpm * sent) / 1e6) + 1, minBounces);
    return Math.max(needed, bounced) > sent ? [] : [Math.max(0, needed - bounced)];
  });
  return left.length === 0 ? null : Math.min(...left);
}

// A burst: at least three bounces more in the newest days than the limit allows.

const burstDays = 3;
/** Fewer bounces above the limit come by chance. */
const bouncesBeyondLimit = 3;

type Burst = NonNullable<Verdict['burst']>;

function burstIn(days: Days, limitPpm: Ppm, evidence: EvidenceStart | null): Burst | null {
  const to: IsoDate | null = days.anchor;
  if (to === null) return null;
  for (let length = 1; length <= burstDays; length += 1) {
    const from = addDays(to, 1 - length);
    const { sent, bounced } = pool(days, { from, to }, evidence);
    if ((bounced - bouncesBeyondLimit) * 1e6 >= limitPpm * sent) return { sent, bounced, from, days: length };
  }
  return null;
}

// Return from recovery to the mode before. docs/guard.md, "After a change".

/** Clean days and emails since the switch or the last bounce, or null if not ours, or a mode or day is unknown. */
export function restoreProgress(
  days: Days,
  policy: Policy,
  given: { readonly claim: Claim | null; readonly evidenceFrom: IsoDate | null; readonly now: EpochMs },
): RestoreProgress | null {
  const { claim, evidenceFrom, now } = given;
  const to = days.anchor;
  if (!policy.restore.enabled || claim?.kind !== 'recovery' || to === null || evidenceFrom === null) return null;
  const mode = claim.previousMode;
  if (!isWarmupMode(mode) || mode === 'recovery') return null;
  const bounce = days.days.findLast((day) => isCounted(day) && day.bounced > 0)?.date;
  const from = bounce !== undefined && bounce >= evidenceFrom ? addDays(bounce, 1) : evidenceFrom;
  if (hasInvalid(days, from, to)) return null;
  // The newest day is not over: it brings emails, but no clean day yet.
  const sinceSwitch = Math.floor((now - claim.since) / dayMs);
  return {
    mode,
    cleanDays: Math.max(0, Math.min(daysInclusive(from, to) - 1, sinceSwitch)),
    neededDays: policy.restore.days,
    cleanMails: pool(days, { from, to }, null).sent,
    neededMails: Math.ceil(representativeVolume(policy.limitsPpm[mode]) * policy.restore.cleanVolume),
  };
}

export function isRestoreDue(progress: RestoreProgress | null): progress is RestoreProgress {
  return progress !== null && progress.cleanDays >= progress.neededDays && progress.cleanMails >= progress.neededMails;
}

// The situation from a look and the memory of a mailbox: one path for the daemon, `decide` and the replay.

const firstSendingDays = 3;

/** True after the first sending days. The API's warm-up day may not contradict our own first look. */
function expectsEmails({ firstSeenAt, evidence }: GuardMemory, look: Look): boolean {
  if (look.run === 'paused' || look.run === 'not_running') return false;
  const today = utcDate(look.now);
  const { warmupDay = null } = look;
  const seen = utcDate(firstSeenAt);
  const said = warmupDay === null ? seen : addDays(today, 1 - Math.max(1, Math.floor(warmupDay)));
  const began = said < seen ? said : seen;
  const resumed = evidence?.before === null ? evidence.from : began;
  const days = [resumed > began ? resumed : began, addDays(today, -1)] as const;
  return countExpectedDays(days, firstSendingDays, { ...look, known: [] }) === firstSendingDays;
}

export function situationOf(policy: Policy, memory: GuardMemory, look: Look, firstSight: boolean): Situation {
  return {
    ...look,
    unjudgedSince: memory.unjudgedSince ?? null,
    evidence: memory.evidence,
    emergencyEvidence: memory.emergencyEvidence,
    foundBreachAt: memory.foundBreachAt ?? null,
    recentInterventions: recentInterventions(memory, policy, look.now),
    firstSight,
    claim: memory.claim,
    contested: isContested(memory, look.now),
    expectsEmails: expectsEmails(memory, look),
  };
}
