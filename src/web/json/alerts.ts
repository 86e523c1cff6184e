// GET /api/alerts, /api/silences and /api/deliveries.

import { z } from 'zod';
import { matches, silenceOf } from '../../alerts/routing.ts';
import { type Alert, accountsOf, alertId, periods } from '../../core/alert.ts';
import { alertRules, severities } from '../../core/alert-rules.ts';
import { type ListedDelivery, publicState } from '../../core/delivery.ts';
import type { Incident } from '../../core/incident.ts';
import { muteTimesOn } from '../../core/time.ts';
import { doneTexts, incidentTitle } from '../../core/wording/incidents.ts';
import { alertKey } from '../overview/alerts.ts';
import { tagFilter } from '../overview/fleet.ts';
import { cursorOf, keyText, limitOf, means, oneOf, pageAfter, pageOf, someOf } from '../query.ts';
import type { RouteParts } from '../route-parts.ts';
import { answerTimeOf, count, listOf, moment, nextCursor, number, text, texts, timeZone } from './facts.ts';
import { fleetRoute } from './route.ts';

export const silenced = z.strictObject({ by: text, until: moment }).nullable().describe('null: its messages are sent.');

export const acknowledged = z
  .strictObject({ by: text, reason: text, at: moment })
  .nullable()
  .describe('null: it was not acknowledged.');

const globs = texts.optional();

const silence = z
  .strictObject({
    id: text,
    match: z.strictObject({
      severity: listOf(z.enum(severities)).optional(),
      account: globs,
      tag: globs,
      provider: globs,
      rule: globs,
      domain: globs,
      mailbox: globs,
      object: globs,
    }),
    by: text,
    reason: text,
    from: moment.describe('With `until`: the window that is in force, or the next one.'),
    until: moment,
    repeats: z.strictObject({ every: z.enum(periods), time_zone: text, ends: moment.nullable() }).optional(),
  })
  .meta({ id: 'silence', description: 'Mutes the messages of the alerts that match, until it expires.' });

export const silencesAnswer = z.strictObject({
  at: moment,
  time_zone: timeZone,
  silences: listOf(silence),
  mute_times: listOf(z.strictObject({ name: text, until: moment })).describe('Mute times that are on.'),
  next_cursor: nextCursor,
});

export type SilencesAnswer = z.infer<typeof silencesAnswer>;

export const silencesRoute = fleetRoute({
  route: 'GET /api/silences',
  id: 'listSilences',
  summary: 'Silences in force or planned',
  description: 'Those that end first come first.',
  query: { limit: limitOf('silences', 100), cursor: cursorOf(z.number(), keyText) },
  shape: silencesAnswer,
  read: (parts: Pick<RouteParts, 'fleet' | 'world' | 'timeZone' | 'muteTimes'>, { limit, cursor: after }) => {
    const { now, zone } = answerTimeOf(parts);
    const { rows, next } = pageAfter(parts.fleet.knownSilences(now), ({ until, id }) => [until, id], { after, limit });
    const muteTimes = muteTimesOn(parts.muteTimes(), now);
    return { at: now, timeZone: zone, silences: rows, muteTimes, nextCursor: next };
  },
});

const delivery = z
  .strictObject({
    id: text,
    channel: text,
    title: text,
    state: z
      .enum(['pending', 'sent', 'undelivered'])
      .describe('undelivered: Warmwarden gave up; `channels resend` sends it again.'),
    attempts: count,
    created_at: moment,
    next_attempt_at: moment.nullable(),
    settled_at: moment.nullable(),
    detail: text.nullable().describe('What the last attempt returned.'),
  })
  .meta({ id: 'delivery', description: 'A message for a channel, without its text.' });

/** Facts of a delivery. Only a waiting delivery has a next attempt. */
function deliveryFacts(one: ListedDelivery) {
  const state = publicState(one);
  return { ...one, state, nextAttemptAt: state === 'pending' ? one.nextAttemptAt : null };
}

const deliveryKey = ({ createdAt, sequence, id }: ListedDelivery) => [createdAt, sequence, id];

export const deliveriesRoute = fleetRoute({
  route: 'GET /api/deliveries',
  id: 'listDeliveries',
  summary: 'Messages to channels',
  description: 'Without their text, the newest first.',
  query: { limit: limitOf('messages', 50), cursor: cursorOf(z.int(), z.int(), keyText) },
  shape: z.strictObject({ deliveries: listOf(delivery).describe('The newest first.'), next_cursor: nextCursor }),
  read: async ({ deliveries }: Pick<RouteParts, 'deliveries'>, { limit, cursor }) => {
    const before = cursor ? { createdAt: cursor[0], sequence: cursor[1], id: cursor[2] } : undefined;
    const { rows, next } = pageOf(await deliveries(limit + 1, before), deliveryKey, limit);
    return { deliveries: rows.map(deliveryFacts), nextCursor: next };
  },
});

export const openIncidents = listOf(
  z.strictObject({
    ...{ id: text, title: text, severity: z.enum(severities), began_at: moment, mailboxes: count },
    sentences: texts.describe('What was done, and what was not.'),
  }),
).describe('Open incidents, the newest first.');

export function openIncidentFacts(incidents: readonly Incident[], zone: string) {
  return incidents
    .filter(({ endedAt }) => endedAt === null)
    .map((one) => ({
      ...one,
      title: incidentTitle(one, one.members, zone),
      mailboxes: one.members.length,
      sentences: doneTexts(one.members),
    }));
}

const alert = z
  .strictObject({
    id: text.nullable().describe('The id of this firing, for `ack`; null: it is pending.'),
    fingerprint: text,
    rule: z.enum(alertRules),
    severity: z.enum(severities),
    status: z.enum(['pending', 'firing', 'resolved']),
    account: text.describe('Empty for what belongs to no account.'),
    accounts: texts,
    mailbox_id: text.nullable(),
    email: text.nullable(),
    object: text.nullable().describe('What else it is about: a domain, an ip address.'),
    since: moment,
    firing_at: moment.nullable(),
    acknowledged,
    title: text,
    sentences: texts,
    numbers: z.record(text, z.union([number, text, z.null()])).readonly(),
  })
  .meta({ id: 'alert', description: 'Something that is wrong.' });

function alertFacts(one: Alert) {
  const id = one.firingAt === null ? null : alertId(one);
  return { ...one, ...one.facts, id, acknowledged: one.acknowledged ?? null, accounts: accountsOf(one) };
}

export const maxAlerts = 1_000;

export const alertsAnswer = z.strictObject({
  at: moment,
  time_zone: timeZone,
  incidents: openIncidents,
  total: count.describe('How many there are.'),
  alerts: listOf(z.strictObject({ ...alert.shape, silenced })),
  silences: listOf(silence),
  next_cursor: nextCursor,
});

export type AlertsAnswer = z.infer<typeof alertsAnswer>;

export const alertsRoute = fleetRoute({
  route: 'GET /api/alerts',
  id: 'listAlerts',
  summary: 'Pending and firing alerts',
  description: 'The most severe first, then by rule, then the newest. Also the open incidents and the silences.',
  query: {
    limit: limitOf('alerts', 100, maxAlerts),
    cursor: cursorOf(z.int(), z.int(), z.number(), keyText),
    status: means('Only these.', oneOf('firing', 'pending')),
    severity: means('Only these; several with commas between.', someOf(...severities)),
    tag: tagFilter,
  },
  shape: alertsAnswer,
  read: async (parts: Pick<RouteParts, 'fleet' | 'timeZone' | 'world'>, { limit, cursor: after, status, ...asked }) => {
    const { fleet } = parts;
    const match = { severity: asked.severity, ...(asked.tag && { tag: [asked.tag] }) };
    const { now, zone } = answerTimeOf(parts);
    const chosen = [...fleet.alerts()].filter(
      (one) => (status ?? one.status) === one.status && matches(one, match, fleet, 'one'),
    );
    const { rows, next } = pageAfter(chosen, alertKey, { after, limit });
    const silences = fleet.silences(now);
    return {
      at: now,
      timeZone: zone,
      incidents: openIncidentFacts(fleet.incidents(), zone),
      total: chosen.length,
      alerts: rows.map((one) => ({ ...alertFacts(one), silenced: silenceOf(one, silences, fleet) })),
      nextCursor: next,
      silences,
    };
  },
});
