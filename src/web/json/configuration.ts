// GET /api/configuration: the settings in force, without secrets, by their names.
import { z } from 'zod';
import { type ShownSetting, settingsThat } from '../overview/settings.ts';
import { cursorOf, limitOf, means, oneOf, pageAfter, upTo } from '../query.ts';
import type { RouteParts } from '../route-parts.ts';
import { count, listOf, nextCursor, text } from './facts.ts';
import { fleetRoute } from './route.ts';

const filter = { q: means('Words that the name or the value must contain.', upTo(200)) };
/** Of the page, whose form sends nothing for a box that is not ticked. */
export const settingParameters = { ...filter, changed: oneOf('only') };

const keyOf = ({ name }: ShownSetting) => [name];

export const configurationRoute = fleetRoute({
  path: '/api/configuration',
  id: 'listSettings',
  summary: 'The configuration in force: each setting, its value without secrets, and where it is set',
  query: {
    ...filter,
    changed: means('`true`: only what is not the default.', oneOf('true', 'false')),
    limit: limitOf('settings', 100),
    cursor: cursorOf('text'),
  },
  shape: z.strictObject({
    total: count.describe('How many settings match.'),
    settings: listOf(
      z.strictObject({
        name: text.describe('For example `guard.min_bounces`.'),
        value: text.describe('As the file would have it. Secrets are hidden.'),
        from: text.describe('`default`, or where it is set.'),
      }),
    ).describe('By name.'),
    next_cursor: nextCursor,
  }),
  example: { total: 1, settings: [{ name: 'guard.min_bounces', value: '3', from: 'line 12' }], next_cursor: null },
  read: ({ settings }: Pick<RouteParts, 'settings'>, { q = '', changed, limit, cursor: after }) => {
    const chosen = settingsThat(settings(), { text: q.trim(), changedOnly: changed === 'true' });
    const { rows, next } = pageAfter(chosen, keyOf, { after, limit });
    return { total: chosen.length, settings: rows, next_cursor: next };
  },
});
