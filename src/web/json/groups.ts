// GET /api/groups: the fleet by account, domain, provider or tag. GET /api/trend: the whole fleet a day.
import { z } from 'zod';
import { type GuardState, guardStates } from '../../core/mailbox.ts';
import { type Group, groupings, readGroups, shareOf, usualGrouping } from '../overview/fleet-groups.ts';
import { cursorOf, limitOf, means, oneOf, pageAfter } from '../query.ts';
import type { RouteParts } from '../route-parts.ts';
import { account, at, states } from './example-facts.ts';
import { count, iso, listOf, moment, nextCursor, number, text } from './facts.ts';
import { fleetRoute } from './route.ts';

const group = z.strictObject({
  name: text.nullable().describe('null: the mailboxes that have none.'),
  mailboxes: count
    .nullable()
    .describe(
      'null: unknown, because no mailbox list of the account was read yet. By account, every configured account is there.',
    ),
  states: z
    .record(z.enum(guardStates), count)
    .describe(
      'Mailboxes in each state. While an account cannot be read or is not polled, its mailboxes that were `ok` count as `not_judged`.',
    ),
  alerts_firing: count.describe('Firing alerts about its mailboxes, or about their domains, IP addresses or accounts.'),
  sent: count.describe('Emails in the windows by which its mailboxes are judged.'),
  bounced: count,
  rate_percent: number.nullable(),
});

const trendDay = z.strictObject({
  date: z.iso.date().describe('In UTC.'),
  sent: count,
  bounced: count,
  acted: count.describe('Changes by Warmwarden that were confirmed, on the day on which they were planned.'),
  held: count.describe('Mailboxes that were held at any time of the day.'),
});

/** As the page orders them. No name comes before every name. */
const keyOf = (group: Group) => [group.urgency, -shareOf(group), group.name === null ? '' : `=${group.name}`];

export const groupParameters = {
  by: means('What the mailboxes of a group have in common; `account` when left out.', oneOf(...groupings)),
};

export const groupsRoute = fleetRoute({
  path: '/api/groups',
  id: 'listGroups',
  summary: 'The fleet by account, domain, provider or tag, the groups that need attention first',
  query: { ...groupParameters, limit: limitOf('groups', 100), cursor: cursorOf('number', 'number', 'text') },
  shape: z.strictObject({
    at: moment,
    by: z.enum(groupings),
    total: count.describe('How many groups there are.'),
    groups: listOf(group).describe(
      'Those that need attention first. A mailbox with several tags is in several groups.',
    ),
    next_cursor: nextCursor,
  }),
  example: {
    at,
    by: 'account',
    total: 1,
    groups: [
      {
        name: account,
        mailboxes: 11,
        states,
        alerts_firing: 1,
        sent: 1_204,
        bounced: 3,
        rate_percent: 0.249_169_435_215_946_8,
      },
    ],
    next_cursor: null,
  },
  read: async (
    parts: Pick<RouteParts, 'fleet' | 'ranking' | 'tags' | 'world'>,
    { by = usualGrouping, limit, cursor: after },
  ) => {
    const groups = await readGroups(parts, by);
    const { rows, next } = pageAfter(groups, keyOf, { after, limit });
    const now = iso(parts.world.clock.now());
    return { at: now, by, total: groups.length, groups: rows.map(groupJson), next_cursor: next };
  },
});

function groupJson({ name, mailboxes, states, alerts, sent, bounced }: Group) {
  return {
    name,
    mailboxes,
    states: Object.fromEntries(guardStates.map((state) => [state, states.get(state) ?? 0])) as Record<
      GuardState,
      number
    >,
    alerts_firing: alerts,
    sent,
    bounced,
    rate_percent: sent === 0 ? null : (bounced * 100) / sent,
  };
}

export const trendRoute = fleetRoute({
  path: '/api/trend',
  id: 'getTrend',
  summary: 'Emails sent and bounced, changes by Warmwarden and held mailboxes of the whole fleet per day',
  description: 'Warmwarden sums it once a minute.',
  query: {},
  shape: z.strictObject({
    at: moment,
    days: listOf(trendDay).describe('The last 30 days, the oldest first; empty while nothing is known.'),
  }),
  example: { at, days: [{ date: '2026-03-10', sent: 412, bounced: 3, acted: 1, held: 0 }] },
  read: async ({ trend, world }: Pick<RouteParts, 'trend' | 'world'>) => ({
    at: iso(world.clock.now()),
    days: await trend.read(),
  }),
});
