// GET /api/incidents: those that go on, then those that ended last.
import { type Incident, type IncidentMailbox, memberStates } from '../model/incident.ts';
import type { EpochMs } from '../model/time.ts';
import { domainsOf, incidentAdvice, incidentTitle, worstFirst } from '../wording/incidents.ts';
import { iso } from './json-answers.ts';
import { readQuery } from './query.ts';
import { refusalJson } from './refusals.ts';

/** Mailboxes that the answer lists of one incident; `mailboxes` counts them all. */
const membersListed = 100;
/** The page has the reader's own zone; here times are UTC. */
const zone = 'UTC';

/** `asked`: nothing is. */
export function incidentsAnswer(incidents: readonly Incident[], now: EpochMs, asked: URLSearchParams) {
  const query = readQuery({}, asked);
  if ('wrong' in query) return refusalJson('bad_request', query.wrong);
  return { status: 200, body: { at: iso(now), incidents: incidents.map(incidentJson) } } as const;
}

function incidentJson(incident: Incident) {
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
