// The routes below /api, and the probes.
import { z } from 'zod';
import type { PictureParts } from '../overview/fleet.ts';
import type { RouteParts } from '../route-parts.ts';
import { alertsRoute, deliveriesRoute, silencesRoute } from './alerts.ts';
import { groupsRoute, mailboxesRoute } from './fleet.ts';
import { historyRoute } from './history.ts';
import { explainRoute } from './mailbox.ts';
import { type Described, type JsonRoute, jsonContent } from './route.ts';

type AnswerParts = PictureParts & Pick<RouteParts, 'history' | 'entries' | 'deliveries' | 'muteTimes'>;

export const fleetRoutes: readonly JsonRoute<AnswerParts>[] = [
  mailboxesRoute,
  groupsRoute,
  explainRoute,
  alertsRoute,
  silencesRoute,
  historyRoute,
  deliveriesRoute,
];

const plain = { 'text/plain': z.string() };

type ProbeParts = Pick<RouteParts, 'ready'> & { readonly document: () => string };

export const probeRoutes: readonly JsonRoute<ProbeParts>[] = [
  {
    route: 'GET /healthz',
    id: 'getHealth',
    tag: 'probes',
    summary: 'Is the process alive?',
    access: 'anybody',
    answers: { 200: { description: '`ok`: the process runs.', content: plain } },
    answer: (c) => c.text('ok\n'),
  },
  {
    route: 'GET /readyz',
    id: 'getReadiness',
    tag: 'probes',
    summary: 'Does Warmwarden itself work?',
    access: 'anybody',
    answers: {
      200: { description: '`ready`', content: plain },
      503: {
        description:
          'What is wrong, a line for each cause, with the moment since when: Warmwarden is starting, the store is failing, an account is starting or has stopped, or Warmwarden restarted after a crash. An API that fails or rejects the key does not count: `warmwarden_api_up` and the alert `not_guarded` say so.',
        content: plain,
      },
    },
    answer: (c, { ready }) => {
      const state = ready();
      if (state.ready) return c.text('ready\n');
      return c.text(state.reasons.map((reason) => `not ready: ${reason}\n`).join(''), 503);
    },
  },
  {
    route: 'GET /openapi.json',
    id: 'getOpenApi',
    tag: 'probes',
    summary: 'OpenAPI document',
    access: 'anybody',
    answers: {
      200: {
        description: 'The OpenAPI 3.1 document of all routes.',
        content: jsonContent(z.looseObject({ openapi: z.string() })),
      },
    },
    answer: (c, { document }) => c.body(document(), 200, { 'Content-Type': 'application/json' }),
  },
];

export const metricsRoute: Described = {
  route: 'GET /metrics',
  id: 'getMetrics',
  tag: 'probes',
  summary: 'Metrics for Prometheus',
  access: 'any_role',
  answers: {
    200: {
      description: 'Text 0.0.4.',
      content: plain,
    },
  },
};
