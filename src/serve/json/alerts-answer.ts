// GET /api/alerts: what fires or may soon, the gravest and newest of it, and how many there are; the incidents that go on,
// and the silences in force.
import { type Alert, accountsOf, type Silence, severities } from '../../model/alert.ts';
import type { Incident } from '../../model/incident.ts';
import type { EpochMs } from '../../model/time.ts';
import { cursorOf, pageAfter } from '../cursor.ts';
import { oneOf, type Query, readQuery, someOf, whole } from '../query.ts';
import { refusalJson } from '../refusals.ts';
import { iso, silencedJson, silenceJson } from './json-answers.ts';
import { openIncidents } from './open-incidents.ts';

const usualLimit = 100;
export const maxAlerts = 1_000;

export const alertsParameters = {
  limit: whole(1, maxAlerts),
  cursor: cursorOf('whole', 'number', 'text'),
  status: oneOf('firing', 'pending'),
  severity: someOf(...severities),
};

export interface KnownAlerts {
  readonly alerts: Iterable<Alert>;
  readonly incidents: readonly Incident[];
  readonly silences: readonly Silence[];
  readonly now: EpochMs;
}

export type AlertsAnswer = ReturnType<typeof answerOf>;

/** `asked`: `limit`, `cursor`, `status` and `severity`; what is not named restricts nothing. */
export function alertsAnswer(known: KnownAlerts, asked: URLSearchParams) {
  const query = readQuery(alertsParameters, asked);
  return 'wrong' in query
    ? refusalJson('bad_request', query.wrong)
    : ({ status: 200, body: answerOf(known, query.read) } as const);
}

function answerOf({ alerts, incidents, silences, now }: KnownAlerts, query: Query<typeof alertsParameters>) {
  const { limit = usualLimit, cursor: after, status, severity } = query;
  const wanted = [...alerts]
    .filter((alert) => (status ?? alert.status) === alert.status)
    .filter((alert) => severity?.includes(alert.severity) ?? true);
  const keyOf = (alert: Alert) => [severities.indexOf(alert.severity), -alert.since, alert.fingerprint];
  const { rows, next } = pageAfter(wanted, keyOf, { after, limit });
  const inForce = silences.filter(({ from, until }) => from <= now && now < until);
  return {
    at: iso(now),
    incidents: openIncidents(incidents),
    total: wanted.length,
    alerts: rows.map((alert) => ({ ...alertJson(alert), silenced: silencedJson(alert, inForce) })),
    next_cursor: next,
    silences: inForce.map(silenceJson),
  };
}

export function alertJson(alert: Alert) {
  return {
    fingerprint: alert.fingerprint,
    rule: alert.rule,
    severity: alert.severity,
    status: alert.status,
    account: alert.account,
    accounts: accountsOf(alert),
    mailbox_id: alert.mailboxId,
    email: alert.email,
    object: alert.object,
    since: iso(alert.since),
    firing_at: iso(alert.firingAt),
    title: alert.facts.title,
    sentences: alert.facts.sentences,
    numbers: alert.facts.numbers,
  };
}
