// GET /api/runbooks: what each alert means, and what to do.
import { alertRules } from '../../model/alert.ts';
import { runbookOf } from '../../wording/runbooks.ts';
import { readQuery } from '../query.ts';
import { refusalJson } from '../refusals.ts';
import type { RouteParts } from '../route-parts.ts';

export function runbooksAnswer({ world }: Pick<RouteParts, 'world'>, asked: URLSearchParams) {
  const query = readQuery({}, asked);
  if ('wrong' in query) return refusalJson('bad_request', query.wrong);
  const runbooks = alertRules.map((rule) => ({ rule, ...runbookOf(rule, world.command) }));
  return { status: 200, body: { runbooks } } as const;
}
