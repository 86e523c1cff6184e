// GET /api/deliveries: the messages to channels, the newest first.
import { z } from 'zod';
import { type ListedDelivery, publicState } from '../../core/delivery.ts';
import { cursorOf, limitOf, pageOf } from '../query.ts';
import type { RouteParts } from '../route-parts.ts';
import { email } from './example-facts.ts';
import { count, iso, listOf, moment, nextCursor, text } from './facts.ts';
import { fleetRoute } from './route.ts';

export const delivery = z
  .strictObject({
    id: text,
    channel: text,
    title: text,
    state: z
      .enum(['pending', 'sent', 'dead', 'replaced'])
      .describe(
        'dead: Warmwarden gave up; `channels resend` sends it again. replaced: a reminder in whose place a newer one was sent.',
      ),
    attempts: count,
    created_at: moment,
    next_attempt_at: moment.nullable(),
    settled_at: moment.nullable(),
    detail: text.nullable().describe('What the last attempt returned.'),
  })
  .meta({ id: 'delivery', description: 'A message for a channel, without its text.' });

/** Without the payload: it is the receiver's, and it is long. */
export function deliveryJson(delivery: ListedDelivery) {
  const state = publicState(delivery);
  return {
    id: delivery.id,
    channel: delivery.channel,
    title: delivery.title,
    state,
    attempts: delivery.attempts,
    created_at: iso(delivery.createdAt),
    next_attempt_at: state === 'pending' ? iso(delivery.nextAttemptAt) : null,
    settled_at: iso(delivery.settledAt),
    detail: delivery.detail,
  };
}

export const exampleDelivery = {
  id: 'msg_WtDobcbShAEDCZGm48rwHfAdVT9',
  channel: 'hook',
  title: `Critical: ${email}: warm-up paused`,
  state: 'sent',
  attempts: 1,
  created_at: '2026-03-10T12:32:30.495Z',
  next_attempt_at: null,
  settled_at: '2026-03-10T12:32:30.495Z',
  detail: null,
};

const keyOf = ({ createdAt, sequence, id }: ListedDelivery) => [createdAt, sequence, id];

export const deliveriesRoute = fleetRoute({
  path: '/api/deliveries',
  id: 'listDeliveries',
  summary: 'The messages to channels without their text, the newest first',
  query: { limit: limitOf('messages', 50), cursor: cursorOf('whole', 'whole', 'text') },
  shape: z.strictObject({ deliveries: listOf(delivery).describe('The newest first.'), next_cursor: nextCursor }),
  example: { deliveries: [exampleDelivery], next_cursor: null },
  read: async ({ deliveries }: Pick<RouteParts, 'deliveries'>, { limit, cursor }) => {
    const before = cursor ? { createdAt: cursor[0], sequence: cursor[1], id: cursor[2] } : undefined;
    const { rows, next } = pageOf(await deliveries(limit + 1, before), keyOf, limit);
    return { deliveries: rows.map(deliveryJson), next_cursor: next };
  },
});
