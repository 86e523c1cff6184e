// What the answers about the fleet and its alerts say of incidents: those that go on, in a few words.
import type { Incident } from '../../core/incident.ts';
import { incidentTitle } from '../../core/wording/incidents.ts';

/** The newest first. Titles have their times in UTC. */
export function openIncidents(incidents: readonly Incident[]) {
  return incidents
    .filter(({ endedAt }) => endedAt === null)
    .map((incident) => ({
      id: incident.id,
      title: incidentTitle(incident, incident.members, 'UTC'),
      severity: incident.severity,
      began_at: new Date(incident.beganAt).toISOString(),
      mailboxes: incident.members.length,
    }));
}
