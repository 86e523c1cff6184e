// GET /api/...: what the pages show, as JSON. The daemon's own socket answers the same names.
import type { Hono } from 'hono';
import type { PictureParts } from '../overview/picture.ts';
import { queryOf } from '../refusals.ts';
import type { RouteParts } from '../route-parts.ts';
import { alertsRoute, pastAlertsRoute, runbooksRoute } from './alerts.ts';
import { budgetRoute } from './budget.ts';
import { configurationRoute } from './configuration.ts';
import { deliveriesRoute } from './deliveries.ts';
import { explainRoute } from './explain.ts';
import { mailboxesRoute } from './fleet.ts';
import { groupsRoute, trendRoute } from './groups.ts';
import { historyRoute } from './history.ts';
import { incidentsRoute } from './incidents.ts';
import { mailboxRoute } from './mailbox.ts';
import type { FleetRoute } from './route.ts';
import { silencesRoute } from './silences.ts';

/** What the daemon's socket answers from. */
export type AnswerParts = PictureParts &
  Pick<RouteParts, 'history' | 'entries' | 'deliveries' | 'transitions' | 'settings' | 'tags' | 'trend'>;

const socketRoutes: readonly FleetRoute<AnswerParts, object>[] = [
  mailboxesRoute,
  groupsRoute,
  trendRoute,
  explainRoute,
  alertsRoute,
  pastAlertsRoute,
  incidentsRoute,
  silencesRoute,
  historyRoute,
  deliveriesRoute,
  budgetRoute,
  configurationRoute,
  runbooksRoute,
];

export const fleetRoutes: readonly FleetRoute<RouteParts, object>[] = [...socketRoutes, mailboxRoute];

/** What `GET /api/NAME` answers; null: there is no such route. */
export async function jsonAnswer(name: string, asked: URLSearchParams, parts: AnswerParts) {
  return socketRoutes.find(({ path }) => path === `/api/${name}`)?.answer(parts, asked) ?? null;
}

export function addJson(app: Hono, parts: RouteParts): void {
  for (const { path, answer } of fleetRoutes) {
    app.get(path, async (c) => {
      const { body, status } = await answer(parts, queryOf(c), c.req.param());
      return c.json(body, status);
    });
  }
}
