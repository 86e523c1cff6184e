// GET /api/incidents: those that go on, then those that ended last.
import { type Incident, type IncidentMailbox, memberStates } from '../../core/incident.ts';
import { domainsOf, incidentAdvice, incidentTitle, worstFirst } from '../../core/wording/incidents.ts';
import { cursorOf, pageAfter, readQuery, whole } from '../query.ts';
import { refusalJson } from '../refusals.ts';
import { iso, type Telling } from './json-answers.ts';

/** Mailboxes that the answer lists of one incident; `mailboxes` counts them all. */
const membersListed = 100;
const usualLimit = 100;
export const incidentsParameters = { limit: whole(1, 1_000), cursor: cursorOf('whole', 'number', 'text') };

/** Those that go on first, and of each kind the newest. */
const keyOf = ({ id, beganAt, endedAt }: Incident) => (endedAt === null ? [0, -beganAt, id] : [1, -endedAt, id]);

/** `asked`: `limit` and `cursor`. */
export function incidentsAnswer(incidents: readonly Incident[], { now, zone }: Telling, asked: URLSearchParams) {
  const query = readQuery(incidentsParameters, asked);
  if ('wrong' in query) return refusalJson('bad_request', query.wrong);
  const { limit = usualLimit, cursor: after } = query.read;
  const { rows, next } = pageAfter(incidents, keyOf, { after, limit });
  const listed = rows.map((incident) => incidentJson(incident, zone));
  return { status: 200, body: { at: iso(now), time_zone: zone, incidents: listed, next_cursor: next } } as const;
}

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
    states: Object.fromEntries(counts),
    members: worstFirst(members).slice(0, membersListed).map(memberJson),
  };
}

function memberJson({ account, mailboxId, email, state, since, sent, bounced, severity }: IncidentMailbox) {
  return { account, mailbox_id: mailboxId, email, state, since: iso(since), sent, bounced, severity };
}
