// GET /api/..., as it is described.
import type { z } from 'zod';
import { alertsParameters } from '../json/alerts-answer.ts';
import { budgetParameters } from '../json/budget-answer.ts';
import { configurationParameters } from '../json/configuration-answer.ts';
import { deliveriesParameters } from '../json/deliveries-answer.ts';
import { explainParameters } from '../json/explain-answer.ts';
import { groupsParameters } from '../json/groups-answer.ts';
import { historyParameters } from '../json/history-answer.ts';
import { incidentsParameters } from '../json/incidents-answer.ts';
import { pastAlertsParameters } from '../json/past-alerts.ts';
import { silencesParameters } from '../json/silences-answer.ts';
import { fleetParameters } from '../selection.ts';
import {
  alertsAnswer,
  deliveriesAnswer,
  explainAnswer,
  fleetAnswer,
  historyAnswer,
  incidentsAnswer,
  pastAlertsAnswer,
  replicasAnswer,
  silencesAnswer,
} from '../shapes/answers.ts';
import { budgetAnswer, configurationAnswer, groupsAnswer, runbooksAnswer, trendAnswer } from '../shapes/fleet-views.ts';
import { mailboxAnswer } from '../shapes/mailbox.ts';
import { answerExamples } from './answer-examples.ts';
import { type Described, type DescribedParameter, inPath, inQuery } from './described.ts';

/** Of every list. */
const nextPage = 'The `next_cursor` of the page before.';

interface ApiRoute {
  readonly path: string;
  readonly id: string;
  readonly summary: string;
  readonly description?: string;
  readonly parameters?: readonly DescribedParameter[];
  readonly shape: z.ZodType;
  /** It names a mailbox. */
  readonly named?: true;
}

const routes: readonly ApiRoute[] = [
  {
    path: '/api/fleet',
    id: 'getFleet',
    summary: 'The headline, the accounts, the channels, the latest actions, and the mailboxes, the worst first',
    parameters: inQuery(fleetParameters, {
      q: 'Words that the address, account, id, state or mode must contain.',
      state: "One of the guard's states.",
      limit: 'How many mailboxes at most; 100 when left out.',
      cursor: nextPage,
    }),
    shape: fleetAnswer,
  },
  {
    path: '/api/groups',
    id: 'listGroups',
    summary: 'The fleet by account, domain, provider or tag, the groups that need attention first',
    parameters: inQuery(groupsParameters, {
      by: 'What the mailboxes of a group have in common; `account` when left out.',
      limit: 'How many groups at most; 100 when left out.',
      cursor: nextPage,
    }),
    shape: groupsAnswer,
  },
  {
    path: '/api/trend',
    id: 'getTrend',
    summary: 'Emails sent and bounced, changes by Warmwarden and held mailboxes of the whole fleet per day',
    description: 'Warmwarden sums it once a minute.',
    shape: trendAnswer,
  },
  {
    path: '/api/mailboxes/{account}/{id}',
    id: 'getMailbox',
    summary: 'A mailbox with everything that was read of it, and its last 50 decisions',
    description: 'An observation that was not made yet is null.',
    parameters: [inPath('account', 'The name of the account.'), inPath('id', 'The id of the mailbox.')],
    shape: mailboxAnswer,
    named: true,
  },
  {
    path: '/api/explain',
    id: 'explainMailbox',
    summary:
      'Why a mailbox is in its state: its last decisions, actions and changes by others, each with its explanation',
    parameters: inQuery(explainParameters, {
      mailbox: 'An address, an id or ACCOUNT/ADDRESS.',
      at: 'Only what had happened by then.',
      limit: 'How many of each; 20 when left out.',
    }),
    shape: explainAnswer,
    named: true,
  },
  {
    path: '/api/alerts',
    id: 'listAlerts',
    summary: 'The alerts that are pending or firing, the most severe first, then the newest; open incidents; silences',
    parameters: inQuery(alertsParameters, {
      limit: 'How many alerts at most; 100 when left out.',
      cursor: nextPage,
      status: 'Only these.',
      severity: 'Only these; several with commas between.',
    }),
    shape: alertsAnswer,
  },
  {
    path: '/api/past-alerts',
    id: 'listPastAlerts',
    summary: 'The alerts that resolved, and what happened once, the newest first, each with the messages about it',
    parameters: inQuery(pastAlertsParameters, {
      severity: 'Only these.',
      rule: 'Only this rule.',
      account: 'Only this account.',
      mailbox: 'Only about this mailbox: an address, an id or ACCOUNT/ADDRESS.',
      limit: 'How many alerts at most; 50 when left out.',
      cursor: nextPage,
    }),
    shape: pastAlertsAnswer,
  },
  {
    path: '/api/incidents',
    id: 'listIncidents',
    summary: 'The open incidents, the newest first, then the last 50 that ended',
    parameters: inQuery(incidentsParameters, {
      limit: 'How many incidents at most; 100 when left out.',
      cursor: nextPage,
    }),
    shape: incidentsAnswer,
  },
  {
    path: '/api/replicas',
    id: 'listReplicas',
    summary: 'The replicas that share a PostgreSQL store: what each guards, its version, and what is wrong',
    shape: replicasAnswer,
  },
  {
    path: '/api/silences',
    id: 'listSilences',
    summary: 'The silences in force; those that end first come first',
    parameters: inQuery(silencesParameters, {
      limit: 'How many silences at most; 100 when left out.',
      cursor: nextPage,
    }),
    shape: silencesAnswer,
  },
  {
    path: '/api/history',
    id: 'listHistory',
    summary: 'The audit log, the newest first',
    parameters: inQuery(historyParameters, {
      mailbox: 'Only what is about this mailbox: an address, an id or ACCOUNT/ADDRESS.',
      by: 'Only what this person did; `Warmwarden`: only what it did by itself.',
      operation: 'Only this operation, or this action of Warmwarden.',
      reason: 'Only what Warmwarden did for this reason.',
      since_seconds: 'How far back; 30 days when left out.',
      guard: '`true`: also what Warmwarden did by itself. `by=Warmwarden` and `reason` include it.',
      limit: 'How many entries at most; 100 when left out.',
      cursor: nextPage,
    }),
    shape: historyAnswer,
    named: true,
  },
  {
    path: '/api/deliveries',
    id: 'listDeliveries',
    summary: 'The messages to channels without their text, the newest first',
    parameters: inQuery(deliveriesParameters, {
      limit: 'How many messages at most; 50 when left out.',
      cursor: nextPage,
    }),
    shape: deliveriesAnswer,
  },
  {
    path: '/api/budget',
    id: 'listBudgets',
    summary: 'What the key of each account may do, what the cadence needs, and how old each kind of data is',
    parameters: inQuery(budgetParameters, {
      limit: 'How many accounts at most; 100 when left out.',
      cursor: nextPage,
    }),
    shape: budgetAnswer,
  },
  {
    path: '/api/configuration',
    id: 'listSettings',
    summary: 'The configuration in force: each setting, its value without secrets, and where it is set',
    parameters: inQuery(configurationParameters, {
      q: 'Words that the name or the value must contain.',
      changed: '`true`: only what is not the default.',
      limit: 'How many settings at most; 100 when left out.',
      cursor: nextPage,
    }),
    shape: configurationAnswer,
  },
  {
    path: '/api/runbooks',
    id: 'listRunbooks',
    summary: 'What each alert means, what Warmwarden did about it, and what you should do',
    shape: runbooksAnswer,
  },
];

export const apiRoutes: readonly Described[] = routes.map(
  ({ path, id, summary, description, parameters = [], shape, named }): Described => ({
    route: `GET ${path}`,
    id,
    tag: 'fleet',
    summary,
    ...(description === undefined ? {} : { description }),
    access: 'viewer',
    parameters,
    answers: {
      200: { description: 'The answer.', content: { 'application/json': shape }, example: answerExamples[path] },
    },
    refusals: ['bad_request', ...(named ? (['unknown_mailbox'] as const) : [])],
  }),
);
