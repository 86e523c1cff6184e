// Groups transitions that belong together into one message, and decides which ends need none. Pure.

import { type Alert, type Announcement, isCause, type Transition } from '../core/alert.ts';
import { type AlertRule, alertRules, ruleBook, type Severity, severities } from '../core/alert-rules.ts';
import type { StoredTransition } from '../core/delivery.ts';
import type { MessageIncident } from '../core/incident.ts';
import { type EpochMs, elapsedMs, hourMs, minuteMs } from '../core/time.ts';
import type { Reason } from '../core/verdict.ts';
import { counted } from '../core/wording/phrases.ts';

export interface GroupMessage {
  readonly group: string;
  /** Account of all transitions, or null if there are several. */
  readonly account: string | null;
  readonly rule: AlertRule | null;
  /** `found` for the findings of a first sweep; otherwise the most important kind among the transitions. */
  readonly kind: Transition['kind'] | 'found';
  readonly severity: Severity;
  readonly at: EpochMs;
  /** Transitions, one a fingerprint, sorted by `rankOf`. The list is empty only if there is an incident. */
  readonly transitions: readonly Transition[];
  readonly incident: MessageIncident | null;
  /** Moment since which news waited for the end of a mute time. */
  readonly waitedSince?: EpochMs;
}

export interface DueGroup {
  readonly group: string;
  readonly unnotified: readonly StoredTransition[];
}

export interface GroupTiming {
  readonly now: EpochMs;
  readonly groupWaitMs: number;
  readonly groupIntervalMs: number;
  /** Returns undefined if the last announcement is too long ago to matter. */
  readonly lastNotified: (group: string) => EpochMs | undefined;
  /** True if further transitions may be unnotified. No group waits then, since it would keep those back. */
  readonly full: boolean;
  /** Returns the moment since which findings are kept, or null if no first sweep is running. */
  readonly keptFrom: (account: string) => EpochMs | null;
  readonly incidents: IncidentTiming;
}

interface IncidentTiming {
  /** Returns the id of a transition's incident, or null if it belongs to none. */
  readonly of: (transition: Transition) => string | null;
  /** Returns true if the incident's next message is due. Its transitions wait until then. */
  readonly isDue: (id: string) => boolean;
}

const foundGroup = 'found';
/** Maximum time that findings are kept. A longer sweep is announced in parts. */
const longestKeptMs = hourMs;

/** Unstable alerts of an account form one group. A read-only key is told with the failed actions that show it. */
export function groupOf({ account, rule, object, unstable }: Alert): string {
  if (unstable) return `${account}|unstable`;
  if (isReadOnlyKey({ rule, object })) return `${account}|guard_action_failed`;
  const isApart = isCause({ rule, object }) || rule === 'protection_off';
  return isApart ? `${account}|${rule}|${object}` : `${account}|${rule}`;
}

function isReadOnlyKey({ rule, object }: Pick<Alert, 'rule' | 'object'>): boolean {
  return rule === 'not_guarded' && object === 'key read-only';
}

/** Returns the groups that may be announced now, and the time of the next one, or null if none waits. */
export function dueGroups(
  unnotified: readonly StoredTransition[],
  timing: GroupTiming,
): { readonly due: readonly DueGroup[]; readonly nextDueAt: EpochMs | null } {
  const found = foundIn(unnotified);
  const keptUntil = keptUntilOf(found.values(), timing);
  const later: EpochMs[] = [];
  const ready = unnotified.flatMap((stored) => {
    const { alert } = stored.transition;
    const beginning = found.get(alert.fingerprint);
    const until = beginning ? keptUntil(beginning) : timing.now;
    if (until > timing.now) {
      later.push(until);
      return [];
    }
    const incident = beginning || timing.full ? null : timing.incidents.of(stored.transition);
    if (incident !== null && !timing.incidents.isDue(incident)) return [];
    return { group: beginning ? foundGroup : (incident ?? groupOf(alert)), stored };
  });
  const due: DueGroup[] = [];
  for (const [group, members] of Map.groupBy(ready, (one) => one.group)) {
    const waiting = members.map(({ stored }) => stored);
    const dueAt = timing.full ? timing.now : groupDueAt(group, waiting, timing);
    if (dueAt > timing.now) later.push(dueAt);
    else due.push({ group, unnotified: waiting });
  }
  return { due, nextDueAt: later.length === 0 ? null : Math.min(...later) };
}

/** Returns the newest finding by fingerprint. An alert with other news takes its findings along. */
function foundIn(unnotified: readonly StoredTransition[]): ReadonlyMap<string, Transition> {
  const newest = new Map<string, Transition>();
  for (const { transition } of unnotified) {
    const { kind, found, alert } = transition;
    if (found) newest.set(alert.fingerprint, transition);
    else if (kind !== 'resolved') newest.delete(alert.fingerprint);
  }
  return newest;
}

/** Counts the wait from the oldest kept finding of the account. */
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

/** Minimum wait of symptoms of bounces, because an incident may begin that they belong to. */
const symptomWaitMs = 30 * minuteMs;
/** Longest wait of a critical event, such as a pause, after the last message of its group. */
const criticalEventWaitMs = minuteMs;

function groupDueAt(group: string, members: readonly StoredTransition[], timing: GroupTiming): EpochMs {
  const oldest = members.reduce((at, { transition }) => Math.min(at, transition.at), Number.POSITIVE_INFINITY);
  const isSymptom = members.every(({ transition }) => ruleBook[transition.alert.rule].isSymptom);
  const afterWait = dueAt(oldest, Math.max(timing.groupWaitMs, isSymptom ? symptomWaitMs : 0), timing.now);
  // A failed action that was announced already must not delay the news that the key may not write.
  const exempt = members.some(({ transition: { kind, urgent, alert } }) => {
    return urgent || (kind === 'firing' && isReadOnlyKey(alert));
  });
  if (exempt) return afterWait;
  const isCritical = members.some(
    ({ transition: { kind, alert } }) => kind === 'event' && alert.severity === 'critical',
  );
  const intervalMs = Math.min(timing.groupIntervalMs, isCritical ? criticalEventWaitMs : Number.POSITIVE_INFINITY);
  return Math.max(afterWait, mayNotifyFrom(group, { ...timing, groupIntervalMs: intervalMs }));
}

export function mayNotifyFrom(
  group: string,
  { lastNotified, groupIntervalMs, now }: Pick<GroupTiming, 'lastNotified' | 'groupIntervalMs' | 'now'>,
): EpochMs {
  const last = lastNotified(group);
  return last === undefined ? Number.NEGATIVE_INFINITY : dueAt(last, groupIntervalMs, now);
}

function dueAt(since: EpochMs, waitMs: number, now: EpochMs): EpochMs {
  return now + waitMs - elapsedMs(since, now);
}

const kindsByWeight = ['event', 'firing', 'worsened', 'reminder', 'resolved'] as const;

const kindsOfSteps = { began: 'firing', grew: 'worsened', eased: 'reminder', ended: 'resolved' } as const;

/** The message has no transitions if only the incident ended. */
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
    kind: kindsOfSteps[step],
    severity,
    incident,
  };
}

/** Returns one transition per fingerprint, or null if the channel wants none. */
export function messageOf(group: string, wanted: readonly Transition[], now: EpochMs): GroupMessage | null {
  const [first] = wanted;
  if (!first) return null;
  const { account, rule } = first.alert;
  const kinds = new Set(wanted.map(({ kind }) => kind));
  return {
    group,
    account: wanted.every(({ alert }) => alert.account === account) ? account : null,
    rule: wanted.every(({ alert }) => alert.rule === rule) ? rule : null,
    kind: group === foundGroup ? 'found' : (kindsByWeight.find((kind) => kinds.has(kind)) ?? first.kind),
    severity: worstOf(wanted.map(({ alert }) => alert.severity)),
    at: now,
    transitions: wanted.toSorted((a, b) => rankOf(a) - rankOf(b) || b.at - a.at),
    incident: null,
  };
}

/** Splits a message of more than `max` alerts. */
export function partsOf(message: GroupMessage, max = Number.POSITIVE_INFINITY): readonly GroupMessage[] {
  const { group, at, incident, transitions: all } = message;
  if (all.length <= max) return [message];
  const parts = Array.from({ length: Math.ceil(all.length / max) }, (_, n) => all.slice(n * max, (n + 1) * max));
  return parts.map((some) => ({ ...message, ...(!incident && messageOf(group, some, at)), transitions: some }));
}

export function worstOf(some: readonly Severity[]): Severity {
  const worst = some.reduce((rank, one) => Math.min(rank, severities.indexOf(one)), severities.length - 1);
  return severities[worst] ?? 'info';
}

export function severer(one: Severity, other: Severity): boolean {
  return severities.indexOf(one) < severities.indexOf(other);
}

const rankOfRule = new Map(alertRules.map((rule, rank) => [rule, rank]));

/** Ranks ongoing alerts first, then the worst, then by the order of the rules. */
function rankOf({ kind, alert: { severity, rule } }: Transition): number {
  const rank = Number(kind === 'resolved') * severities.length + severities.indexOf(severity);
  return rank * alertRules.length + (rankOfRule.get(rule) ?? -1);
}

/** Reasons for which Warmwarden acts. An alert that ends with one of these is no all-clear. */
const actingReasons: readonly unknown[] = ['bounce_rate_over_limit', 'repeat_offender', 'emergency'] satisfies Reason[];

function isActedOn({ rule, facts }: Pick<Alert, 'rule' | 'facts'>): boolean {
  return rule === 'bounce_over_limit' && actingReasons.includes(facts.numbers['reason']);
}

/** The name for actions says what was done, and that for bounces over the limit whether Warmwarden acts on them. */
export function groupName(rule: AlertRule, alerts: readonly Pick<Transition, 'kind' | 'alert'>[]): string {
  if (rule === 'guard_acted') return actedName(alerts.filter(({ alert }) => alert.rule === rule));
  if (rule !== 'bounce_over_limit') return ruleBook[rule].name;
  const goOn = alerts.filter(({ kind, alert }) => kind !== 'resolved' && alert.rule === rule);
  const few = goOn.filter(({ alert }) => isTooFew(alert)).length;
  const name = ruleBook.bounce_over_limit.name;
  if (goOn.length === 0)
    return alerts.some(({ alert }) => isActedOn(alert)) ? `${name}: Warmwarden can act again` : name;
  if (few === 0) return `${name}, NO ACTION TAKEN`;
  return few === goOn.length ? `${name}, too few to act on` : `${name}, ${goOn.length - few} WITHOUT ACTION`;
}

function actedName(alerts: readonly Pick<Transition, 'alert'>[]): string {
  const paused = alerts.filter(({ alert }) => alert.facts.numbers['action'] === 'pause').length;
  const switched = alerts.length - paused;
  const texts = [
    paused > 0 && `${counted(paused, 'warm-up')} paused`,
    switched > 0 && `${counted(switched, 'mailbox', 'mailboxes')} switched to recovery mode`,
  ];
  return texts.filter((text) => text !== false).join(', ');
}

// Ends that have no message for people, because an earlier message announced them. Receivers that track state get these
// ends all the same.

export function isTooFew({ rule, facts }: Pick<Alert, 'rule' | 'facts'>): boolean {
  return rule === 'bounce_over_limit' && facts.numbers['reason'] === 'insufficient_evidence';
}

/** The digest lists these alerts. */
export function callsForNothing(alert: Alert): boolean {
  return isTooFew(alert) || ruleBook[alert.rule].isSymptom === true;
}

/** People who were notified of more than too few bounces are notified of their end. */
export function endOf(
  alert: Alert,
  before: Announcement | undefined,
  inIncident: boolean,
): Pick<Announcement, 'quietEnd' | 'onlyInIncident'> {
  const isQuiet = isTooFew(alert) && (before === undefined || before.quietEnd === 'too_few');
  const isOnlyThere = inIncident && (before === undefined || before.onlyInIncident === true);
  return { ...(isQuiet && { quietEnd: 'too_few' }), ...(isOnlyThere && { onlyInIncident: true }) };
}

export function endAsTold(end: Transition, { quietEnd, onlyInIncident }: Announcement): Transition {
  return { ...end, ...(quietEnd && { foretold: true }), ...(!onlyInIncident && { alone: true }) };
}

/** Returns null if the alert needs action, or a channel did not get the incident's last message that named it. */
export function namedAtTheEnd(
  alert: Alert,
  known: Announcement | undefined,
  readers: readonly string[],
): Announcement | null {
  const haveRead = callsForNothing(alert) && known?.channels?.every((channel) => readers.includes(channel));
  return known && haveRead ? { ...known, quietEnd: 'in_incident' } : null;
}
