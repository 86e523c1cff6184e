// The pages in their frame, and what they load.
import type { Hono } from 'hono';
import { nextTurn } from '../world/world.ts';
import { visitorOf } from './access.ts';
import type { LiveStream } from './live/live-stream.ts';
import { liveScript } from './page/assets/live-script.ts';
import { localTimes } from './page/assets/local-times.ts';
import { iconSvg, styleSheet } from './page/assets/style-sheet.ts';
import { layout } from './page/layout.ts';
import { withoutCommands } from './page/parts/command-links.ts';
import { oneOf, readQuery } from './query.ts';
import { queryOf, refuse } from './refusals.ts';
import { pathBehind } from './rim.ts';
import type { RouteParts } from './route-parts.ts';
import { addressOf, places, readPlace } from './views.ts';

/** Pages: without it they show live updates. */
const refreshParameters = { refresh: oneOf('off') };

export function addPages(app: Hono, parts: RouteParts, live: LiveStream): void {
  for (const place of places) {
    app.get(place.path, async (c) => {
      const asked = readQuery(refreshParameters, queryOf(c), { ignoreUnknown: true });
      if ('wrong' in asked) return refuse(c, 'bad_request', asked.wrong);
      const view = await readPlace(place, parts, { names: c.req.param() ?? {}, query: queryOf(c) });
      if ('refused' in view) return refuse(c, view.refused, view.message);
      const url = new URL(c.req.url);
      url.pathname = pathBehind(parts.pathPrefix, url.pathname);
      const address = addressOf(place, url);
      const frame = {
        now: parts.world.clock.now(),
        still: asked.read.refresh === 'off',
        address,
        since: live.note(address, view),
      };
      // A view of fifty rows, and its frame and answer, are work for a turn each.
      await nextTurn('patient');
      const visitor = visitorOf(c);
      const page = layout({ ...view, live: frame, visitor });
      return c.html(visitor.mayOperate ? page : withoutCommands(String(page)));
    });
  }
  const asset = (type: string) => ({ 'Content-Type': type, 'Cache-Control': 'private, max-age=300' });
  app.get('/assets/style.css', (c) => c.body(styleSheet, 200, asset('text/css; charset=utf-8')));
  app.get('/assets/local-times.js', (c) => c.body(localTimes, 200, asset('text/javascript; charset=utf-8')));
  app.get('/assets/live.js', (c) => c.body(liveScript, 200, asset('text/javascript; charset=utf-8')));
  app.get('/assets/icon.svg', (c) => c.body(iconSvg, 200, asset('image/svg+xml')));
}
