// The probes, the metrics, and the OpenAPI document.
import type { Hono } from 'hono';
import { z } from 'zod';
import { addMetrics } from '../../metrics/metrics-route.ts';
import type { RouteParts } from '../route-parts.ts';
import type { Described } from './route.ts';

/** `document`: the OpenAPI document as JSON. */
export function addProbes(app: Hono, { metrics, ready }: RouteParts, document: () => string): void {
  app.get('/openapi.json', (c) => c.body(document(), 200, { 'Content-Type': 'application/json' }));
  app.get('/healthz', (c) => c.text('ok\n'));
  app.get('/readyz', (c) => {
    const state = ready();
    return state.ready
      ? c.text('ready\n')
      : c.text(state.reasons.map((reason) => `not ready: ${reason}\n`).join(''), 503);
  });
  addMetrics(app, metrics, () => ready().ready);
}

const plain = { 'text/plain': z.string() };

export const probeRoutes: readonly Described[] = [
  {
    route: 'GET /healthz',
    id: 'getHealth',
    tag: 'probes',
    summary: 'Whether the process runs',
    access: 'anybody',
    answers: { 200: { description: '`ok`: the process runs.', content: plain } },
  },
  {
    route: 'GET /readyz',
    id: 'getReadiness',
    tag: 'probes',
    summary: 'Whether Warmwarden itself works and polls every account',
    access: 'anybody',
    answers: {
      200: { description: '`ready`', content: plain },
      503: {
        description:
          'What is wrong, a line for each cause, with the moment since when: Warmwarden is starting, the store is failing, an account is not polled, or a task keeps failing. An API that fails or rejects the key does not count: `warmwarden_api_up` and the alerts `api_down` and `key_rejected` say so.',
        content: plain,
      },
    },
  },
  {
    route: 'GET /metrics',
    id: 'getMetrics',
    tag: 'probes',
    summary: 'The metrics for Prometheus',
    access: 'any_role',
    answers: {
      200: {
        description: 'Text 0.0.4, or OpenMetrics by `Accept`.',
        content: { ...plain, 'application/openmetrics-text': z.string() },
      },
      503: {
        description: 'Eight scrapes are being answered already.',
        headers: { 'Retry-After': 'Seconds to wait.' },
        content: plain,
      },
    },
  },
  {
    route: 'GET /openapi.json',
    id: 'getOpenApi',
    tag: 'probes',
    summary: 'This document',
    access: 'anybody',
    answers: {
      200: {
        description: 'The OpenAPI 3.1 document of all routes.',
        content: { 'application/json': z.looseObject({ openapi: z.string() }) },
      },
    },
  },
];
