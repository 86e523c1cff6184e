// GET /api/deliveries: the messages to channels, the newest first.
import type { ListedDelivery } from '../../core/delivery.ts';
import { cursorOf, pageOf, readQuery, whole } from '../query.ts';
import { refusalJson } from '../refusals.ts';
import type { RouteParts } from '../route-parts.ts';
import { deliveryJson } from './json-answers.ts';

const usualLimit = 50;
export const deliveriesParameters = { limit: whole(1, 1_000), cursor: cursorOf('whole', 'whole', 'text') };

const keyOf = ({ createdAt, sequence, id }: ListedDelivery) => [createdAt, sequence, id];

/** `asked`: `limit` and `cursor`. */
export async function deliveriesAnswer(read: RouteParts['deliveries'], asked: URLSearchParams) {
  const query = readQuery(deliveriesParameters, asked);
  if ('wrong' in query) return refusalJson('bad_request', query.wrong);
  const { limit = usualLimit, cursor } = query.read;
  const before = cursor ? { createdAt: cursor[0], sequence: cursor[1], id: cursor[2] } : undefined;
  const { rows, next } = pageOf(await read(limit + 1, before), keyOf, limit);
  return { status: 200, body: { deliveries: rows.map(deliveryJson), next_cursor: next } } as const;
}
