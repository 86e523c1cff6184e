// The pages and what they load: reads a page's query and facts, and hands them to the room that writes HTML.
import type { Hono } from 'hono';
import { fleetPage } from '../page/fleet-page.ts';
import { rowOf, selectPage } from '../page/fleet-view.ts';
import { iconSvg } from '../page/icon.ts';
import { localTimes } from '../page/local-times.ts';
import { mailboxPage } from '../page/mailbox-page.ts';
import { runbooksPage } from '../page/runbooks-page.ts';
import { styleSheet } from '../page/style-sheet.ts';
import type { World } from '../world.ts';
import { pictureOf } from './picture.ts';
import { oneOf, readQuery } from './query.ts';
import { queryOf, refuse } from './refusals.ts';
import { noSuchMailbox, type RouteParts } from './route-parts.ts';
import { selectionFrom, selectionParameters } from './selection.ts';

const decisionsShown = 50;
const deliveriesShown = 50;
/** A row takes 1.4 KB of markup. */
const rowsAPage = 50;
/** Pages: without it they show live updates. */
const refresh = oneOf('off');

export function addPages(app: Hono, parts: RouteParts): void {
  const { fleet, world, explain, nearLimitPpmOf } = parts;
  app.get('/', async (c) => {
    const query = readQuery({ ...selectionParameters, refresh }, queryOf(c), { ignoreUnknown: true });
    if ('wrong' in query) return refuse(c, 'bad_request', query.wrong);
    const selection = selectionFrom(query.read);
    const picture = pictureOf(parts);
    const deliveries = await orNull(world, () => parts.deliveries(deliveriesShown));
    const page = selectPage(fleet, picture.ranked, selection, rowsAPage);
    const still = query.read.refresh === 'off';
    return c.html(fleetPage({ fleet, ...picture, page, selection, deliveries, explain, still }));
  });
  app.get('/mailboxes/:account/:id', async (c) => {
    const query = readQuery({ refresh }, queryOf(c), { ignoreUnknown: true });
    if ('wrong' in query) return refuse(c, 'bad_request', query.wrong);
    const { account, id } = c.req.param();
    const mailbox = fleet.mailbox(account, id);
    if (!mailbox) return refuse(c, 'unknown_mailbox', noSuchMailbox);
    const decisions = await orNull(world, () => parts.decisions(account, id, decisionsShown));
    const row = rowOf(fleet, mailbox, nearLimitPpmOf);
    const still = query.read.refresh === 'off';
    return c.html(mailboxPage({ fleet, row, decisions, explain, now: world.clock.now(), still }));
  });
  app.get('/runbooks', (c) => c.html(runbooksPage(world.command)));
  const asset = (type: string) => ({ 'Content-Type': type, 'Cache-Control': 'private, max-age=300' });
  app.get('/assets/style.css', (c) => c.body(styleSheet, 200, asset('text/css; charset=utf-8')));
  app.get('/assets/local-times.js', (c) => c.body(localTimes, 200, asset('text/javascript; charset=utf-8')));
  app.get('/assets/icon.svg', (c) => c.body(iconSvg, 200, asset('image/svg+xml')));
}

/** What the store tells, or null: a page at 3 a.m. must stand although the store does not answer. */
async function orNull<Entry>(world: World, read: () => Promise<readonly Entry[]>): Promise<readonly Entry[] | null> {
  try {
    return await read();
  } catch (error) {
    world.log.error({ err: error }, 'history could not be read for a page');
    return null;
  }
}
