// GET /api/incidents, and the open incidents in other answers.
import { z } from 'zod';
import { severities } from '../../core/alert.ts';
import { type Incident, type IncidentMailbox, memberStates, sharedAttributes } from '../../core/incident.ts';
import { domainsOf, incidentAdvice, incidentTitle, worstFirst } from '../../core/wording/incidents.ts';
import { cursorOf, limitOf, pageAfter } from '../query.ts';
import type { RouteParts } from '../route-parts.ts';
import { account, told } from './example-facts.ts';
import { count, iso, listOf, moment, nextCursor, tellingOf, text, timeZone } from './facts.ts';
import { fleetRoute } from './route.ts';

const member = z.strictObject({
  account: text,
  mailbox_id: text,
  email: text,
  state: z.enum(memberStates),
  since: moment.describe('Since when it is in that state.'),
  sent: count,
  bounced: count,
  severity: z.enum(severities),
});

const incident = z
  .strictObject({
    id: text,
    title: text,
    advice: text,
    cause: z.strictObject({ attribute: z.enum(sharedAttributes), value: text }),
    bounce_kind: text.nullable().describe('In the words of the mailbox API.'),
    severity: z.enum(severities),
    began_at: moment,
    ended_at: moment.nullable(),
    notified_at: moment.nullable(),
    mailboxes: count.describe('All mailboxes in it.'),
    domains: count,
    states: z.record(z.enum(memberStates), count).describe('Mailboxes in each state.'),
    members: listOf(member).describe('Up to 100 mailboxes, those that wait for a person first.'),
  })
  .meta({ id: 'incident', description: 'Mailboxes that bounce at the same time and have something in common.' });

/** Incidents that go on. */
export const openIncidents = listOf(
  z.strictObject({ id: text, title: text, severity: z.enum(severities), began_at: moment, mailboxes: count }),
).describe('Open incidents, the newest first.');

/** The newest first. Titles have their times in UTC. */
export function openIncidentsJson(incidents: readonly Incident[]) {
  return incidents
    .filter(({ endedAt }) => endedAt === null)
    .map((incident) => ({
      id: incident.id,
      title: incidentTitle(incident, incident.members, 'UTC'),
      severity: incident.severity,
      began_at: iso(incident.beganAt),
      mailboxes: incident.members.length,
    }));
}

const example = {
  id: 'inc_pT3VbGvnmHq2Jc8cYx1dA',
  title:
    'Provider google: 16 mailboxes on 5 domains over their bounce limits since 10 March 01:40 UTC: block (policy_block)',
  advice: 'Read the bounce messages of one mailbox, and check the sending rules and the status page of google.',
  cause: { attribute: 'provider', value: 'google' },
  bounce_kind: 'block (policy_block)',
  severity: 'critical',
  began_at: '2026-03-10T01:40:00.000Z',
  ended_at: null,
  notified_at: '2026-03-10T01:45:30.000Z',
  mailboxes: 16,
  domains: 5,
  states: { not_acted: 0, failed: 0, held: 9, paused: 2, recovery: 5, burst: 0 },
  members: [
    {
      account,
      mailbox_id: 'mbx_7',
      email: 'ann@fernhill.example',
      state: 'held',
      since: '2026-03-10T01:44:10.000Z',
      sent: 52,
      bounced: 6,
      severity: 'critical',
    },
  ],
};

/** Mailboxes that the answer lists of one incident; `mailboxes` counts them all. */
const membersListed = 100;

/** Those that go on first, and of each kind the newest. */
const keyOf = ({ id, beganAt, endedAt }: Incident) => (endedAt === null ? [0, -beganAt, id] : [1, -endedAt, id]);

export const incidentsRoute = fleetRoute({
  path: '/api/incidents',
  id: 'listIncidents',
  summary: 'The open incidents, the newest first, then the last 50 that ended',
  query: { limit: limitOf('incidents', 100), cursor: cursorOf('whole', 'number', 'text') },
  shape: z.strictObject({ at: moment, time_zone: timeZone, incidents: listOf(incident), next_cursor: nextCursor }),
  example: { ...told, incidents: [example], next_cursor: null },
  read: (parts: Pick<RouteParts, 'fleet' | 'world' | 'timeZone'>, { limit, cursor: after }) => {
    const { now, zone } = tellingOf(parts);
    const { rows, next } = pageAfter(parts.fleet.incidents(), keyOf, { after, limit });
    const incidents = rows.map((one) => incidentJson(one, zone));
    return { at: iso(now), time_zone: zone, incidents, next_cursor: next };
  },
});

function incidentJson(incident: Incident, zone: string) {
  const { id, cause, kind, severity, beganAt, endedAt, members, announced } = incident;
  const counts = memberStates.map((state) => [state, members.filter((one) => one.state === state).length] as const);
  return {
    id,
    title: incidentTitle(incident, members, zone),
    advice: incidentAdvice(cause),
    cause,
    bounce_kind: kind,
    severity,
    began_at: iso(beganAt),
    ended_at: iso(endedAt),
    notified_at: iso(announced?.at ?? null),
    mailboxes: members.length,
    domains: domainsOf(members),
    states: Object.fromEntries(counts) as Record<IncidentMailbox['state'], number>,
    members: worstFirst(members).slice(0, membersListed).map(memberJson),
  };
}

function memberJson({ account, mailboxId, email, state, since, sent, bounced, severity }: IncidentMailbox) {
  return { account, mailbox_id: mailboxId, email, state, since: iso(since), sent, bounced, severity };
}
