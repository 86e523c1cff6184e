// Shapes of what GET /api/... answers of the fleet as a whole: groups, trend, budget, configuration, runbooks.
import { z } from 'zod';
import { alertRules } from '../../core/alert.ts';
import { guardStates } from '../../core/mailbox.ts';
import { groupings } from '../overview/fleet-groups.ts';
import { count, firstSweep, listOf, moment, nextCursor, number, text } from './facts.ts';

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

export const groupsAnswer = z.strictObject({
  at: moment,
  by: z.enum(groupings),
  total: count.describe('How many groups there are.'),
  groups: listOf(group).describe('Those that need attention first. A mailbox with several tags is in several groups.'),
  next_cursor: nextCursor,
});

const trendDay = z.strictObject({
  date: z.iso.date().describe('In UTC.'),
  sent: count,
  bounced: count,
  acted: count.describe('Changes by Warmwarden that were confirmed, on the day on which they were planned.'),
  held: count.describe('Mailboxes that were held at any time of the day.'),
});

export const trendAnswer = z.strictObject({
  at: moment,
  days: listOf(trendDay).describe('The last 30 days, the oldest first; empty while nothing is known.'),
});

const forecast = z.strictObject({
  mailboxes: count,
  fits: z.boolean().describe('The limit is enough for the cadence.'),
  allowed_per_minute: number.describe('Requests that Warmwarden may make at present.'),
  needed_per_minute: number.describe('Requests that the cadence needs.'),
  used_per_minute: number.describe('Requests that Warmwarden makes at most, with spare ones (`poll.spare_share`).'),
  first_sweep_seconds: number.describe('How long it takes to read all mailboxes once, until each can be judged.'),
  remedy: z
    .strictObject({
      requests_per_minute: number.describe('A limit of the key that would be enough.'),
      stats_seconds: number.describe('Or a cadence for which the present limit is enough.'),
      warmup_seconds: number,
    })
    .nullable()
    .describe('null: it fits.'),
  text: text.describe('All of it in sentences.'),
});

const dataAge = z.strictObject({
  newest_at: moment.nullable(),
  oldest_at: moment.nullable(),
  never_read: count.describe('Mailboxes.'),
  max_age_seconds: number.nullable().describe('How old it gets with this cadence and this limit.'),
});

const accountBudget = z.strictObject({
  name: text,
  requests_per_minute: number.describe(
    'Requests that Warmwarden may make at present: the limit of the key less the headroom.',
  ),
  forecast: forecast.nullable().describe('null: not known yet.'),
  queue_length: count.describe('Polls that wait.'),
  oldest_due_at: moment.nullable(),
  throttled_last_hour: count.describe('Requests that the API refused in the last hour because there were too many.'),
  last_success_at: moment.nullable(),
  first_sweep: firstSweep,
  data: z
    .strictObject({ stats: dataAge, warmup: dataAge, detail: dataAge, dns: dataAge, blacklist: dataAge })
    .describe('How old each kind of data is.'),
});

export const budgetAnswer = z.strictObject({
  at: moment,
  accounts: listOf(accountBudget).describe('Those whose limit is too small first, then by name.'),
  next_cursor: nextCursor,
});

export const configurationAnswer = z.strictObject({
  total: count.describe('How many settings match.'),
  settings: listOf(
    z.strictObject({
      name: text.describe('For example `guard.min_bounces`.'),
      value: text.describe('As the file would have it. Secrets are hidden.'),
      from: text.describe('`default`, or where it is set.'),
    }),
  ).describe('By name.'),
  next_cursor: nextCursor,
});

export const runbooksAnswer = z.strictObject({
  runbooks: listOf(
    z.strictObject({
      rule: z.enum(alertRules),
      means: text,
      done: text.describe('What Warmwarden did.'),
      todo: text.describe('What you should do.'),
    }),
  ),
});
