// GET /api/alerts: what fires or may soon, the gravest and newest of it, and how many there are; the incidents that go on,
// and the silences in force.
import { type Alert, accountsOf, type Silence, severities } from '../../core/alert.ts';
import type { Incident } from '../../core/incident.ts';
import { eachAlert } from '../each-alert.ts';
import { FirstOf } from '../overview/first-of.ts';
import { compare, cursorOf, oneOf, pageOf, type Query, readQuery, someOf, whole } from '../query.ts';
import { refusalJson } from '../refusals.ts';
import { iso, silencedJson, silenceJson, type Telling } from './json-answers.ts';
import { openIncidents } from './open-incidents.ts';

const usualLimit = 100;
export const maxAlerts = 1_000;

export const alertsParameters = {
  limit: whole(1, maxAlerts),
  cursor: cursorOf('whole', 'number', 'text'),
  status: oneOf('firing', 'pending'),
  severity: someOf(...severities),
};

export interface KnownAlerts extends Telling {
  readonly alerts: Iterable<Alert>;
  readonly incidents: readonly Incident[];
  readonly silences: readonly Silence[];
}

export type AlertsAnswer = Awaited<ReturnType<typeof answerOf>>;

/** `asked`: `limit`, `cursor`, `status` and `severity`; what is not named restricts nothing. */
export async function alertsAnswer(known: KnownAlerts, asked: URLSearchParams) {
  const query = readQuery(alertsParameters, asked);
  return 'wrong' in query
    ? refusalJson('bad_request', query.wrong)
    : ({ status: 200, body: await answerOf(known, query.read) } as const);
}

/** What pages are ordered by. */
const keyOf = ({ severity, since, fingerprint }: Alert) => [severities.indexOf(severity), -since, fingerprint];

async function answerOf(
  { alerts, incidents, silences, now, zone }: KnownAlerts,
  query: Query<typeof alertsParameters>,
) {
  const { limit = usualLimit, cursor: after, status, severity } = query;
  let total = 0;
  // One more than a page shows whether there is another.
  const first = new FirstOf<Alert>((one, other) => compare(keyOf(one), keyOf(other)), limit + 1);
  await eachAlert(alerts, (alert) => {
    if ((status ?? alert.status) !== alert.status || severity?.includes(alert.severity) === false) return;
    total += 1;
    if (after === undefined || compare(keyOf(alert), after) > 0) first.put(alert);
  });
  const { rows, next } = pageOf(first.take(), keyOf, limit);
  const inForce = silences.filter(({ from, until }) => from <= now && now < until);
  return {
    at: iso(now),
    time_zone: zone,
    incidents: openIncidents(incidents),
    total,
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
