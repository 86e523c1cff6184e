// Shapes of the JSON that GET /api/... answers with. Strict: what is not here is not sent.
import { z } from 'zod';
import { alertRules, severities } from '../../core/alert.ts';
import { memberStates, sharedAttributes } from '../../core/incident.ts';
import { guardStates } from '../../core/mailbox.ts';
import { commandResults } from '../../core/operator-command.ts';
import {
  account,
  action,
  alert,
  channel,
  count,
  decision,
  explainedAction,
  incidents,
  listOf,
  mailbox,
  moment,
  nextCursor,
  silence,
  silenced,
  text,
  texts,
  timeZone,
  writesOff,
} from './facts.ts';

const replicaInShort = z
  .strictObject({
    name: text.describe('Its host and process.'),
    silent: z.boolean().describe('It has not reported for several seconds.'),
    accounts: count.describe('How many accounts it guards.'),
    notifies: z.boolean().describe('It sends the messages.'),
    this_one: z.boolean().describe('It answered this request.'),
  })
  .describe('A process that shares the store with others, in short.');

const briefAlert = z.strictObject({
  rule: z.enum(alertRules),
  severity: z.enum(severities),
  since: moment,
  title: text,
  silenced,
});

export const fleetAnswer = z.strictObject({
  at: moment,
  time_zone: timeZone,
  headline: text,
  advice: text,
  tone: text,
  states: z
    .record(z.enum(guardStates), count)
    .describe(
      'Mailboxes in each state. While an account cannot be read or is not polled, its mailboxes that were `ok` count as `not_judged`.',
    ),
  incidents,
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
  replicas: listOf(replicaInShort).describe('Empty when only one process uses the store.'),
  replica_troubles: listOf(text).describe('What is wrong with the replicas that share the store, in sentences.'),
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

export const alertsAnswer = z.strictObject({
  at: moment,
  time_zone: timeZone,
  incidents,
  total: count.describe('How many there are.'),
  alerts: listOf(z.strictObject({ ...alert.shape, silenced })),
  silences: listOf(silence),
  next_cursor: nextCursor,
});

export const pastAlertsAnswer = z.strictObject({
  at: moment,
  alerts: listOf(
    z.strictObject({
      ...alert.shape,
      ended_at: moment.describe('When it resolved, or happened.'),
      is_event: z.boolean().describe('It happened once, and never resolves.'),
      messages: listOf(z.lazy(() => delivery)).describe(
        'The messages about it, the newest first, without their text. For an alert that fired for longer than a day: only those about its beginning and its end.',
      ),
    }),
  ).describe(
    'The newest first. Warmwarden looks through 1,000 steps of alerts: there may be fewer than `limit`, and yet older ones.',
  ),
  next_cursor: nextCursor,
});

export const change = z
  .strictObject({
    what: text,
    from: text.nullable(),
    to: text.nullable(),
    since: moment.describe('When Warmwarden last read the old value.'),
    seen_at: moment,
    text,
  })
  .describe('What others changed.');

export const explainAnswer = z.strictObject({
  at: moment,
  time_zone: timeZone,
  mailbox: z.strictObject({
    account: text,
    id: text,
    email: text,
    mode: text.nullable(),
    claim: z.strictObject({ kind: text, since: moment }).nullable(),
    paused: text.nullable().describe('Who paused its warm-up, and when, in a sentence; null when it is not paused.'),
    former_ids: texts.describe('Ids that its address had before.'),
    recent_emails: texts.describe('What its recent emails show: how many landed in spam, and whether its queue moves.'),
  }),
  moment: z
    .strictObject({
      at: moment,
      exact: z.boolean().describe('false: only the counts at the beginning and at the end of the decision are kept.'),
      text: text.describe('What had been decided then, in a sentence.'),
    })
    .nullable()
    .describe('The time that was asked for.'),
  more: z.boolean().describe('There are older entries.'),
  decisions: listOf(decision).describe('The newest first.'),
  actions: listOf(explainedAction).describe(
    'The newest first: an [action](#action) with `target_mode`, `target_limit`, `by`, `causes`, `text`.',
  ),
  changes: listOf(change).describe('What others changed, the newest first.'),
});

export const historyAnswer = z.strictObject({
  time_zone: timeZone,
  entries: listOf(
    z.strictObject({
      at: moment,
      kind: z.enum(['operator', 'guard']),
      by: text,
      operation: text.nullable(),
      command: text,
      account: text.nullable(),
      mailboxes: texts,
      reason: text,
      result: text,
      outcome: text.describe('Sentences, each on a line of its own.'),
      ended_at: moment.nullable(),
    }),
  ).describe('The newest first.'),
  next_cursor: nextCursor,
});

const replica = z
  .strictObject({
    ...replicaInShort.shape,
    id: text,
    version: text.describe('Of Warmwarden.'),
    started_at: moment,
    accounts: listOf(text).describe('The accounts that it guards.'),
    configured_accounts: listOf(text).describe('The accounts of its configuration.'),
    config_digest: text.describe('Differs where the configuration does; empty while it is not known.'),
    reload_failure: text.nullable().describe('Why its newest configuration was refused.'),
  })
  .describe('A process that shares the store with others.');

export const replicasAnswer = z.strictObject({
  at: moment,
  troubles: listOf(text).describe('What is wrong with them, in sentences.'),
  replicas: listOf(replica).describe('Empty when only one process uses the store.'),
});

export const silencesAnswer = z.strictObject({
  time_zone: timeZone,
  silences: listOf(silence),
  next_cursor: nextCursor,
});

const member = z.strictObject({
  account: text,
  mailbox_id: text,
  email: text,
  state: z.enum(memberStates),
  since: moment.describe('Since when it is in that state.'),
  sent: count,
  bounced: count,
  severity: z.enum(severities),
});

const incident = z
  .strictObject({
    id: text,
    title: text,
    advice: text,
    cause: z.strictObject({ attribute: z.enum(sharedAttributes), value: text }),
    bounce_kind: text.nullable().describe('In the words of the mailbox API.'),
    severity: z.enum(severities),
    began_at: moment,
    ended_at: moment.nullable(),
    notified_at: moment.nullable(),
    mailboxes: count.describe('All mailboxes in it.'),
    domains: count,
    states: z.record(z.enum(memberStates), count).describe('Mailboxes in each state.'),
    members: listOf(member).describe('Up to 100 mailboxes, those that wait for a person first.'),
  })
  .meta({ id: 'incident', description: 'Mailboxes that bounce at the same time and have something in common.' });

export const incidentsAnswer = z.strictObject({
  at: moment,
  time_zone: timeZone,
  incidents: listOf(incident),
  next_cursor: nextCursor,
});

const delivery = z
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

export const deliveriesAnswer = z.strictObject({
  deliveries: listOf(delivery).describe('The newest first.'),
  next_cursor: nextCursor,
});

export const outcomeAnswer = z
  .strictObject({
    result: z.enum(commandResults),
    messages: texts.describe('Sentences.'),
    plan: text.optional().describe('Of a dry run, and when the situation changed: what to agree to.'),
    counts: z
      .record(text, count)
      .optional()
      .describe('Of a plan whose messages name only some ("and 3 more"): how many there are of each kind.'),
  })
  .meta({ id: 'operation_outcome', description: 'What an operation did.' });
