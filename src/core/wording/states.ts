// Words for the guard's states, in the terminal, on the page, and in the documents.

import type { Action, Person } from '../action.ts';
import type { Alert } from '../alert.ts';
import type { AlertRule } from '../alert-rules.ts';
import { type Change, type GuardState, type MailboxState, stateTable, typedName } from '../mailbox.ts';
import type { EpochMs } from '../time.ts';
import type { Claim, Verdict, VerdictAction } from '../verdict.ts';
import { explainVerdict, progressText, rateText, sentence } from './explain.ts';
import { betweenText, momentText } from './phrases.ts';

export function actionWord(action: VerdictAction): string {
  return action === 'none' ? 'no action' : action;
}

/** `pause (bounce rate over limit)` */
export function decisionWords({ action, reason }: Pick<Verdict, 'action' | 'reason'>): string {
  return `${actionWord(action)} (${reasonWords(reason)})`;
}

export function reasonWords(reason: string): string {
  return reason.replaceAll('_', ' ');
}

// Reason, time and author of a pause.

export interface PausedFacts {
  readonly claim: Claim | null;
  readonly actions: readonly Action[];
  /** The newest first. */
  readonly changes: readonly Change[];
}

/** `Warmwarden paused the warm-up on 22 November 21:56 UTC. 16 bounces in 52 emails since 21 November: 30.77%.` */
export function pausedText({ claim, actions, changes }: PausedFacts, zone: string): string {
  if (claim?.kind === 'pause') return claimText(claim, actions, zone);
  const { done, change } = newestOf({ actions, changes });
  if (change)
    return `Somebody else paused the warm-up ${betweenText(change.since, change.at, zone)}, not through Warmwarden.`;
  if (done?.kind !== 'pause' || !done.by) return 'Somebody else paused the warm-up. Warmwarden does not know when.';
  const { name, reason } = done.by;
  const since = `${name} paused the warm-up through Warmwarden on ${momentText(done.openedAt ?? done.plannedAt, zone)}`;
  return reason === '' ? `${since}.` : `${since}. ${sentence(`Reason: ${reason}`)}`;
}

function claimText({ kind, actionId, since: claimedAt }: Claim, actions: readonly Action[], zone: string): string {
  const action = actions.find(({ id }) => id === actionId);
  const done = kind === 'pause' ? 'paused the warm-up' : 'switched it to recovery mode';
  const since = `Warmwarden ${done} on ${momentText(action?.openedAt ?? claimedAt, zone)}`;
  return action ? `${since}. ${rateText(action.verdict)}` : `${since}.`;
}

export function factsOf({ action, changes }: Pick<MailboxState, 'action' | 'changes'>) {
  return { actions: action ? [action] : [], changes: changes.toReversed() };
}

/** Person who paused the warm-up through Warmwarden, if the guard did not. */
export function pausedBy(facts: Pick<PausedFacts, 'actions' | 'changes'>): Person | null {
  const { done, change } = newestOf(facts);
  return done?.kind === 'pause' && !change ? done.by : null;
}

/** Latest start or stop of the warm-up. `change`: by others, after what Warmwarden did. */
function newestOf({ actions, changes }: Pick<PausedFacts, 'actions' | 'changes'>) {
  const done = actions.find(({ kind, state }) => state === 'confirmed' && (kind === 'pause' || kind === 'resume'));
  const change = changes.find(({ what }) => what === 'warm-up');
  return { done, change: change && (!done || change.at > done.plannedAt) ? change : null };
}

// Pauses, recoveries by Warmwarden, and held actions: since when, by whom, why, and what ends them.

export const holders = ['guard', 'person', 'others'] as const;

export function isHeld({ state, mailbox }: HeldRow): boolean {
  return state === 'held' || isPausedByOthers(state, mailbox) || Boolean(mailbox.memory?.claim);
}

/** A pause that was seen counts also while it can't be judged. */
function isPausedByOthers(state: GuardState, { memory }: Pick<MailboxState, 'memory'>): boolean {
  return state === 'paused_by_others' || (memory?.run === 'paused' && memory.claim?.kind !== 'pause');
}

/** Alerts about an action that is held, or that the API did not carry out. */
const holdRules: readonly AlertRule[] = ['guard_held', 'contested', 'guard_action_failed'];

/**
 * Says when Warmwarden acts on held mailboxes if no person decides. `holds`: alerts, those of the circuit breaker count.
 * `isUnread`: no request to the API of these mailboxes succeeds.
 */
export function unattendedText(
  holds: readonly Pick<Alert, 'rule' | 'facts'>[],
  { now, zone, isUnread }: { readonly now: EpochMs; readonly zone: string; readonly isUnread: boolean },
): string {
  if (isUnread) return 'Held actions wait until requests to the API succeed.';
  const [from] = holds
    .flatMap(({ rule, facts }) => (rule === 'guard_held' ? (facts.numbers['acts_from'] ?? []) : []))
    .map((time) => Date.parse(`${time}`))
    .sort((a, b) => a - b);
  if (from === undefined) return 'Unless you decide, Warmwarden does not act.';
  return `${actsFromText(from, now, zone)}, if fresh data still shows the breach.`;
}

/** `Unless you decide, Warmwarden acts step by step from 20 March 11:02 UTC`, or `Since 20 March 11:02 UTC Warmwarden acts step by step`. */
export function actsFromText(from: EpochMs, now: EpochMs, zone: string): string {
  const time = momentText(from, zone);
  return now < from
    ? `Unless you decide, Warmwarden acts step by step from ${time}`
    : `Since ${time} Warmwarden acts step by step`;
}

export interface HeldRow {
  readonly state: GuardState;
  readonly mailbox: Pick<MailboxState, 'account' | 'id' | 'email' | 'memory' | 'verdict'>;
  readonly alerts: readonly Pick<Alert, 'rule' | 'since' | 'facts'>[];
}

/** Reason that keeps a mailbox from warming up, or the guard from acting on it. */
export interface Hold {
  /** null: unknown. */
  readonly since: EpochMs | null;
  readonly by: (typeof holders)[number];
  /** Name of the person. */
  readonly name: string | null;
  readonly text: string;
  readonly ends: string;
}

/** Describes what holds a mailbox that `isHeld`. `isUnread`: its account fails. `stop`: why Warmwarden does not end it. */
export function holdOf(
  row: HeldRow,
  doings: Pick<PausedFacts, 'actions' | 'changes'>,
  { stop, ...words }: HoldWords & { readonly stop: string | null },
): Hold {
  const hold = holdWithWrites(row, doings, words);
  return stop === null ? hold : { ...hold, ends: `A person in the warm-up service. ${stop}` };
}

interface HoldWords {
  readonly zone: string;
  readonly isUnread: boolean;
  readonly now: EpochMs;
}

function holdWithWrites(
  { state, mailbox, alerts }: HeldRow,
  doings: Pick<PausedFacts, 'actions' | 'changes'>,
  { zone, isUnread, now }: HoldWords,
): Hold {
  const { memory, verdict } = mailbox;
  const claim = memory?.claim ?? null;
  const typed = typedName(mailbox);
  const byGuard = { by: 'guard', name: null } as const;
  if (state === 'held' && verdict) {
    const ends = {
      circuit_breaker: `real bounces: \`warmwarden breaker apply\` carries out all held actions; wrong data: \`warmwarden breaker discard\` drops all. ${unattendedText(alerts, { now, zone, isUnread })}`,
      contested: `\`warmwarden contest end ${typed}\`, or a day without another reversal.`,
    }[String(verdict.answer.reason)];
    const since = alerts.find(({ rule }) => holdRules.includes(rule))?.since ?? null;
    const text = explainVerdict(verdict.answer);
    const [newest] = doings.actions;
    const isFailed = newest?.state === 'refused' || newest?.state === 'unconfirmed';
    const isRefused = verdict.answer.action !== 'hold' && isFailed;
    const otherwise = isRefused
      ? 'A person who makes the change in the warm-up service, or a try that the API accepts.'
      : 'The next data that Warmwarden can judge.';
    return { since, ...byGuard, text, ends: ends ?? otherwise };
  }
  if (claim?.kind === 'recovery' && !isPausedByOthers(state, mailbox)) {
    const progress = verdict && progressText(verdict.answer);
    const ends = progress || `\`warmwarden mode ${typed} ${claim.previousMode ?? 'MODE'}\`.`;
    return { since: claim.since, ...byGuard, text: claimText(claim, doings.actions, zone), ends };
  }
  const ends = `\`warmwarden resume ${typed}\`, or a person in the warm-up service.`;
  const texts = { text: pausedText({ claim, ...doings }, zone), ends };
  if (claim?.kind === 'pause') return { since: claim.since, ...byGuard, ...texts };
  const { done, change } = newestOf(doings);
  const person = pausedBy(doings);
  const since = change?.at ?? (person && done ? (done.openedAt ?? done.plannedAt) : null);
  return { since, by: person ? 'person' : 'others', name: person?.name ?? null, ...texts };
}

/** Returns why nothing is judged of a mailbox without a breach, or null if something is: no day counts yet, or no email. */
export function uncountedBy(state: GuardState, { sent, days }: { readonly sent: number; readonly days: number }) {
  if (state !== 'ok' || sent > 0) return null;
  return days === 0 ? 'tomorrow' : 'noEmails';
}

const uncountedWords = { tomorrow: 'Counting from tomorrow', noEmails: 'No emails counted yet' } as const;

/** State in words. What is OK without a counted email says so. */
export function stateText(
  state: GuardState,
  verdict: { readonly sent: number; readonly days: number; readonly isEmergency: boolean } | null,
): string {
  if (state === 'held' && verdict?.isEmergency) return `${stateTable.held.label}, emergency`;
  const uncounted = verdict && uncountedBy(state, verdict);
  return uncounted ? uncountedWords[uncounted] : stateTable[state].label;
}
