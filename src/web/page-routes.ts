// The pages in their frame, and what they load.
import type { Context, Hono } from 'hono';
import { visitorOf } from './access.ts';
import { liveScript, localTimes } from './page/assets/scripts.ts';
import { iconSvg, styleSheet } from './page/assets/style-sheet.ts';
import { layout } from './page/layout.ts';
import { withoutCommands } from './page/parts/command-links.ts';
import { oneOf, readQuery } from './query.ts';
import { queryOf, refuse } from './refusals.ts';
import { pathBehind } from './rim.ts';
import type { RouteParts } from './route-parts.ts';
import { places, readPlace } from './views.ts';

/** Pages: without it they show live updates. */
const refreshParameters = { refresh: oneOf('off') };

export function addPages(app: Hono, parts: RouteParts): void {
  for (const place of places) {
    app.get(place.path, async (c) => {
      const asked = readQuery(refreshParameters, queryOf(c), { ignoreUnknown: true });
      if ('wrong' in asked) return refuse(c, 'bad_request', asked.wrong);
      const view = await readPlace(place, parts, { names: c.req.param() ?? {}, query: queryOf(c) });
      if ('refused' in view) return refuse(c, view.refused, view.message);
      const visitor = visitorOf(c);
      const still = asked.read.refresh === 'off';
      const live = { now: parts.world.clock.now(), still, address: addressOf(c, parts.pathPrefix) };
      const page = layout({ ...view, live, visitor });
      return c.html(visitor.mayOperate ? page : withoutCommands(String(page)));
    });
  }
  const asset = (type: string) => ({ 'Content-Type': type, 'Cache-Control': 'private, max-age=300' });
  app.get('/assets/style.css', (c) => c.body(styleSheet, 200, asset('text/css; charset=utf-8')));
  app.get('/assets/local-times.js', (c) => c.body(localTimes, 200, asset('text/javascript; charset=utf-8')));
  app.get('/assets/live.js', (c) => c.body(liveScript, 200, asset('text/javascript; charset=utf-8')));
  app.get('/assets/icon.svg', (c) => c.body(iconSvg, 200, asset('image/svg+xml')));
}

/** Path and query of a page, without the choice of live updates. */
function addressOf(c: Context, pathPrefix: string): string {
  const { pathname, searchParams } = new URL(c.req.url);
  searchParams.delete('refresh');
  const path = pathBehind(pathPrefix, pathname);
  return searchParams.size === 0 ? path : `${path}?${searchParams}`;
}
