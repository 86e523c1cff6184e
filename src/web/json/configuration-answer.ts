// GET /api/configuration: the settings in force, without secrets, by their names.
import { type ShownSetting, settingsThat } from '../page/configuration-page.ts';
import { cursorOf, oneOf, pageAfter, readQuery, upTo, whole } from '../query.ts';
import { refusalJson } from '../refusals.ts';
import type { RouteParts } from '../route-parts.ts';

const usualLimit = 100;
const filter = { q: upTo(200) };
/** Of the page, whose form sends nothing for a box that is not ticked. */
export const settingParameters = { ...filter, changed: oneOf('only') };
export const configurationParameters = {
  ...filter,
  changed: oneOf('true', 'false'),
  limit: whole(1, 1_000),
  cursor: cursorOf('text'),
};

const keyOf = ({ name }: ShownSetting) => [name];

/** `asked`: `q`, `changed`, `limit` and `cursor`. */
export function configurationAnswer({ settings }: Pick<RouteParts, 'settings'>, asked: URLSearchParams) {
  const query = readQuery(configurationParameters, asked);
  if ('wrong' in query) return refusalJson('bad_request', query.wrong);
  const { q = '', changed, limit = usualLimit, cursor: after } = query.read;
  const chosen = settingsThat(settings(), { text: q.trim(), changedOnly: changed === 'true' });
  const { rows, next } = pageAfter(chosen, keyOf, { after, limit });
  return { status: 200, body: { total: chosen.length, settings: rows, next_cursor: next } } as const;
}
