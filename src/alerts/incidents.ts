// Follows incidents over time: they begin, grow, and end when nothing goes on. Pure.

import { type Alert, isCause, type Transition } from '../core/alert.ts';
import { alertRules, ruleBook } from '../core/alert-rules.ts';
import type {
  Incident,
  IncidentAnnouncement,
  IncidentCause,
  IncidentMailbox,
  MessageIncident,
} from '../core/incident.ts';
import { mailboxKey } from '../core/mailbox.ts';
import { dayMs, type EpochMs, elapsedMs, hourMs, minuteMs } from '../core/time.ts';
import { severer, worstOf } from './grouping.ts';
import { type Affected, breadth, type Shared, sharedCauses } from './shared-cause.ts';

/** Window in which mailboxes must be affected to begin an incident, if their cause is wider than a domain. */
const togetherMs = hourMs;
/** Longer than `togetherMs`: three mailboxes of one domain are far less likely to bounce by chance. */
const togetherOnDomainMs = dayMs;
/** Time after the last mailbox joined in which another may join: a night lies between two days of sending. */
const joinsWithinMs = 18 * hourMs;
/** Time after which an incident is over if nothing is new and nothing goes on. */
const quietMs = dayMs;
/** Further mailboxes are announced outside of the incident. */
const maxMembers = 5_000;

interface IncidentFacts {
  readonly now: EpochMs;
  readonly open: readonly Incident[];
  readonly affected: ReadonlyMap<string, Affected>;
  /** Fingerprints of alerts that keep their incident open while they fire: held actions, a domain's DNS. */
  readonly lasting: ReadonlySet<string>;
  readonly idOf: (one: Omit<Incident, 'id'>) => string;
  readonly sharing: (cause: IncidentCause) => number;
}

/** Returns the incidents in the order of `open`, then the new ones. An unchanged incident is the same object. */
export function incidentsAfter(facts: IncidentFacts): readonly Incident[] {
  const { now, affected, sharing } = facts;
  const refreshed = facts.open.map((incident) => refreshedBy(incident, affected, now));
  const taken = new Set(refreshed.flatMap(({ members }) => members.map(keyOf)));
  const free = [...affected.values()].filter(({ key }) => !taken.has(key));
  const { open, rest } = joined(refreshed, free, now);
  const isRecent = ({ mailbox }: Affected) => mailbox.since > now - togetherMs;
  const together = sharedCauses(rest.filter(isRecent), { sharing });
  const explained = new Set(together.flatMap(({ members }) => members));
  const left = rest.filter((one) => !explained.has(one) && one.mailbox.since > now - togetherOnDomainMs);
  const begun = [...together, ...sharedCauses(left, { attributes: ['domain'], sharing })];
  return [...open.map((one) => endedIfQuiet(one, facts)), ...begun.map((one) => begunWith(one, facts))];
}

/** A mailbox that is not affected keeps its last state, and does not go on. */
function refreshedBy(incident: Incident, affected: IncidentFacts['affected'], now: EpochMs): Incident {
  let moved = false;
  const members = incident.members.map((member) => {
    const current = affected.get(keyOf(member))?.mailbox;
    const next = current ?? (member.goesOn ? { ...member, goesOn: false } : member);
    if (next.state === member.state && next.goesOn === member.goesOn && next.since === member.since) return member;
    moved = true;
    return { ...next, severity: worstOf([next.severity, member.severity]) };
  });
  return moved ? { ...incident, members, movedAt: now } : incident;
}

/** A mailbox that fits two incidents joins the narrower one. */
function joined(incidents: readonly Incident[], free: readonly Affected[], now: EpochMs) {
  const narrowestFirst = incidents.toSorted((a, b) => breadth(a.cause.attribute) - breadth(b.cause.attribute));
  const joining = Map.groupBy(free, (one) => narrowestFirst.find((incident) => mayJoin(one, incident, now)) ?? null);
  const open = incidents.map((incident) => withMembers(incident, joining.get(incident) ?? [], now));
  return { open, rest: joining.get(null) ?? [] };
}

function mayJoin({ mailbox, kinds, traits }: Affected, incident: Incident, now: EpochMs): boolean {
  const { cause, kind, members, joinedAt } = incident;
  const sameKind = kind === null ? kinds.length === 0 : kinds.includes(kind);
  const within = cause.attribute === 'domain' ? quietMs : joinsWithinMs;
  const isNews = mailbox.since > now - togetherOnDomainMs;
  return (
    sameKind &&
    isNews &&
    traits[cause.attribute] === cause.value &&
    elapsedMs(joinedAt, now) <= within &&
    members.length < maxMembers
  );
}

function withMembers(incident: Incident, joining: readonly Affected[], now: EpochMs): Incident {
  if (joining.length === 0) return incident;
  const members = [...incident.members, ...joining.map(({ mailbox }) => mailbox)];
  return { ...incident, members, joinedAt: now, movedAt: now };
}

function begunWith({ cause, kind, members }: Shared, { now, idOf }: IncidentFacts): Incident {
  const mailboxes = members.map(({ mailbox }) => mailbox).sort((a, b) => a.since - b.since);
  const beganAt = Math.min(now, mailboxes[0]?.since ?? now);
  const incident = {
    cause,
    kind,
    beganAt,
    openedAt: now,
    members: mailboxes,
    alerts: [],
    severity: worstOf(mailboxes.map(({ severity }) => severity)),
    joinedAt: now,
    movedAt: now,
    announced: null,
    endedAt: null,
  };
  return { ...incident, id: idOf(incident) };
}

function endedIfQuiet(incident: Incident, { now, lasting }: IncidentFacts): Incident {
  const { members, alerts, movedAt } = incident;
  const goesOn = members.some((member) => member.goesOn) || alerts.some((fingerprint) => lasting.has(fingerprint));
  return goesOn || elapsedMs(movedAt, now) < quietMs ? incident : { ...incident, endedAt: now };
}

/** True for an alert about a mailbox's bounces, which has no message of its own while the mailbox is in an incident. */
function isOfMember({ rule, mailboxId }: Alert): boolean {
  const { shows, isSymptom } = ruleBook[rule];
  return mailboxId !== null && (shows === 'bounces' || shows === 'action' || isSymptom === true);
}

interface Grounds {
  readonly heldKeys: (api: string) => readonly string[];
  /** Returns true if a mailbox of the domain shares the cause of the incident and its kind of bounce. */
  readonly shows: (account: string, domain: string, incident: Incident) => boolean;
}

/** Index for assigning transitions to incidents, because a storm has as many alerts as mailboxes. */
export interface Belonging extends Grounds {
  readonly open: readonly Incident[];
  /** Incidents by the fingerprint of an alert that is about no single mailbox. */
  readonly byAlert: ReadonlyMap<string, Incident>;
  readonly byMember: ReadonlyMap<string, Incident>;
}

export function belongingTo(open: readonly Incident[], grounds: Grounds): Belonging {
  const byAlert = new Map(
    open.toReversed().flatMap((incident) => incident.alerts.map((fingerprint) => [fingerprint, incident] as const)),
  );
  const byMember = new Map(
    open.flatMap((incident) => incident.members.map((member) => [keyOf(member), incident] as const)),
  );
  return { ...grounds, open, byAlert, byMember };
}

/** Returns the incident of a transition, or null if there is none or there are several. */
export function incidentOf({ alert, found }: Transition, belonging: Belonging): Incident | null {
  const known = belonging.byAlert.get(alert.fingerprint);
  if (known) return holdsOthers(alert, known, belonging) ? null : known;
  const [incident, ...others] = found ? [] : concerned(alert, belonging);
  return incident && others.length === 0 && !isGraver(alert, incident.announced) ? incident : null;
}

/** A breaker that holds other mailboxes or emergencies stays out: people are reminded of all that is held. */
function holdsOthers({ rule, object, facts }: Alert, { members }: Incident, { heldKeys }: Belonging): boolean {
  if (ruleBook[rule].shows !== 'hold') return false;
  if (Number(facts.numbers['emergencies'] ?? 0) > 0) return true;
  const keys = new Set(members.map(keyOf));
  return heldKeys(object ?? '').some((key) => !keys.has(key));
}

/** After its one update, the incident is silent until its end, so a graver alert is announced by itself. */
function isGraver(alert: Alert, announced: IncidentAnnouncement | null): boolean {
  return announced?.updated === true && severer(alert.severity, announced.severity);
}

function concerned(alert: Alert, belonging: Belonging): readonly Incident[] {
  const { account, mailboxId } = alert;
  const ofMember = belonging.byMember.get(mailboxKey(account, mailboxId ?? ''));
  if (isOfMember(alert)) return ofMember ? [ofMember] : [];
  return belonging.open.filter((incident) => concerns(incident, alert, belonging));
}

function concerns(incident: Incident, alert: Alert, belonging: Belonging): boolean {
  const { rule, account, object } = alert;
  const { members, cause, announced } = incident;
  // The incident announces the alert only at its end, which is early enough only for symptoms.
  if (announced?.updated && !ruleBook[rule].isSymptom) return false;
  switch (ruleBook[rule].shows) {
    case 'hold':
      return belonging.heldKeys(object ?? '').length > 0 && !holdsOthers(alert, incident, belonging);
    case 'sender':
      return cause.value === object && (cause.attribute === 'domain' || cause.attribute === 'ip');
    case 'shared':
      return isCause(alert)
        ? members.filter((member) => member.account === account).length >= 3
        : object !== null && belonging.shows(account, object, incident);
    default:
      return false;
  }
}

/** Adds the alerts about no single mailbox that belong to the incident from now on. */
export function adopted(incident: Incident, wide: readonly Alert[], belonging: Belonging): Incident {
  const own = wide.filter(({ fingerprint }) => !incident.alerts.includes(fingerprint));
  const fresh = own.filter((alert) => incidentOf({ kind: 'firing', at: 0, alert }, belonging)?.id === incident.id);
  if (fresh.length === 0) return incident;
  return { ...incident, alerts: [...incident.alerts, ...fresh.map(({ fingerprint }) => fingerprint)] };
}

/** Time without a further mailbox before a beginning is announced. */
const arrivalMs = minuteMs;
const longestArrivalMs = 5 * minuteMs;
/** Minimum time between the first message and the next one, unless the next one is graver. */
const settleMs = 30 * minuteMs;
/** Time without a further mailbox before the update, so that one update covers a whole wave. */
const waveMs = 15 * minuteMs;
const longestWaveMs = 2 * hourMs;

/**
 * Counts the alerts that are no symptoms, such as held actions. A further one is announced at once. Rules that only
 * another version has do not count.
 */
export function graveAlerts({ alerts }: Pick<Incident, 'alerts'>): number {
  const grave = new Set<string>(alertRules.filter((rule) => !ruleBook[rule].isSymptom));
  return alerts.filter((fingerprint) => grave.has(fingerprint.replace(/\|.*$/s, ''))).length;
}

export function dueStep(incident: Incident, now: EpochMs): MessageIncident['step'] | null {
  const { announced, endedAt, members, joinedAt, openedAt } = incident;
  if (!announced) {
    const hasArrived = elapsedMs(joinedAt, now) >= arrivalMs || elapsedMs(openedAt, now) >= longestArrivalMs;
    return endedAt === null && hasArrived ? 'began' : null;
  }
  if (endedAt !== null) return 'ended';
  if (announced.held > 0 && members.every(({ state }) => state !== 'held')) return 'eased';
  if (announced.updated) return null;
  if (severer(incident.severity, announced.severity) || graveAlerts(incident) > announced.alerts) return 'grew';
  const isLarger = members.length >= announced.members + Math.max(3, announced.members / 2);
  const isSettled = elapsedMs(joinedAt, now) >= waveMs || elapsedMs(announced.at, now) >= longestWaveMs;
  return isLarger && isSettled && elapsedMs(announced.at, now) >= settleMs ? 'grew' : null;
}

/** The severity never falls. */
export function withSeverity(incident: Incident, alerts: readonly Alert[]): Incident {
  const severities = [...incident.members, ...alerts].map(({ severity }) => severity);
  const severity = worstOf([incident.severity, ...severities]);
  return severity === incident.severity ? incident : { ...incident, severity };
}

function keyOf({ account, mailboxId }: Pick<IncidentMailbox, 'account' | 'mailboxId'>): string {
  return mailboxKey(account, mailboxId);
}
