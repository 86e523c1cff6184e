// GET /api/fleet and /api/groups (by account, domain, provider or tag).

import { z } from 'zod';
import { silenceOf } from '../../alerts/routing.ts';
import type { Alert } from '../../core/alert.ts';
import { alertRules, severities } from '../../core/alert-rules.ts';
import { type AccountState, type GuardState, guardStates } from '../../core/mailbox.ts';
import { type NotGuardedCause, notGuardedCauses } from '../../core/not-guarded.ts';
import { type WritesOff, writesOnCommand } from '../../core/write-scope.ts';
import {
  countsNow,
  fleetFilters,
  guardingText,
  heldKey,
  holdFacts,
  makeRow,
  type PictureParts,
  pictureOf,
  selectMailboxes,
  tagFilter,
} from '../overview/fleet.ts';
import { type Group, groupings, groupKey, readGroups, usualGrouping } from '../overview/groups.ts';
import { tones } from '../overview/headline.ts';
import { cursorOf, keyText, limitOf, means, oneOf, pageAfter } from '../query.ts';
import type { RouteParts } from '../route-parts.ts';
import { acknowledged, openIncidentFacts, openIncidents, silenced } from './alerts.ts';
import {
  action,
  actionFacts,
  count,
  firstSweep,
  listOf,
  mailbox,
  moment,
  nextCursor,
  number,
  rowFacts,
  sweepFacts,
  text,
  texts,
  timeZone,
} from './facts.ts';
import { fleetRoute } from './route.ts';

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
        'Whether the API accepts writes with the key: false after refusals that are not about one mailbox alone (not_guarded), even if they were before the daemon started; null: unknown, because only a write shows it.',
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

const trouble = z.strictObject({
  account: text,
  cause: z.enum(Object.keys(notGuardedCauses) as NotGuardedCause[]),
  since: moment.nullable(),
  detail: text.nullable().describe('What the API or the store said.'),
  why: text.describe('The cause in words, without a full stop.'),
  advice: text,
});

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

const stateCounts = z
  .record(z.enum(guardStates), count)
  .describe(
    'Mailboxes in each state. While an account cannot be read or is not polled, its mailboxes that were `ok` count as `not_judged`.',
  );

const briefAlert = z.strictObject({
  rule: z.enum(alertRules),
  severity: z.enum(severities),
  since: moment,
  title: text,
  silenced,
  acknowledged,
});

function writesOffFacts(off: WritesOff) {
  const { scope } = off;
  return {
    ...off,
    scope: scope.kind,
    account: scope.kind === 'everything' ? null : scope.account,
    mailbox: scope.kind === 'mailbox' ? scope.email : null,
    allowWith: writesOnCommand(scope),
  };
}

function accountFacts(state: AccountState) {
  return {
    ...state,
    writable: state.keyWrites,
    guardedElsewhere: (state.guardedElsewhere ?? []).map(({ id, email, account }) => ({ id, mailbox: email, account })),
  };
}

const alertsShown = 20;

const query = {
  ...fleetFilters,
  tag: tagFilter,
  limit: limitOf('mailboxes', 100),
  cursor: cursorOf(z.number(), z.number(), keyText, keyText, keyText),
};

export type FleetAnswer = z.infer<typeof fleetAnswer>;

export const fleetAnswer = z.strictObject({
  at: moment,
  time_zone: timeZone,
  headline: text,
  advice: text,
  guarding: text.describe('How many mailboxes are guarded, and the age of the oldest statistics, in sentences.'),
  tone: z.enum(tones),
  states: stateCounts,
  incidents: openIncidents,
  alerts: listOf(briefAlert).describe(
    'The 20 most severe of those that are firing; `alerts list` and `/api/alerts` have them all.',
  ),
  alerts_firing: count,
  alert_groups: listOf(
    briefAlert.extend({ count: count.describe('With more than one, the other fields are those of the first.') }),
  ).describe('All that are firing, the most severe first; more than five of one rule and severity are one entry.'),
  not_guarded: listOf(trouble).describe('Why accounts are not guarded, or not all of each; the worst first.'),
  not_enforced: count.describe('Mailboxes that Warmwarden does not act on, because guard.enforce is false for them.'),
  accounts: listOf(account),
  channels: listOf(channel),
  store_failure: z
    .strictObject({ said: text, remedy: text.describe('What to do, in sentences.') })
    .nullable()
    .describe('What is wrong with the store; null while it does what it is asked.'),
  writes_off: listOf(writesOff).describe('Write stops in force.'),
  actions: listOf(action).describe('The newest actions.'),
  total: count.describe('Mailboxes in all.'),
  mailboxes: listOf(mailbox).describe('The mailboxes, the worst first.'),
  next_cursor: nextCursor,
});

export const mailboxesRoute = fleetRoute({
  route: 'GET /api/fleet',
  id: 'getFleet',
  summary: 'Mailboxes, the worst first',
  description: 'Also the headline, the accounts, the channels and the latest actions.',
  query,
  shape: fleetAnswer,
  read: async (parts: PictureParts & Pick<RouteParts, 'entries'>, { limit, cursor: after, ...filter }) => {
    const { fleet } = parts;
    const picture = pictureOf(parts);
    const { headline, firing, accounts, sweeps, now, zone } = picture;
    const chosen = selectMailboxes(picture.ranked, filter, fleet);
    const { rows, next } = pageAfter(chosen, filter.held ? heldKey : ({ key }) => key, { after, limit });
    const silences = fleet.silences(now);
    const briefly = (one: Alert) => {
      const silenced = silenceOf(one, silences, fleet);
      return { ...one, title: one.facts.title, silenced, acknowledged: one.acknowledged ?? null };
    };
    const sweepOf = new Map(sweeps.map((sweep) => [sweep.account, sweep]));
    const lastWrites = fleet.lastWrites();
    return {
      at: now,
      timeZone: zone,
      headline: headline.sentence,
      advice: headline.advice,
      guarding: guardingText(picture),
      tone: headline.tone,
      states: countsNow(picture),
      incidents: openIncidentFacts(fleet.incidents(), zone),
      alerts: firing.all.slice(0, alertsShown).map(briefly),
      alertsFiring: firing.count(),
      alertGroups: firing.groups.map(({ first, count }) => ({ ...briefly(first), count })),
      notGuarded: picture.troubles,
      notEnforced: picture.notEnforced,
      accounts: accounts.map((state) => ({
        ...accountFacts(state),
        lastWriteAt: lastWrites.get(state.name) ?? null,
        firstSweep: sweepFacts(sweepOf.get(state.name), { now, zone }),
      })),
      channels: [...fleet.channels()],
      storeFailure: fleet.storeFailure,
      writesOff: fleet.writesOff(now).map(writesOffFacts),
      actions: fleet.recentActions().map(actionFacts),
      total: chosen.length,
      mailboxes: await Promise.all(
        rows.map(async (one) => ({ ...rowFacts(makeRow(fleet, one)), held: await holdFacts(parts, one) })),
      ),
      nextCursor: next,
    };
  },
});

const group = z.strictObject({
  name: text.nullable().describe('null: the mailboxes that have none.'),
  mailboxes: count
    .nullable()
    .describe(
      'null: unknown, because no mailbox list of the account was read yet. By account, every configured account is there.',
    ),
  states: stateCounts,
  alerts_firing: count.describe('Firing alerts about its mailboxes, or about their domains, IP addresses or accounts.'),
  sent: count.describe('Emails in the windows by which its mailboxes are judged.'),
  bounced: count,
  rate_percent: number.nullable(),
});

export const groupParameters = {
  by: means('What the mailboxes of a group have in common; `account` when left out.', oneOf(...groupings)),
};

export const groupsRoute = fleetRoute({
  route: 'GET /api/groups',
  id: 'listGroups',
  summary: 'Accounts, domains, providers or tags',
  description: 'The groups that need attention first.',
  query: { ...groupParameters, limit: limitOf('groups', 100), cursor: cursorOf(z.number(), z.number(), keyText) },
  shape: z.strictObject({
    at: moment,
    by: z.enum(groupings),
    total: count.describe('How many groups there are.'),
    groups: listOf(group).describe(
      'Those that need attention first. A mailbox with several tags is in several groups.',
    ),
    next_cursor: nextCursor,
  }),
  read: async (
    parts: Pick<RouteParts, 'fleet' | 'policyOf' | 'world'>,
    { by = usualGrouping, limit, cursor: after },
  ) => {
    const groups = await readGroups(parts, by);
    const { rows, next } = pageAfter(groups, groupKey, { after, limit });
    const at = parts.world.clock.now();
    return { at, by, total: groups.length, groups: rows.map(groupFacts), nextCursor: next };
  },
});

function groupFacts(group: Group) {
  const { states, alerts, sent, bounced } = group;
  const counts = guardStates.map((state) => [state, states.get(state) ?? 0]);
  return {
    ...group,
    states: Object.fromEntries(counts) as Record<GuardState, number>,
    alertsFiring: alerts,
    ratePercent: sent === 0 ? null : (bounced * 100) / sent,
  };
}
