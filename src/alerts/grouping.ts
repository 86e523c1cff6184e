// Transitions that belong together become one message: a group is an account with a rule. Pure.

import { type Alert, type Severity, severities, type Transition } from '../core/alert.ts';
import { type AlertRule, alertRules, ruleBook } from '../core/alert-rules.ts';
import type { StoredTransition } from '../core/delivery.ts';
import type { MessageIncident } from '../core/incident.ts';
import { type EpochMs, elapsedMs, hourMs, minuteMs } from '../core/time.ts';

/** What is announced in one message. */
export interface GroupMessage {
  readonly group: string;
  /** null: of several accounts. */
  readonly account: string | null;
  /** null: of several rules. */
  readonly rule: AlertRule | null;
  /**
   * found: what the first sweep found, all in one. Otherwise the kind of the transition that matters most; each
   * transition has its own besides.
   */
  readonly kind: Transition['kind'] | 'found';
  /** The worst of those that are announced. */
  readonly severity: Severity;
  /** When the message was made. */
  readonly at: EpochMs;
  /**
   * One a fingerprint: what goes on before what ended, the worst first, then the newest, of which a storm's last ones are in no order.
   * None only where there is an incident.
   */
  readonly transitions: readonly Transition[];
  /** The incident that all of them belong to; null for what belongs to none. */
  readonly incident: MessageIncident | null;
}

/** Untold transitions of one group whose wait is over. */
export interface DueGroup {
  readonly group: string;
  readonly unnotified: readonly StoredTransition[];
}

export interface GroupTiming {
  readonly now: EpochMs;
  readonly groupWaitMs: number;
  readonly groupIntervalMs: number;
  /** When the group was announced last; undefined when that is longer ago than matters. */
  readonly lastNotified: (group: string) => EpochMs | undefined;
  /** There may be more transitions without a notification than were given: nobody waits, or they would wait behind these for ever. */
  readonly full: boolean;
  /** What an account's first sweep found after this moment is kept until it is over; null: none goes on. */
  readonly keptFrom: (account: string) => EpochMs | null;
  readonly incidents: IncidentTiming;
}

/** What incidents mean for the transitions that belong to one. */
interface IncidentTiming {
  /** The id of the incident that a transition belongs to; null for none. */
  readonly of: (transition: Transition) => string | null;
  /** Whether its next message is due. What belongs to it waits until then. */
  readonly isDue: (id: string) => boolean;
}

/** The group of what the first sweep found. */
const foundGroup = 'found';
/** A sweep that takes longer is announced in parts: nothing is kept longer, whatever becomes of the sweep. */
const longestKeptMs = hourMs;

/** The group of an alert: its account and its rule. What is unstable comes and goes together. */
export function groupOf({ account, rule, unstable }: Alert): string {
  return `${account}|${unstable ? 'unstable' : rule}`;
}

/** The groups that may be announced now, and when the next one may (null: none waits). */
export function dueGroups(
  unnotified: readonly StoredTransition[],
  timing: GroupTiming,
): { readonly due: readonly DueGroup[]; readonly nextDueAt: EpochMs | null } {
  const groups = new Map<string, StoredTransition[]>();
  const found = foundIn(unnotified);
  const keptUntil = keptUntilOf(found.values(), timing);
  let nextDueAt: EpochMs | null = null;
  for (const stored of unnotified) {
    const { alert } = stored.transition;
    const beginning = found.get(alert.fingerprint);
    const until = beginning && keptUntil(beginning);
    if (until !== undefined && until > timing.now) {
      nextDueAt = Math.min(nextDueAt ?? until, until);
      continue;
    }
    const incident = beginning || timing.full ? null : timing.incidents.of(stored.transition);
    if (incident !== null && !timing.incidents.isDue(incident)) continue;
    const group = beginning ? foundGroup : (incident ?? groupOf(alert));
    const members = groups.get(group);
    if (members) members.push(stored);
    else groups.set(group, [stored]);
  }
  const due: DueGroup[] = [];
  for (const [group, members] of groups) {
    const dueAt = timing.full ? timing.now : groupDueAt(group, members, timing);
    if (dueAt <= timing.now) due.push({ group, unnotified: members });
    else nextDueAt = Math.min(nextDueAt ?? dueAt, dueAt);
  }
  return { due, nextDueAt };
}

/**
 * By fingerprint, the newest step that a first sweep found. What ends before it was announced is announced where it began; what
 * got news that must not wait takes along what was found before.
 */
function foundIn(unnotified: readonly StoredTransition[]): ReadonlyMap<string, Transition> {
  const newest = new Map<string, Transition>();
  for (const { transition } of unnotified) {
    const { kind, found, alert } = transition;
    if (found) newest.set(alert.fingerprint, transition);
    else if (kind !== 'resolved') newest.delete(alert.fingerprint);
  }
  return newest;
}

/** Until when a finding is kept: with the oldest of its account that is. */
function keptUntilOf(found: Iterable<Transition>, timing: GroupTiming): (finding: Transition) => EpochMs {
  const { now, keptFrom, full } = timing;
  const isKept = ({ at, alert }: Transition) => !full && at <= now && at > (keptFrom(alert.account) ?? now);
  const oldest = new Map<string, EpochMs>();
  for (const finding of found) {
    const { account } = finding.alert;
    if (isKept(finding)) oldest.set(account, Math.min(oldest.get(account) ?? finding.at, finding.at));
  }
  return (finding) => (isKept(finding) ? (oldest.get(finding.alert.account) ?? now) + longestKeptMs : now);
}

/** What follows from bounces waits a little longer: an incident may begin that it belongs to. */
const symptomWaitMs = 30 * minuteMs;
function groupDueAt(group: string, members: readonly StoredTransition[], timing: GroupTiming): EpochMs {
  const oldest = members.reduce((at, { transition }) => Math.min(at, transition.at), Number.POSITIVE_INFINITY);
  const isSymptom = members.every(({ transition }) => ruleBook[transition.alert.rule].isSymptom);
  const afterWait = dueAt(oldest, Math.max(timing.groupWaitMs, isSymptom ? symptomWaitMs : 0), timing.now);
  const exempt = members.some(({ transition: { kind, urgent } }) => kind === 'event' || urgent);
  return exempt ? afterWait : Math.max(afterWait, mayNotifyFrom(group, timing));
}

/** From when on a group may be announced again. */
export function mayNotifyFrom(group: string, timing: GroupTiming): EpochMs {
  const last = timing.lastNotified(group);
  return last === undefined ? Number.NEGATIVE_INFINITY : dueAt(last, timing.groupIntervalMs, timing.now);
}

function dueAt(since: EpochMs, waitMs: number, now: EpochMs): EpochMs {
  return now + waitMs - elapsedMs(since, now);
}

/** What matters most first. */
const kindsByWeight = ['event', 'firing', 'worsened', 'reminder', 'resolved'] as const;

/** The message about an incident: it may come without any transition, when the incident ends. */
export function incidentMessageOf(
  incident: MessageIncident,
  wanted: readonly Transition[],
  now: EpochMs,
): GroupMessage {
  const { id, step, cause, severity } = incident;
  const message = messageOf(id, wanted, now);
  const account = cause.attribute === 'account' ? cause.value : null;
  return {
    ...(message ?? { group: id, account, rule: null, at: now, transitions: [] }),
    kind: step === 'ended' ? 'resolved' : step === 'grew' ? 'worsened' : 'firing',
    severity,
    incident,
  };
}

/** The message for the transitions that a channel wants, one a fingerprint; null when there are none. */
export function messageOf(group: string, wanted: readonly Transition[], now: EpochMs): GroupMessage | null {
  const parts = new MessageParts();
  for (const transition of wanted) parts.put(transition);
  return parts.message(group, now);
}

/** A message on its way: the transitions are put in one by one, because of a storm there are as many as mailboxes. */
export class MessageParts {
  /** By what comes first in a message. Of a storm few sorts of transitions are many. */
  readonly #sorts = new Map<number, Alike>();
  readonly #kinds = new Set<Transition['kind']>();
  readonly #accounts = new Set<string>();

  put(transition: Transition): void {
    const rank = rankOf(transition);
    const alike = this.#sorts.get(rank) ?? new Alike();
    this.#sorts.set(rank, alike);
    alike.put(transition);
    this.#kinds.add(transition.kind);
    this.#accounts.add(transition.alert.account);
  }

  /** null when there are none. */
  message(group: string, now: EpochMs): GroupMessage | null {
    const sorts = [...this.#sorts].sort(([a], [b]) => a - b).map(([, alike]) => alike.newestFirst());
    const some = sorts.flatMap((alike) => alike.slice(0, 1));
    const [first] = some;
    if (!first) return null;
    const { account, rule } = first.alert;
    return {
      group,
      account: this.#accounts.size === 1 ? account : null,
      rule: some.every(({ alert }) => alert.rule === rule) ? rule : null,
      kind: group === foundGroup ? 'found' : (kindsByWeight.find((kind) => this.#kinds.has(kind)) ?? first.kind),
      severity: worstOf(some.map(({ alert }) => alert.severity)),
      at: now,
      transitions: sorts.flat(),
      incident: null,
    };
  }
}

/** So many of a rank at least are in order, which is more than anybody reads: to sort a storm would hold up everything else. */
const inOrderAtLeast = 1_000;

/** Transitions of one rank. */
class Alike {
  readonly #newest: Transition[] = [];
  readonly #others: Transition[] = [];

  put(transition: Transition): void {
    this.#newest.push(transition);
    if (this.#newest.length < 2 * inOrderAtLeast) return;
    this.#sort();
    this.#others.push(...this.#newest.splice(inOrderAtLeast));
  }

  newestFirst(): readonly Transition[] {
    this.#sort();
    return [...this.#newest, ...this.#others];
  }

  #sort(): void {
    this.#newest.sort((one, other) => other.at - one.at);
  }
}

/** The worst of severities; info of none. */
export function worstOf(some: readonly Severity[]): Severity {
  const worst = some.reduce((rank, one) => Math.min(rank, severities.indexOf(one)), severities.length - 1);
  return severities[worst] ?? 'info';
}

/** Whether one severity is worse than another. */
export function severer(one: Severity, other: Severity): boolean {
  return severities.indexOf(one) < severities.indexOf(other);
}

const rankOfRule = new Map(alertRules.map((rule, rank) => [rule, rank]));

/** What goes on first, then the worst, then in the order of the rules; of one rank the newest first. */
function rankOf({ kind, alert: { severity, rule } }: Transition): number {
  const rank = Number(kind === 'resolved') * severities.length + severities.indexOf(severity);
  return rank * alertRules.length + (rankOfRule.get(rule) ?? -1);
}

interface RuleCount {
  readonly rule: AlertRule;
  /** All of the rule that a message is about, those that ended included. */
  readonly count: number;
  readonly resolved: number;
  readonly severity: Severity;
}

/** How many of each rule a message is about, in the order of its transitions: the worst rule first. */
export function countsByRule(transitions: readonly Transition[]): readonly RuleCount[] {
  const counts = new Map<AlertRule, { -readonly [Field in keyof RuleCount]: RuleCount[Field] }>();
  for (const { kind, alert } of transitions) {
    const known = counts.get(alert.rule) ?? { rule: alert.rule, count: 0, resolved: 0, severity: alert.severity };
    known.count += 1;
    known.resolved += Number(kind === 'resolved');
    counts.set(alert.rule, known);
  }
  return [...counts.values()];
}

// Which groups that are announced at the same time are one message, because they have one cause. Pure.

interface Announced {
  readonly group: string;
  readonly transitions: readonly Transition[];
}

/** The refused change that shows that a key may not write is announced with the key. */
export function joinedGroups(groups: readonly Announced[]): readonly Announced[] {
  const readOnlyKeys = new Set(
    groups.filter(({ transitions }) => transitions.some(isReadOnlyKey)).map(({ group }) => group),
  );
  const joined = new Map<string, readonly Transition[]>();
  for (const { group, transitions } of groups) {
    const [first] = transitions;
    const ofKey =
      first?.alert.rule === 'guard_action_failed' ? groupOf({ ...first.alert, rule: 'not_guarded' }) : group;
    const of = readOnlyKeys.has(ofKey) ? ofKey : group;
    joined.set(of, [...(joined.get(of) ?? []), ...transitions]);
  }
  return [...joined].map(([group, transitions]) => ({ group, transitions }));
}

function isReadOnlyKey({ alert: { rule, object } }: Transition): boolean {
  return rule === 'not_guarded' && object === 'key read-only';
}
