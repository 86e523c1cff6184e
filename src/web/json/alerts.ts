// GET /api/alerts: alerts that are pending or firing, open incidents and silences. GET /api/past-alerts: those that are over.
// GET /api/runbooks: what each alert means.
import { z } from 'zod';
import { type Alert, accountsOf, alertRules, severities } from '../../core/alert.ts';
import { runbookOf } from '../../core/wording/runbooks.ts';
import { readPast, selectionOf } from '../overview/alerts.ts';
import { eachAlert } from '../overview/firing-alerts.ts';
import { FirstOf } from '../overview/first-of.ts';
import { compare, cursorAfter, cursorOf, limitOf, means, oneOf, pageOf, someOf, upTo } from '../query.ts';
import type { RouteParts } from '../route-parts.ts';
import { delivery, deliveryJson, exampleDelivery } from './deliveries.ts';
import { account, at, told } from './example-facts.ts';
import { count, iso, listOf, moment, nextCursor, number, tellingOf, text, texts, timeZone } from './facts.ts';
import { openIncidents, openIncidentsJson } from './incidents.ts';
import { fleetRoute } from './route.ts';
import { exampleSilence, silence, silenced, silencedJson, silenceJson } from './silences.ts';

const alert = z
  .strictObject({
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
    title: text,
    sentences: texts,
    numbers: z.record(text, z.union([number, text, z.null()])).readonly(),
  })
  .meta({ id: 'alert', description: 'Something that is wrong.' });

function alertJson(alert: Alert) {
  return {
    fingerprint: alert.fingerprint,
    rule: alert.rule,
    severity: alert.severity,
    status: alert.status,
    account: alert.account,
    accounts: accountsOf(alert),
    mailbox_id: alert.mailboxId,
    email: alert.email,
    object: alert.object,
    since: iso(alert.since),
    firing_at: iso(alert.firingAt),
    title: alert.facts.title,
    sentences: alert.facts.sentences,
    numbers: alert.facts.numbers,
  };
}

export const exampleAlert = {
  fingerprint: 'dns_failing|agency||fernhill.example',
  rule: 'dns_failing',
  severity: 'critical',
  status: 'firing',
  account,
  accounts: [account],
  mailbox_id: null,
  email: null,
  object: 'fernhill.example',
  since: '2026-03-10T12:17:00.248Z',
  firing_at: '2026-03-10T12:18:00.248Z',
  title: 'fernhill.example: SPF and DKIM do not pass',
  sentences: ['The API reports "fail" for SPF and shows no record.'],
  numbers: {},
};

export const exampleSilenced = { by: exampleSilence.by, until: exampleSilence.until };

export const maxAlerts = 1_000;

/** Pages are ordered by severity, then by age. */
const keyOf = ({ severity, since, fingerprint }: Alert) => [severities.indexOf(severity), -since, fingerprint];

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
  path: '/api/alerts',
  id: 'listAlerts',
  summary: 'The alerts that are pending or firing, the most severe first, then the newest; open incidents; silences',
  query: {
    limit: limitOf('alerts', 100, maxAlerts),
    cursor: cursorOf('whole', 'number', 'text'),
    status: means('Only these.', oneOf('firing', 'pending')),
    severity: means('Only these; several with commas between.', someOf(...severities)),
  },
  shape: alertsAnswer,
  example: {
    ...told,
    incidents: [],
    total: 1,
    alerts: [{ ...exampleAlert, silenced: exampleSilenced }],
    silences: [exampleSilence],
    next_cursor: null,
  },
  read: async (parts: Pick<RouteParts, 'fleet' | 'timeZone' | 'world'>, { limit, cursor: after, status, severity }) => {
    const { fleet } = parts;
    const { now, zone } = tellingOf(parts);
    let total = 0;
    // One more than a page shows whether there is another.
    const first = new FirstOf<Alert>((one, other) => compare(keyOf(one), keyOf(other)), limit + 1);
    await eachAlert(fleet.alerts(), (one) => {
      if ((status ?? one.status) !== one.status || severity?.includes(one.severity) === false) return;
      total += 1;
      if (after === undefined || compare(keyOf(one), after) > 0) first.put(one);
    });
    const { rows, next } = pageOf(first.take(), keyOf, limit);
    const silences = fleet.silences(now);
    return {
      at: iso(now),
      time_zone: zone,
      incidents: openIncidentsJson(fleet.incidents()),
      total,
      alerts: rows.map((one) => ({ ...alertJson(one), silenced: silencedJson(one, silences) })),
      next_cursor: next,
      silences: silences.map(silenceJson),
    };
  },
});

const maxWordLength = 400;
/** The filters of past alerts, on the page and here. */
export const alertFilters = {
  severity: means('Only these.', oneOf(...severities)),
  rule: means('Only this rule.', upTo(maxWordLength)),
  account: means('Only this account.', upTo(maxWordLength)),
  mailbox: means('Only about this mailbox: an address, an id or ACCOUNT/ADDRESS.', upTo(maxWordLength)),
};

export const pastAlertsRoute = fleetRoute({
  path: '/api/past-alerts',
  id: 'listPastAlerts',
  summary: 'The alerts that resolved, and what happened once, the newest first, each with the messages about it',
  query: { ...alertFilters, limit: limitOf('alerts', 50), cursor: cursorOf('whole') },
  shape: z.strictObject({
    at: moment,
    alerts: listOf(
      z.strictObject({
        ...alert.shape,
        ended_at: moment.describe('When it resolved, or happened.'),
        is_event: z.boolean().describe('It happened once, and never resolves.'),
        messages: listOf(delivery).describe(
          'The messages about it, the newest first, without their text. For an alert that fired for longer than a day: only those about its beginning and its end.',
        ),
      }),
    ).describe(
      'The newest first. Warmwarden looks through 1,000 steps of alerts: there may be fewer than `limit`, and yet older ones.',
    ),
    next_cursor: nextCursor,
  }),
  example: {
    at,
    alerts: [
      {
        ...exampleAlert,
        status: 'resolved',
        ended_at: '2026-03-10T15:02:00.248Z',
        is_event: false,
        messages: [exampleDelivery],
      },
    ],
    next_cursor: null,
  },
  read: async (parts: Pick<RouteParts, 'transitions' | 'deliveries' | 'world'>, { limit, cursor, ...filters }) => {
    const { rows, next } = await readPast(parts, selectionOf(filters), { before: cursor?.[0] ?? null, limit });
    const alerts = rows.map(({ kind, at: endedAt, alert: ended, messages }) => ({
      ...alertJson(ended),
      ended_at: iso(endedAt),
      is_event: kind === 'event',
      messages: messages.map(deliveryJson),
    }));
    const now = iso(parts.world.clock.now());
    return { at: now, alerts, next_cursor: next === null ? null : cursorAfter([next]) };
  },
});

export const runbooksRoute = fleetRoute({
  path: '/api/runbooks',
  id: 'listRunbooks',
  summary: 'What each alert means, what Warmwarden did about it, and what you should do',
  query: {},
  shape: z.strictObject({
    runbooks: listOf(
      z.strictObject({
        rule: z.enum(alertRules),
        means: text,
        done: text.describe('What Warmwarden did.'),
        todo: text.describe('What you should do.'),
      }),
    ),
  }),
  example: {
    runbooks: [
      {
        rule: 'key_read_only',
        means: 'The API refused a change because the key lacks permission. Reading works.',
        done: 'Warmwarden notifies you of breaches on the account, but does NOT ACT on them. It tries to write again every hour.',
        todo: 'Give the key write permission, or configure another key and reload the configuration.',
      },
    ],
  },
  read: ({ world }: Pick<RouteParts, 'world'>) => ({
    runbooks: alertRules.map((rule) => ({ rule, ...runbookOf(rule, world.command) })),
  }),
});
