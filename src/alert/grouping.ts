// Transitions that belong together become one message: a group is an account with a rule. Pure.
import { type AlertRule, type Severity, severities, type Transition } from '../model/alert.ts';
import type { StoredTransition } from '../model/delivery.ts';
import type { EpochMs } from '../model/time.ts';

/** What is told in one message. */
export interface GroupMessage {
  readonly group: string;
  readonly account: string;
  readonly rule: AlertRule;
  /** firing when at least one alert fires; each transition has its own kind besides. */
  readonly kind: Transition['kind'];
  /** The worst of those that are told. */
  readonly severity: Severity;
  /** When the message was made. */
  readonly at: EpochMs;
  /** One a fingerprint: firing before resolved, the worst first, then the newest. */
  readonly transitions: readonly Transition[];
}

/** Untold transitions of one group whose wait is over. */
export interface DueGroup {
  readonly group: string;
  readonly untold: readonly StoredTransition[];
}

export interface GroupTiming {
  readonly now: EpochMs;
  readonly groupWaitMs: number;
  readonly groupIntervalMs: number;
  /** When the group was told last, as far as is remembered. */
  readonly lastTold: (group: string) => EpochMs | undefined;
  /** There may be more untold transitions than were given: nobody waits, or they would wait behind these for ever. */
  readonly full: boolean;
}

function groupOf(transition: Transition): string {
  return `${transition.alert.account}|${transition.alert.rule}`;
}

/** The groups that may be told now, and when the next one may (null: none waits). */
export function dueGroups(
  untold: readonly StoredTransition[],
  timing: GroupTiming,
): { readonly due: readonly DueGroup[]; readonly nextDueAt: EpochMs | null } {
  const groups = new Map<string, StoredTransition[]>();
  for (const stored of untold) {
    const group = groupOf(stored.transition);
    const members = groups.get(group);
    if (members) members.push(stored);
    else groups.set(group, [stored]);
  }
  const due: DueGroup[] = [];
  let nextDueAt: EpochMs | null = null;
  for (const [group, members] of groups) {
    const dueAt = timing.full ? timing.now : groupDueAt(group, members, timing);
    if (dueAt <= timing.now) due.push({ group, untold: members });
    else nextDueAt = Math.min(nextDueAt ?? dueAt, dueAt);
  }
  return { due, nextDueAt };
}

function groupDueAt(group: string, members: readonly StoredTransition[], timing: GroupTiming): EpochMs {
  const oldest = members.reduce((at, { transition }) => Math.min(at, transition.at), Number.POSITIVE_INFINITY);
  const afterWait = notInFuture(oldest, timing.now) + timing.groupWaitMs;
  const last = timing.lastTold(group);
  const exempt = last === undefined || members.some(({ transition }) => transition.kind === 'event');
  return exempt ? afterWait : Math.max(afterWait, notInFuture(last, timing.now) + timing.groupIntervalMs);
}

/** A moment ahead of now means that the clock was set back: what was waited for is long over. */
function notInFuture(at: EpochMs, now: EpochMs): EpochMs {
  return at > now ? Number.NEGATIVE_INFINITY : at;
}

/** The message for the transitions that a channel wants; null when there are none. */
export function messageOf(group: string, wanted: readonly Transition[], now: EpochMs): GroupMessage | null {
  const transitions = latestOfEach(wanted).sort(byWeight);
  const first = transitions[0];
  if (!first) return null;
  const kinds = new Set(transitions.map(({ kind }) => kind));
  const kind = kinds.has('event') ? 'event' : kinds.has('firing') ? 'firing' : 'resolved';
  const worst = Math.min(...new Set(transitions.map(({ alert }) => severities.indexOf(alert.severity))));
  return {
    group,
    account: first.alert.account,
    rule: first.alert.rule,
    kind,
    severity: severities[worst] ?? first.alert.severity,
    at: now,
    transitions,
  };
}

/** What fired and resolved before anyone was told is told as resolved: its alert carries since and until. */
function latestOfEach(transitions: readonly Transition[]): Transition[] {
  const latest = new Map<string, Transition>();
  for (const transition of transitions) latest.set(transition.alert.fingerprint, transition);
  return [...latest.values()];
}

function byWeight(one: Transition, other: Transition): number {
  const ended = Number(one.kind === 'resolved') - Number(other.kind === 'resolved');
  const severity = severities.indexOf(one.alert.severity) - severities.indexOf(other.alert.severity);
  return ended || severity || other.at - one.at;
}
