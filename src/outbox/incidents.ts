// The incidents of one look: which begin, go on or end, their members, and the messages that are due.

import { createHash } from 'node:crypto';
import { incidentMessageOf, messageOf } from '../alerts/grouping.ts';
import { firingOf, type IncidentLook, type IncidentRest, messageIncident } from '../alerts/incident-message.ts';
import {
  adopted,
  type Belonging,
  belongingTo,
  dueStep,
  graveAlerts,
  incidentOf,
  incidentsAfter,
  withSeverity,
} from '../alerts/incidents.ts';
import type { IncidentReport } from '../alerts/muted-news.ts';
import type { Routed } from '../alerts/notifications.ts';
import { type AlertRoute, audienceOf, channelsFor, type RoutedChannel } from '../alerts/routing.ts';
import { affectedMailboxes, isChangedLately, showsIncident, traitOf } from '../alerts/shared-cause.ts';
import type { Alert, Transition } from '../core/alert.ts';
import { type AlertRule, ruleBook } from '../core/alert-rules.ts';
import type { StoredTransition } from '../core/delivery.ts';
import type { Fleet } from '../core/fleet/fleet.ts';
import { heldEntries } from '../core/guard/breaker.ts';
import type { Incident, IncidentCause, IncidentMailbox, MemberState, MessageIncident } from '../core/incident.ts';
import { type MailboxState, mailboxKey } from '../core/mailbox.ts';
import type { EpochMs } from '../core/time.ts';

/** An incident begins with bounces, an action or a hold. */
const isBeginning = ({ rule }: Alert) => ['bounces', 'action', 'hold'].includes(ruleBook[rule].shows ?? '');

/** A hold, a domain or an IP address keeps it alive. Shared bounces do not: they stay over their limits for a week. */
const isLasting = ({ rule }: Alert) => ['hold', 'sender'].includes(ruleBook[rule].shows ?? '');

interface LookInput {
  readonly firing: readonly Alert[];
  readonly unnotified: readonly StoredTransition[];
  readonly now: EpochMs;
}

export interface IncidentsOfLook {
  readonly all: readonly Incident[];
  readonly of: (transition: Transition) => string | null;
  readonly isDue: (id: string) => boolean;
  readonly changed: readonly Incident[];
}

export function lookAtIncidents(
  fleet: Fleet,
  seen: LookInput,
  apiOf: (account: string) => string | null,
): IncidentsOfLook {
  const { firing, unnotified, now } = seen;
  const known = fleet.incidents().filter(({ endedAt }) => endedAt === null);
  const isNews = unnotified.some(({ transition }) => isBeginning(transition.alert));
  if (known.length === 0 && !isNews) return { all: [], of: () => null, isDue: () => false, changed: [] };
  const affected = affectedMailboxes({
    now,
    mailboxes: fleet.mailboxes(),
    firing,
    breakers: fleet.breakers(),
    unnotified: unnotified.map(({ transition }) => transition),
    apiOf,
  });
  const heldKeys = (api: string) => heldEntries(fleet.breaker(api)).map(({ key }) => key);
  const lasting = new Set(firing.filter(isLasting).map((one) => one.fingerprint));
  const sharing = (cause: IncidentCause) => [...fleet.mailboxes()].filter(isSharedBy(cause, apiOf)).length;
  const stepped = incidentsAfter({ now, open: known, affected, lasting, idOf, sharing });
  const shows: Belonging['shows'] = (account, domain, incident) =>
    showsIncident(incident, { account, domain }, [...fleet.mailboxesOf(account)], apiOf);
  const before = belongingTo(stepped, { heldKeys, shows });
  const wide = firing.filter(({ mailboxId }) => mailboxId === null);
  const all = stepped.map((one) => {
    if (one.endedAt !== null) return one;
    const incident = adopted(one, wide, before);
    return withSeverity(
      incident,
      wide.filter(({ fingerprint }) => incident.alerts.includes(fingerprint)),
    );
  });
  const belonging = belongingTo(all, { heldKeys, shows });
  return {
    all,
    of: (transition) => incidentOf(transition, belonging)?.id ?? null,
    isDue: (id) => all.some((one) => one.id === id && dueStep(one, now) !== null),
    changed: all.filter((one) => !known.includes(one)),
  };
}

function isSharedBy({ attribute, value }: IncidentCause, apiOf: (account: string) => string | null) {
  return (mailbox: MailboxState) => traitOf[attribute](mailbox, apiOf) === value;
}

/** Id of an incident: the same whenever its first look is repeated, and different from that of any other incident. */
function idOf({ cause, kind, beganAt, members }: Omit<Incident, 'id'>): string {
  const keys = members.map(({ account, mailboxId }) => mailboxKey(account, mailboxId));
  const parts = JSON.stringify([cause.attribute, cause.value, kind, beganAt, keys]);
  return `inc_${createHash('sha256').update(parts).digest('base64url').slice(0, 21)}`;
}

export interface IncidentReaders extends Omit<IncidentLook, 'restOf'> {
  readonly fleet: Fleet;
  readonly apiOf: (account: string) => string | null;
  readonly channels: readonly RoutedChannel[];
  readonly routes: readonly AlertRoute[];
}

export interface IncidentNews {
  readonly incident: Incident;
  readonly messages: readonly (IncidentReport & { readonly channel: string })[];
  readonly outlasting: readonly Alert[];
}

/** `news`: transitions of the incident that are announced now. Null if no message is due. */
export function newsOfIncident(
  incident: Incident,
  news: readonly Routed[],
  readers: IncidentReaders,
): IncidentNews | null {
  const { now } = readers;
  const channels = readers.channels.map(({ name }) => name);
  const { announced } = incident;
  const step = dueStep(incident, now);
  // An incident whose alerts are all silenced, or routed nowhere, is not announced.
  const isTold = step === 'ended' || (step !== null && news.length > 0);
  if (!isTold || step === null) return forJoined(incident, readers);
  const wanted = channels.filter((name) => wants(name, incident, news, readers));
  // A channel that got single alerts of the incident gets their ends.
  const isToEnd = (name: string) => announced?.channels.includes(name) || news.some(({ to }) => to.includes(name));
  const to = step === 'ended' ? channels.filter(isToEnd) : wanted;
  const messages = messagesTo(to, { incident, step, news }, readers);
  const announcement = {
    at: now,
    members: incident.members.length,
    severity: incident.severity,
    alerts: graveAlerts(incident),
    held: incident.members.filter(({ state }) => state === 'held').length,
    updated: step !== 'began',
    channels: [...new Set([...(announced?.channels ?? []), ...to])],
  };
  const outlasting = step === 'ended' ? firingOf(incident, incident.members, readers.firing) : [];
  return { incident: { ...incident, announced: announcement }, messages, outlasting };
}

function forJoined(incident: Incident, readers: IncidentReaders): IncidentNews | null {
  const { announced } = incident;
  if (!announced || incident.endedAt !== null) return null;
  const channels = readers.channels.map(({ name }) => name);
  const joined = channels.filter(
    (name) => !announced.channels.includes(name) && visible(name, incident, readers).length > 0,
  );
  if (joined.length === 0) return null;
  return {
    incident: { ...incident, announced: { ...announced, channels: [...announced.channels, ...joined] } },
    messages: messagesTo(joined, { incident, step: 'began', news: [] }, readers),
    outlasting: [],
  };
}

function wants(channel: string, incident: Incident, news: readonly Routed[], readers: IncidentReaders): boolean {
  return news.some(({ to }) => to.includes(channel)) || visible(channel, incident, readers).length > 0;
}

interface IncidentStep {
  readonly incident: Incident;
  readonly step: MessageIncident['step'];
  readonly news: readonly Routed[];
}

/** Message for each of the channels. A channel for none of the mailboxes gets its alerts without the incident. */
function messagesTo(
  channels: readonly string[],
  { incident, step, news }: IncidentStep,
  readers: IncidentReaders,
): IncidentNews['messages'] {
  return channels.flatMap((channel) => {
    const transitions = news.filter(({ to }) => to.includes(channel)).map(({ transition }) => transition);
    const members = visible(channel, incident, readers);
    const accounts = new Set(members.map(({ account }) => account));
    const restOf = (cause: IncidentCause) => countRest(cause, incident, accounts, readers);
    const { concernOf } = audienceOf(channel, readers.routes, readers.fleet);
    const firing = readers.firing.filter((alert) => concernOf(alert) === 'all');
    const message =
      members.length === 0
        ? messageOf(incident.id, transitions, readers.now)
        : incidentMessageOf(
            messageIncident(incident, step, members, { ...readers, firing, restOf }),
            transitions,
            readers.now,
          );
    const isKnown = incident.announced?.channels.includes(channel) ?? false;
    return message ? [{ channel, message, members: members.map(alertOf), isKnown }] : [];
  });
}

/** Rule whose routes apply to a mailbox of an incident, by state. */
const ruleOf: Readonly<Record<MemberState, AlertRule>> = {
  not_acted: 'bounce_over_limit',
  failed: 'guard_action_failed',
  held: 'guard_held',
  paused: 'guard_acted',
  recovery: 'guard_acted',
  burst: 'bounce_burst',
};

/** Mailboxes that a channel's routes allow it to see: a channel for one account sees nothing of another. */
function visible(channel: string, { members }: Incident, readers: IncidentReaders): readonly IncidentMailbox[] {
  const { sees } = audienceOf(channel, readers.routes, readers.fleet);
  const isRouted = (alert: Alert) => channelsFor(alert, readers).includes(channel);
  return members.filter((member) => sees({ ...member, id: member.mailboxId }) && isRouted(alertOf(member)));
}

/** The alert has no `firingAt`: a delayed route leads to single alerts, not to incidents. */
function alertOf({ account, mailboxId, email, severity, state, since }: IncidentMailbox): Alert {
  const times = { since, firingAt: null, resolvedAt: null, firesAt: null, seen: 0, status: 'firing' } as const;
  const facts = { title: '', sentences: [], numbers: {} };
  const rule = ruleOf[state];
  return { rule, account, mailboxId, email, object: null, fingerprint: '', severity, ...times, facts };
}

function countRest(
  { attribute, value }: IncidentCause,
  { members }: Incident,
  accounts: ReadonlySet<string>,
  { fleet, apiOf, now }: IncidentReaders,
): IncidentRest {
  const ids = new Set(members.map(({ mailboxId }) => mailboxId));
  const own = new Set(members.map(({ account, mailboxId }) => mailboxKey(account, mailboxId)));
  const counts = { sharing: 0, changed: 0, others: 0 };
  for (const mailbox of fleet.mailboxes()) {
    if (!accounts.has(mailbox.account)) continue;
    if (ids.has(mailbox.id) && own.has(mailboxKey(mailbox.account, mailbox.id))) continue;
    const trait = traitOf[attribute](mailbox, apiOf);
    if (trait === value) {
      counts.sharing += 1;
      if (isChangedLately(mailbox, now)) counts.changed += 1;
    } else if (trait !== null) counts.others += 1;
  }
  return counts;
}
