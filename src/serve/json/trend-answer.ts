// GET /api/trend: the whole fleet a day, the oldest first.

import { readQuery } from '../query.ts';
import { refusalJson } from '../refusals.ts';
import type { RouteParts } from '../route-parts.ts';
import { iso } from './json-answers.ts';

export async function trendAnswer({ trend, world }: Pick<RouteParts, 'trend' | 'world'>, asked: URLSearchParams) {
  const query = readQuery({}, asked);
  if ('wrong' in query) return refusalJson('bad_request', query.wrong);
  return { status: 200, body: { at: iso(world.clock.now()), days: await trend.read() } } as const;
}
