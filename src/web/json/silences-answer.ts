// GET /api/silences: those in force, which end first first.
import type { Silence } from '../../core/alert.ts';
import { cursorOf, pageAfter, readQuery, whole } from '../query.ts';
import { refusalJson } from '../refusals.ts';
import { silenceJson } from './json-answers.ts';

const usualLimit = 100;
export const silencesParameters = { limit: whole(1, 1_000), cursor: cursorOf('number', 'text') };

/** `zone`: of the alerts' times, an IANA name. `asked`: `limit` and `cursor`. */
export function silencesAnswer(silences: readonly Silence[], zone: string, asked: URLSearchParams) {
  const query = readQuery(silencesParameters, asked);
  if ('wrong' in query) return refusalJson('bad_request', query.wrong);
  const { limit = usualLimit, cursor: after } = query.read;
  const { rows, next } = pageAfter(silences, ({ until, id }) => [until, id], { after, limit });
  return { status: 200, body: { time_zone: zone, silences: rows.map(silenceJson), next_cursor: next } } as const;
}
