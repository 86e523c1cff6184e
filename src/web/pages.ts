// Routes of the pages with their frame, and of their assets.
import type { Context, Hono } from 'hono';
import { visitorOf } from './access/access.ts';
import { formTokenFor } from './access/sessions.ts';
import { activityPlace } from './page/activity-page.ts';
import { alertsPlace, silencesPlace } from './page/alerts-page.ts';
import { liveScript, localTimes } from './page/assets/scripts.ts';
import { iconSvg, styleSheet } from './page/assets/style-sheet.ts';
import { fleetPlace } from './page/fleet-page.ts';
import { groupsPlace } from './page/groups-page.ts';
import { layout } from './page/layout.ts';
import { mailboxPlace } from './page/mailbox-page.ts';
import { bannerOf } from './page/parts/account-panels.ts';
import { withoutCommands } from './page/parts/command-links.ts';
import { recipePlace, recipesPlace, runPlace } from './page/recipes-page.ts';
import { budgetPlace, configurationPlace, runbooksPlace } from './page/reference-pages.ts';
import { queryOf, refuse } from './refusals.ts';
import { pathBehind } from './rim.ts';
import type { RouteParts } from './route-parts.ts';

export const places = [
  ...[fleetPlace, groupsPlace, alertsPlace, activityPlace, silencesPlace, budgetPlace, recipesPlace, recipePlace],
  ...[runPlace, configurationPlace, mailboxPlace, runbooksPlace],
];

export function addPages(app: Hono, parts: RouteParts): void {
  for (const place of places) {
    app.get(place.path, async (c) => {
      const request = { names: c.req.param() ?? {}, query: queryOf(c), formToken: () => formTokenFor(c) };
      const view = await place.read(parts, request);
      if ('refused' in view) return refuse(c, view.refused, view.message);
      const visitor = visitorOf(c);
      const still = queryOf(c).get('refresh') === 'off';
      const live = { now: parts.world.clock.now(), still, address: addressOf(c, parts.pathPrefix) };
      // The headline of the fleet includes the banner's facts.
      const page = layout({ ...view, banner: place.path === '/' ? '' : bannerOf(parts), live, visitor });
      return c.html(visitor.mayOperate ? page : withoutCommands(String(page)));
    });
  }
  const asset = (type: string) => ({ 'Content-Type': type, 'Cache-Control': 'private, max-age=300' });
  app.get('/assets/style.css', (c) => c.body(styleSheet, 200, asset('text/css; charset=utf-8')));
  app.get('/assets/local-times.js', (c) => c.body(localTimes, 200, asset('text/javascript; charset=utf-8')));
  app.get('/assets/live.js', (c) => c.body(liveScript, 200, asset('text/javascript; charset=utf-8')));
  app.get('/assets/icon.svg', (c) => c.body(iconSvg, 200, asset('image/svg+xml')));
}

function addressOf(c: Context, pathPrefix: string): string {
  const { pathname, searchParams } = new URL(c.req.url);
  searchParams.delete('refresh');
  const path = pathBehind(pathPrefix, pathname);
  return searchParams.size === 0 ? path : `${path}?${searchParams}`;
}
