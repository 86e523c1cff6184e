// GET /api/alerts: what fires or may soon, the gravest and newest of it, and how many there are; and the silences in force.
import { z } from 'zod';
import { type Alert, accountsOf, type Silence, severities } from '../model/alert.ts';
import type { EpochMs } from '../model/time.ts';
import { readRequest } from '../operator/request-problems.ts';
import { badRequest, iso, silenceJson } from './json-answers.ts';

const usualLimit = 100;
export const maxAlerts = 1_000;

const query = z.object({
  limit: z.coerce.number().int().min(1).max(maxAlerts).default(usualLimit),
  status: z.enum(['firing', 'pending']).optional(),
  /** One, or several with commas between. */
  severity: z
    .string()
    .transform((words) => words.split(','))
    .pipe(z.array(z.enum(severities)))
    .optional(),
});

export interface KnownAlerts {
  readonly alerts: Iterable<Alert>;
  readonly silences: readonly Silence[];
  readonly now: EpochMs;
}

export type AlertsAnswer = ReturnType<typeof answerOf>;

/** `asked`: `limit`, `status` and `severity`; what is not named restricts nothing. */
export function alertsAnswer(known: KnownAlerts, asked: Readonly<Record<string, string>>) {
  const request = readRequest(query, asked, 'the query');
  if ('read' in request) return { status: 200, body: answerOf(known, request.read) } as const;
  return badRequest(request.wrong);
}

function answerOf({ alerts, silences, now }: KnownAlerts, { limit, status, severity }: z.infer<typeof query>) {
  const wanted = [...alerts]
    .filter((alert) => (status ?? alert.status) === alert.status)
    .filter((alert) => severity?.includes(alert.severity) ?? true)
    .sort((a, b) => severities.indexOf(a.severity) - severities.indexOf(b.severity) || b.since - a.since);
  const inForce = silences.filter(({ from, until }) => from <= now && now < until);
  return {
    at: iso(now),
    total: wanted.length,
    alerts: wanted.slice(0, limit).map(alertJson),
    silences: inForce.map(silenceJson),
  };
}

function alertJson(alert: Alert) {
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
