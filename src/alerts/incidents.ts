// Incidents over time: begin with what mailboxes share, take in who joins, widen, and end when nothing goes on. Pure.

import { type Alert, fingerprintOf, isCause, type Transition } from '../core/alert.ts';
import { type AlertRule, ruleBook } from '../core/alert-rules.ts';
import {
  type Incident,
  type IncidentAnnouncement,
  type IncidentCause,
  type IncidentMailbox,
  type SharedAttribute,
  sharedAttributes,
} from '../core/incident.ts';
import { mailboxKey } from '../core/mailbox.ts';
import { dayMs, type EpochMs, elapsedMs, hourMs, minuteMs } from '../core/time.ts';
import { lacksCounts, type Reason } from '../core/verdict.ts';
import { accountSubject, missingCountsSubject } from './condition.ts';
import { severer, worstOf } from './grouping.ts';
import { outageCauses } from './rules/account-rules.ts';
import { type Affected, type Shared, sharedCauses } from './shared-cause.ts';

/** What shares more than a domain begins within an hour... */
const togetherMs = hourMs;
/** ...and the mailboxes of one domain within a day: that three of them bounce by chance is far less likely. */
const togetherOnDomainMs = dayMs;
/** So long after the last one joined another may: a night lies between two days of sending. */
const joinsWithinMs = 18 * hourMs;
/** So long after it began more mailboxes may show that its cause is wider. */
const widensWithinMs = 6 * hourMs;
/** Without anything new for so long, and with nothing that goes on, an incident is over. */
const quietMs = dayMs;
/** The mailboxes that one incident keeps; more than that are announced outside of it. */
const maxMembers = 5_000;

interface IncidentFacts {
  readonly now: EpochMs;
  /** Those that go on. */
  readonly open: readonly Incident[];
  readonly affected: ReadonlyMap<string, Affected>;
  /** Fingerprints of alerts that keep their incident from ending while they fire: what is held, a domain's DNS. */
  readonly lasting: ReadonlySet<string>;
  /** A new identity for the one of that kind and cause that begins. */
  readonly idOf: (one: Omit<Incident, 'id'>) => string;
  /** How many mailboxes of the fleet share a cause, whether they bounce or not. */
  readonly sharing: (cause: IncidentCause) => number;
}

/** Those that go on or have ended just now, in the order of `open`, then those that begin. Unchanged ones are the same objects. */
export function incidentsAfter(facts: IncidentFacts): readonly Incident[] {
  const { now, affected, sharing } = facts;
  const refreshed = facts.open.map((incident) => refreshedBy(incident, affected, now));
  const taken = new Set(refreshed.flatMap(({ members }) => members.map(keyOf)));
  const free = [...affected.values()].filter(({ key }) => !taken.has(key));
  const { open, rest } = joined(refreshed, free, now);
  const isRecent = ({ mailbox }: Affected) => mailbox.since > now - togetherMs;
  const widened = widenedBy(open, rest.filter(isRecent), facts);
  const left = without(membersOf(widened.begun), widened.rest);
  const ofDomain = [...rest.filter((one) => !isRecent(one)), ...left].filter(
    ({ mailbox }) => mailbox.since > now - togetherOnDomainMs,
  );
  const begun = [...widened.begun, ...sharedCauses(ofDomain, { attributes: ['domain'], sharing })];
  return [...widened.open.map((one) => endedIfQuiet(one, facts)), ...begun.map((one) => begunWith(one, facts))];
}

function membersOf(shared: readonly Shared[]): readonly Affected[] {
  return shared.flatMap(({ members }) => members);
}

function without(some: readonly Affected[], all: readonly Affected[]): readonly Affected[] {
  const left = new Set(all);
  for (const one of some) left.delete(one);
  return [...left];
}

/** Its mailboxes as they are now. One that is affected no more stays as it was, and nothing of it goes on. */
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

/** Who has the kind of bounce of an incident and what its mailboxes share joins it; of two incidents the narrower one. */
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

/**
 * What is new together with the mailboxes of a young incident may have a wider cause in common: then that incident
 * widens. Where it would swallow a second one, or tear one apart, what is new is looked at alone.
 */
function widenedBy(incidents: readonly Incident[], recent: readonly Affected[], facts: IncidentFacts) {
  const young = incidents.filter((one) => mayWiden(one, facts.now));
  const owner = new Map(young.flatMap((one) => one.members.map((member) => [keyOf(member), one.id])));
  const known = [...owner.keys()].flatMap((key) => facts.affected.get(key) ?? []);
  const open = new Map(incidents.map((one) => [one.id, one]));
  const begun: Shared[] = [];
  let rest = recent;
  if (recent.length > 0) {
    for (const shared of sharedCauses([...known, ...recent], facts)) {
      const fresh = shared.members.filter(({ key }) => !owner.has(key));
      const [id, ...others] = [...new Set(shared.members.flatMap(({ key }) => owner.get(key) ?? []))];
      if (id === undefined) begun.push(shared);
      const incident = id === undefined ? undefined : open.get(id);
      if (!incident || others.length > 0 || fresh.length === 0) continue;
      const isWider = breadth(shared.cause.attribute) > breadth(incident.cause.attribute);
      if (!isWider || shared.kind !== incident.kind) continue;
      const keys = new Set(shared.members.map(({ key }) => key));
      if (!incident.members.every((member) => keys.has(keyOf(member)))) continue;
      open.set(incident.id, { ...withMembers(incident, fresh, facts.now), cause: shared.cause });
      rest = without(fresh, rest);
    }
  }
  const alone = without(membersOf(begun), rest);
  return { open: [...open.values()], rest, begun: [...begun, ...sharedCauses(alone, facts)] };
}

/** It may still be announced that it is wider. */
function mayWiden({ beganAt, announced }: Incident, now: EpochMs): boolean {
  return elapsedMs(beganAt, now) <= widensWithinMs && !announced?.updated;
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

/** What shows that a mailbox bounces, or follows from it: never a message of its own while its mailbox is in an incident. */
const memberRules: readonly AlertRule[] = [
  'guard_acted',
  'bounce_over_limit',
  'bounce_burst',
  'bounce_near_limit',
  'reputation_low',
  'reputation_low',
];

/** What decides to which incident an alert belongs, besides the incidents. */
interface Grounds {
  /** Under which mailboxes a breaker holds something, by API. */
  readonly heldKeys: (api: string) => readonly string[];
  /** Whether a mailbox of the domain shares the cause of the incident and has its kind of bounce. */
  readonly shows: (account: string, domain: string, incident: Incident) => boolean;
}

/** What transitions are looked up with. Made once for many: of a storm there are as many alerts as mailboxes. */
export interface Belonging extends Grounds {
  readonly open: readonly Incident[];
  /** By the fingerprint of an alert that is about no single mailbox. */
  readonly byAlert: ReadonlyMap<string, Incident>;
  /** By the key of a mailbox. */
  readonly byMember: ReadonlyMap<string, readonly Incident[]>;
}

export function belongingTo(open: readonly Incident[], grounds: Grounds): Belonging {
  const byAlert = new Map<string, Incident>();
  const byMember = new Map<string, Incident[]>();
  for (const incident of open) {
    for (const fingerprint of incident.alerts) if (!byAlert.has(fingerprint)) byAlert.set(fingerprint, incident);
    for (const member of incident.members) {
      const key = keyOf(member);
      const known = byMember.get(key);
      if (known) known.push(incident);
      else byMember.set(key, [incident]);
    }
  }
  return { ...grounds, open, byAlert, byMember };
}

/** The incident that a transition belongs to; null for none, and where two could be meant. */
export function incidentOf({ alert, found }: Transition, belonging: Belonging): Incident | null {
  const known = belonging.byAlert.get(alert.fingerprint);
  if (known) return holdsOthers(alert, known, belonging) ? null : known;
  const [incident, ...others] = found ? [] : concerned(alert, belonging);
  return incident && others.length === 0 && !isGraver(alert, incident.announced) ? incident : null;
}

/**
 * What a breaker came to hold of other mailboxes is no part of it: people are reminded of all that it holds. Nor are the
 * emergencies that it holds: an incident has one message between its first and its last.
 */
function holdsOthers({ rule, object, facts }: Alert, { members }: Incident, { heldKeys }: Belonging): boolean {
  if (rule !== 'guard_held') return false;
  if (Number(facts.numbers['emergencies'] ?? 0) > 0) return true;
  const keys = new Set(members.map(keyOf));
  return heldKeys(object ?? '').some((key) => !keys.has(key));
}

/** After its one update an incident is silent until its end; what is graver than all that was announced is announced by itself. */
function isGraver(alert: Alert, announced: IncidentAnnouncement | null): boolean {
  return announced?.updated === true && severer(alert.severity, announced.severity);
}

/** The incidents that an alert is about. */
function concerned(alert: Alert, belonging: Belonging): readonly Incident[] {
  const { rule, account, mailboxId } = alert;
  if (mailboxId !== null && memberRules.includes(rule))
    return belonging.byMember.get(mailboxKey(account, mailboxId)) ?? [];
  return belonging.open.filter((incident) => concerns(incident, alert, belonging));
}

function concerns(incident: Incident, alert: Alert, belonging: Belonging): boolean {
  const { rule, account, object } = alert;
  const { members, cause, announced } = incident;
  // Nobody would be notified of it before the end: symptoms call for nothing before that.
  if (announced?.updated && !ruleBook[rule].isSymptom) return false;
  switch (rule) {
    case 'guard_held':
      return belonging.heldKeys(object ?? '').length > 0 && !holdsOthers(alert, incident, belonging);
    case 'dns_failing':
    case 'blacklisted':
      return cause.value === object && (cause.attribute === 'domain' || cause.attribute === 'ip');
    case 'shared_bounces':
      return isCause(alert)
        ? members.filter((member) => member.account === account).length >= 3
        : object !== null && belonging.shows(account, object, incident);
    default:
      return false;
  }
}

/** With those of the alerts, which are about no single mailbox, that belong to it from now on. */
export function adopted(incident: Incident, wide: readonly Alert[], belonging: Belonging): Incident {
  const own = wide.filter(({ fingerprint }) => !incident.alerts.includes(fingerprint));
  const fresh = own.filter((alert) => incidentOf({ kind: 'firing', at: 0, alert }, belonging)?.id === incident.id);
  if (fresh.length === 0) return incident;
  return { ...incident, alerts: [...incident.alerts, ...fresh.map(({ fingerprint }) => fingerprint)] };
}

/** So long a beginning waits for mailboxes that join one after the other, and no longer than that. */
const arrivalMs = minuteMs;
const longestArrivalMs = 5 * minuteMs;
/** So long people read the first message before they get another, unless that is graver... */
const settleMs = 30 * minuteMs;
/** ...and so long nobody may have joined: one update is about a whole wave... */
const waveMs = 15 * minuteMs;
/** ...that goes on for no longer than this. */
const longestWaveMs = 2 * hourMs;

/** How many alerts belong to it that are no symptoms: what is held, its domain's DNS. A further one is announced at once. */
export function graveAlerts({ alerts }: Pick<Incident, 'alerts'>): number {
  return alerts.filter((fingerprint) => !ruleBook[fingerprint.split('|', 1)[0] as AlertRule].isSymptom).length;
}

/** Which message is due; null for none. */
export function dueStep(incident: Incident, now: EpochMs): 'began' | 'grew' | 'ended' | null {
  const { announced, endedAt, members, joinedAt, openedAt, cause } = incident;
  if (!announced) {
    const hasArrived = elapsedMs(joinedAt, now) >= arrivalMs || elapsedMs(openedAt, now) >= longestArrivalMs;
    return endedAt === null && hasArrived ? 'began' : null;
  }
  if (endedAt !== null) return 'ended';
  if (announced.updated) return null;
  if (severer(incident.severity, announced.severity) || graveAlerts(incident) > announced.alerts) return 'grew';
  const isWider = announced.cause.attribute !== cause.attribute;
  const isLarger = members.length >= announced.members + Math.max(3, announced.members / 2);
  const isSettled = elapsedMs(joinedAt, now) >= waveMs || elapsedMs(announced.at, now) >= longestWaveMs;
  return (isWider || isLarger) && isSettled && elapsedMs(announced.at, now) >= settleMs ? 'grew' : null;
}

/** As severe as the worst of its mailboxes and of the alerts in its messages; never less than before. */
export function withSeverity(incident: Incident, alerts: readonly Alert[]): Incident {
  const severities = [...incident.members, ...alerts].map(({ severity }) => severity);
  const severity = worstOf([incident.severity, ...severities]);
  return severity === incident.severity ? incident : { ...incident, severity };
}

function keyOf({ account, mailboxId }: Pick<IncidentMailbox, 'account' | 'mailboxId'>): string {
  return mailboxKey(account, mailboxId);
}

function breadth(attribute: SharedAttribute): number {
  return sharedAttributes.indexOf(attribute);
}

// What is not announced because its cause is: an API that does not answer, over the old data of its mailboxes; counts that are missing all
// over an account, over those of its mailboxes. Nothing else.

/** Alerts that say nothing new during an outage. What the guard did, or could not do, is never among them. */
const explained: readonly AlertRule[] = ['stale_data', 'mailbox_missing'];

/** Whether an outage of the account, that is over or will be at `until`, explains the alert at `now`. */
export function isExplained(alert: Alert, until: EpochMs, now: EpochMs): boolean {
  return explained.includes(alert.rule) && now < until;
}

/** Whether the alert of a whole account stands for this one of a mailbox: their counts are missing together. */
export function isStoodFor(alert: Alert, current: (fingerprint: string) => Alert | undefined): boolean {
  const { rule, account, mailboxId, facts } = alert;
  if (rule !== 'guard_blind' || mailboxId === null || !lacksCounts(facts.numbers['reason'] as Reason)) return false;
  return current(fingerprintOf(missingCountsSubject(account)))?.status === 'firing';
}

/** Whether an outage fires for the account. `current`: the alert of a fingerprint, if any. */
export function hasCause(account: string, current: (fingerprint: string) => Alert | undefined): boolean {
  return outageCauses.some(
    (cause) => current(fingerprintOf(accountSubject('not_guarded', account, cause)))?.status === 'firing',
  );
}
