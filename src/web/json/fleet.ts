// GET /api/fleet: the headline, accounts and channels, and the mailboxes, the worst first.
import { z } from 'zod';
import { type Alert, alertRules, severities } from '../../core/alert.ts';
import { unreadAccounts } from '../../core/fleet/unread-accounts.ts';
import { type AccountState, type GuardedElsewhere, guardStates } from '../../core/mailbox.ts';
import { type WritesOff, writesOnCommand } from '../../core/write-scope.ts';
import { eachAlert } from '../overview/firing-alerts.ts';
import { FirstOf } from '../overview/first-of.ts';
import { gravestFirst, isFiring, type Rank } from '../overview/fleet-view.ts';
import { tones } from '../overview/headline.ts';
import { type PictureParts, pictureOf } from '../overview/picture.ts';
import { fleetFilters, rowsAfter } from '../overview/selection.ts';
import { countsNow } from '../overview/state-sentence.ts';
import { cursorAfter, cursorOf, limitOf, type Query } from '../query.ts';
import { exampleAlert, exampleSilenced } from './alerts.ts';
import {
  account as accountName,
  cursor,
  action as exampleAction,
  mailbox as exampleMailbox,
  states,
  told,
} from './example-facts.ts';
import {
  action,
  actionJson,
  count,
  firstSweep,
  iso,
  listOf,
  mailbox,
  moment,
  nextCursor,
  number,
  rowJson,
  sweepJson,
  text,
  texts,
  timeZone,
} from './facts.ts';
import { openIncidents, openIncidentsJson } from './incidents.ts';
import { fleetRoute } from './route.ts';
import { silenced, silencedJson } from './silences.ts';

const account = z
  .strictObject({
    name: text,
    requests_per_minute: number.describe('Requests that Warmwarden may make at present, within the limit.'),
    limit_per_minute: number.describe('The limit of the key.'),
    last_success_at: moment.nullable(),
    failing_since: moment.nullable(),
    last_failure: text.nullable(),
    key_rejected: z.boolean(),
    writable: z
      .boolean()
      .nullable()
      .describe(
        'Whether the API accepts writes with the key: false after refusals that are not about one mailbox alone (key_read_only), even if they were before the daemon started; null: unknown, because only a write shows it.',
      ),
    judging_failure: text
      .nullable()
      .describe(
        'Why no mailbox of the account can be judged although the API answers: how it refuses the statistics or the warm-up.',
      ),
    last_write_at: moment
      .nullable()
      .describe(
        'When Warmwarden last confirmed a change on this account, even before the daemon started; null when the newest 100 actions of all accounts have no such change.',
      ),
    listed: z.boolean().describe('Its mailboxes were listed at least once.'),
    unlisted: texts.describe('Mailboxes that the configuration includes by name and the mailbox list does not have.'),
    guarded_elsewhere: listOf(
      z.strictObject({ id: text, mailbox: text, account: text.describe('The account that guards it.') }),
    ).describe('Mailboxes of its list that another account of the same API guards.'),
    health: text,
    queue_length: count,
    oldest_due_at: moment.nullable(),
    first_sweep: firstSweep,
  })
  .meta({ id: 'account', description: 'An account, and how its API answers.' });

const channel = z
  .strictObject({
    name: text,
    type: text,
    pending: count.describe('Messages that wait to be sent.'),
    oldest_pending_at: moment.nullable(),
    undelivered: count,
    last_success_at: moment.nullable(),
    failing_since: moment.nullable(),
    last_failure: text.nullable(),
  })
  .meta({ id: 'channel', description: 'A channel for alerts.' });

const writesOff = z.strictObject({
  scope: z.enum(['everything', 'account', 'mailbox']),
  account: text.nullable(),
  mailbox: text.nullable(),
  since: moment,
  until: moment.nullable(),
  by: text,
  reason: text,
  allow_with: text.describe('The command that allows writes again.'),
});

const briefAlert = z.strictObject({
  rule: z.enum(alertRules),
  severity: z.enum(severities),
  since: moment,
  title: text,
  silenced,
});

function writesOffJson({ scope, since, until, by, reason }: WritesOff, command: string) {
  return {
    scope: scope.kind,
    account: scope.kind === 'everything' ? null : scope.account,
    mailbox: scope.kind === 'mailbox' ? scope.email : null,
    since: iso(since),
    until: iso(until),
    by,
    reason,
    allow_with: writesOnCommand(scope, command),
  };
}

/** Mailboxes that another account of the API guards. */
export function elsewhereJson(
  elsewhere: readonly GuardedElsewhere[],
): readonly Readonly<Record<'id' | 'mailbox' | 'account', string>>[] {
  return elsewhere.map(({ id, email, account }) => ({ id, mailbox: email, account }));
}

function accountJson(account: AccountState) {
  return {
    name: account.name,
    requests_per_minute: account.requestsPerMinute,
    limit_per_minute: account.limitPerMinute,
    last_success_at: iso(account.lastSuccessAt),
    failing_since: iso(account.failingSince),
    last_failure: account.lastFailure,
    key_rejected: account.keyRejected,
    writable: account.keyWrites,
    judging_failure: account.unjudged?.detail ?? null,
    listed: account.listed,
    unlisted: account.unlisted,
    guarded_elsewhere: elsewhereJson(account.guardedElsewhere ?? []),
    health: account.health,
    queue_length: account.queueLength,
    oldest_due_at: iso(account.oldestDueAt),
  };
}

const exampleBrief = {
  rule: exampleAlert.rule,
  severity: exampleAlert.severity,
  since: exampleAlert.since,
  title: exampleAlert.title,
  silenced: exampleSilenced,
};

const example = {
  ...told,
  headline: '1 critical alert. 1 mailbox paused by Warmwarden, 10 OK.',
  advice: 'Start with the critical alert below.',
  tone: 'alarm',
  states,
  incidents: [],
  alerts: [exampleBrief],
  alerts_firing: 1,
  alert_groups: [{ ...exampleBrief, count: 1 }],
  not_guarded: [],
  accounts: [
    {
      name: accountName,
      requests_per_minute: 485,
      limit_per_minute: 500,
      last_success_at: '2026-03-10T17:29:00.000Z',
      failing_since: null,
      last_failure: null,
      key_rejected: false,
      writable: true,
      judging_failure: null,
      listed: true,
      unlisted: [],
      guarded_elsewhere: [],
      health: 'ok',
      queue_length: 6,
      oldest_due_at: '2026-03-10T17:30:00.000Z',
      last_write_at: '2026-03-10T12:32:00.495Z',
      first_sweep: null,
    },
  ],
  channels: [
    {
      name: 'hook',
      type: 'webhook',
      pending: 0,
      oldest_pending_at: null,
      undelivered: 0,
      last_success_at: '2026-03-10T12:32:30.495Z',
      failing_since: null,
      last_failure: null,
    },
  ],
  store_failure: null,
  writes_off: [],
  actions: [exampleAction],
  total: 11,
  mailboxes: [exampleMailbox],
  next_cursor: cursor,
};

const alertsShown = 20;

const keyOf = ({ urgency, closeness, mailbox: { email, id, account } }: Rank) => [
  urgency,
  closeness,
  email,
  id,
  account,
];
const rankIn = ([urgency, closeness, email, id, account]: NonNullable<Query<typeof query>['cursor']>): Rank => ({
  urgency,
  closeness,
  mailbox: { email, id, account },
});

const query = {
  ...fleetFilters,
  limit: limitOf('mailboxes', 100),
  cursor: cursorOf('number', 'number', 'text', 'text', 'text'),
};

export type FleetAnswer = z.infer<typeof fleetAnswer>;

export const fleetAnswer = z.strictObject({
  at: moment,
  time_zone: timeZone,
  headline: text,
  advice: text,
  tone: z.enum(tones),
  states: z
    .record(z.enum(guardStates), count)
    .describe(
      'Mailboxes in each state. While an account cannot be read or is not polled, its mailboxes that were `ok` count as `not_judged`.',
    ),
  incidents: openIncidents,
  alerts: listOf(briefAlert).describe(
    'The 20 most severe of those that are firing; `alerts list` and `/api/alerts` have them all.',
  ),
  alerts_firing: count,
  alert_groups: listOf(
    briefAlert.extend({ count: count.describe('With more than one, the other fields are those of the first.') }),
  ).describe('All that are firing, the most severe first; more than five of one rule and severity are one entry.'),
  not_guarded: listOf(text).describe(
    'Configured accounts that Warmwarden itself does not poll: `/readyz` says why. At a start, those that it does not poll yet.',
  ),
  accounts: listOf(account),
  channels: listOf(channel),
  store_failure: z
    .strictObject({ said: text, remedy: text.describe('What to do, in sentences.') })
    .nullable()
    .describe('What is wrong with the store; null while it does what it is asked.'),
  writes_off: listOf(writesOff).describe('Emergency stops in force.'),
  actions: listOf(action).describe('The newest actions.'),
  total: count.describe('Mailboxes in all.'),
  mailboxes: listOf(mailbox).describe('The mailboxes, the worst first.'),
  next_cursor: nextCursor,
});

export const mailboxesRoute = fleetRoute({
  path: '/api/fleet',
  id: 'getFleet',
  summary: 'The headline, the accounts, the channels, the latest actions, and the mailboxes, the worst first',
  query,
  shape: fleetAnswer,
  example,
  read: async (parts: PictureParts, { q = '', state = null, limit, cursor: from }) => {
    const { fleet, explain } = parts;
    const { known, headline, firing, accounts, sweeps, now, command, zone } = await pictureOf(parts);
    const after = from === undefined ? null : rankIn(from);
    const page = await rowsAfter(known.ranked, { text: q.trim(), state }, { fleet, after, limit });
    const gravest = new FirstOf(gravestFirst, alertsShown);
    await eachAlert(fleet.alerts(), (alert) => {
      if (isFiring(alert)) gravest.put(alert);
    });
    const silences = fleet.silences(now);
    const briefly = (alert: Alert) => ({
      rule: alert.rule,
      severity: alert.severity,
      since: iso(alert.since),
      title: alert.facts.title,
      silenced: silencedJson(alert, silences),
    });
    const sweepOf = new Map(sweeps.map((sweep) => [sweep.account, sweep]));
    const lastWrites = fleet.lastWrites();
    return {
      at: iso(now),
      time_zone: zone,
      headline: headline.sentence,
      advice: headline.advice,
      tone: headline.tone,
      states: countsNow(known, unreadAccounts(fleet)),
      incidents: openIncidentsJson(fleet.incidents()),
      alerts: gravest.take().map(briefly),
      alerts_firing: firing.count(),
      alert_groups: firing.groups.map(({ first, count }) => ({ ...briefly(first), count })),
      not_guarded: fleet.guarding().flatMap(({ account, unguarded }) => (unguarded ? [account] : [])),
      accounts: accounts.map((account) => ({
        ...accountJson(account),
        last_write_at: iso(lastWrites.get(account.name) ?? null),
        first_sweep: sweepJson(sweepOf.get(account.name), { now, zone }),
      })),
      channels: [...fleet.channels()].map((channel) => ({
        name: channel.name,
        type: channel.type,
        pending: channel.pending,
        oldest_pending_at: iso(channel.oldestPendingAt),
        undelivered: channel.undelivered,
        last_success_at: iso(channel.lastSuccessAt),
        failing_since: iso(channel.failingSince),
        last_failure: channel.lastFailure,
      })),
      store_failure: fleet.storeFailure && { said: fleet.storeFailure.said, remedy: fleet.storeFailure.remedy },
      writes_off: fleet.writesOff(now).map((off) => writesOffJson(off, command)),
      actions: fleet.recentActions().map((action) => actionJson(action, explain)),
      total: page.total,
      mailboxes: page.rows.map((row) => rowJson(row, explain)),
      next_cursor: page.last && cursorAfter(keyOf(page.last)),
    };
  },
});
