// GET /api/...: what the pages show, as JSON. The daemon's own socket answers the same names.

import type { Hono } from 'hono';
import { alertRules } from '../../core/alert.ts';
import { runbookOf } from '../../core/wording/runbooks.ts';
import { rowOf } from '../overview/fleet-view.ts';
import type { PictureParts } from '../picture.ts';
import { readQuery } from '../query.ts';
import { noQuery, queryOf, refusalJson, refuse } from '../refusals.ts';
import { noSuchMailbox, type RouteParts } from '../route-parts.ts';
import { alertsAnswer } from './alerts-answer.ts';
import { budgetAnswer } from './budget-answer.ts';
import { configurationAnswer } from './configuration-answer.ts';
import { deliveriesAnswer } from './deliveries-answer.ts';
import { explainAnswer } from './explain-answer.ts';
import { fleetAnswer } from './fleet-answer.ts';
import { groupsAnswer } from './groups-answer.ts';
import { historyAnswer } from './history-answer.ts';
import { incidentsAnswer } from './incidents-answer.ts';
import { iso, replicasJson, type Telling } from './json-answers.ts';
import { mailboxJson } from './mailbox-json.ts';
import { pastAlertsAnswer } from './past-alerts.ts';
import { silencesAnswer } from './silences-answer.ts';

// GET /api/runbooks: what each alert means, and what to do.

function runbooksAnswer({ world }: Pick<RouteParts, 'world'>, asked: URLSearchParams) {
  const query = readQuery({}, asked);
  if ('wrong' in query) return refusalJson('bad_request', query.wrong);
  const runbooks = alertRules.map((rule) => ({ rule, ...runbookOf(rule, world.command) }));
  return { status: 200, body: { runbooks } } as const;
}

// GET /api/trend: the whole fleet a day, the oldest first.

async function trendAnswer({ trend, world }: Pick<RouteParts, 'trend' | 'world'>, asked: URLSearchParams) {
  const query = readQuery({}, asked);
  if ('wrong' in query) return refusalJson('bad_request', query.wrong);
  return { status: 200, body: { at: iso(world.clock.now()), days: await trend.read() } } as const;
}

const decisionsShown = 50;

/** What they answer from. */
export type AnswerParts = PictureParts &
  Pick<RouteParts, 'history' | 'entries' | 'deliveries' | 'transitions' | 'settings' | 'tags' | 'trend'>;

interface JsonAnswer {
  readonly status: 200 | 400 | 404;
  readonly body: object;
}
type Answer = (parts: AnswerParts, asked: URLSearchParams) => Promise<JsonAnswer> | JsonAnswer;

/** By the name behind `/api/`. */
const answers: Readonly<Record<string, Answer>> = {
  fleet: fleetAnswer,
  groups: groupsAnswer,
  trend: trendAnswer,
  alerts: (parts, asked) => {
    const { fleet } = parts;
    const telling = tellingOf(parts);
    const silences = fleet.silences(telling.now);
    const known = { alerts: fleet.alerts(), incidents: fleet.incidents(), silences, ...telling };
    return alertsAnswer(known, asked);
  },
  incidents: (parts, asked) => incidentsAnswer(parts.fleet.incidents(), tellingOf(parts), asked),
  history: (parts, asked) =>
    historyAnswer(parts.history, { mailboxes: parts.fleet.mailboxes(), ...tellingOf(parts) }, asked),
  explain: (parts, asked) =>
    explainAnswer(parts.entries, { mailboxes: parts.fleet.mailboxes(), ...tellingOf(parts) }, asked),
  silences: ({ fleet, world, timeZone }, asked) => silencesAnswer(fleet.silences(world.clock.now()), timeZone(), asked),
  deliveries: ({ deliveries }, asked) => deliveriesAnswer(deliveries, asked),
  'past-alerts': pastAlertsAnswer,
  budget: budgetAnswer,
  configuration: configurationAnswer,
  runbooks: runbooksAnswer,
  replicas: (parts, asked) => {
    const { fleet } = parts;
    const query = readQuery({}, asked);
    if ('wrong' in query) return refusalJson('bad_request', query.wrong);
    return { status: 200, body: replicasJson(fleet.replicas(), fleet.missingReplicas(), tellingOf(parts)) };
  },
};

function tellingOf({ world, timeZone }: Pick<AnswerParts, 'world' | 'timeZone'>): Telling {
  return { now: world.clock.now(), zone: timeZone() };
}

/** What `GET /api/NAME` answers; null: there is no such route. */
export async function jsonAnswer(name: string, asked: URLSearchParams, parts: AnswerParts): Promise<JsonAnswer | null> {
  const answer = Object.hasOwn(answers, name) ? answers[name] : undefined;
  return answer ? answer(parts, asked) : null;
}

export function addJson(app: Hono, parts: RouteParts): void {
  const { fleet, explain, nearLimitPpmOf } = parts;
  for (const [name, answer] of Object.entries(answers)) {
    app.get(`/api/${name}`, async (c) => {
      const { body, status } = await answer(parts, queryOf(c));
      return c.json(body, status);
    });
  }
  app.get('/api/mailboxes/:account/:id', noQuery, async (c) => {
    const { account, id } = c.req.param();
    const mailbox = fleet.mailbox(account, id);
    if (!mailbox) return refuse(c, 'unknown_mailbox', noSuchMailbox);
    const decisions = await parts.decisions(account, id, decisionsShown);
    return c.json(mailboxJson(rowOf(fleet, mailbox, nearLimitPpmOf), decisions, { explain, zone: parts.timeZone() }));
  });
}
