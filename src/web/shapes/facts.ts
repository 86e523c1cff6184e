// Shapes of the facts in JSON, of the HTTP API and of --json: verdicts, actions, alerts, mailboxes. Strict: what is not here is not sent.
import { z } from 'zod';
import { alertRules, severities } from '../../core/alert.ts';
import { guardStates } from '../../core/mailbox.ts';
import { reasons, verdictActions } from '../../core/verdict.ts';

export const moment = z.iso.datetime();
export const text = z.string();
export const count = z.int().min(0);
export const number = z.number();
export const timeZone = text.describe(
  'The time zone of times in sentences (`alerts.time_zone`); all other times are in UTC.',
);
export const texts = z.array(text).readonly();
export const nextCursor = text.nullable().describe('The `cursor` of the next page; null: this is the last.');

/** A list of what `shape` describes. */
export function listOf<Shape extends z.ZodType>(shape: Shape) {
  return z.array(shape).readonly();
}

const verdictFields = {
  action: z.enum(verdictActions).describe('What the guard decided.'),
  reason: z.enum(reasons).describe('Why, out of a closed set of words.'),
  wanted: z.enum(verdictActions).describe('What it would do if nothing held it back.'),
  mode: text.nullable(),
  run: text.describe('Whether the warm-up runs: running, paused, not_running or unknown.'),
  sent: count.describe('Emails in the window.'),
  bounced: count,
  rate_percent: number.nullable(),
  limit_percent: number.nullable(),
  window_from: z.iso.date().nullable(),
  window_to: z.iso.date().nullable(),
  window_days: count,
  emergency: z.boolean().describe('Whether so many of the newest emails bounced that it is an emergency in any mode.'),
  bounces_until_breach: number.nullable(),
  data_age_seconds: number.describe('How old the statistics were when they were judged.'),
  warnings: texts,
  explanation: text.describe('The decision in a sentence.'),
};

const verdict = z.strictObject(verdictFields).meta({ id: 'verdict', description: 'A decision of the guard.' });

/** A verdict with when it was given. */
export const datedVerdict = z.strictObject({ at: moment, ...verdictFields });

const dayCounts = listOf(z.strictObject({ date: z.iso.date(), sent: count.nullable(), bounced: count.nullable() }));

export const decision = z
  .strictObject({
    since: moment.describe('When it was first decided.'),
    until: moment.describe('When it was last decided.'),
    count: count.describe('How many answers led to it.'),
    first_sent: count.describe('Emails in the window at `since`; the other numbers are those at `until`.'),
    ...verdictFields,
    first_days: dayCounts.describe('The days in the window, as they were at `since`.'),
    days: dayCounts.describe('The days in the window, as they were at `until`.'),
  })
  .meta({ id: 'decision', description: 'The same decision on consecutive answers.' });

const actionFields = {
  id: text,
  account: text,
  mailbox_id: text,
  email: text,
  kind: text.describe('recovery, pause, restore, resume, mode or limit.'),
  state: text.describe('planned, open, confirmed, refused, unconfirmed or dropped.'),
  attempts: count,
  planned_at: moment,
  settled_at: moment.nullable(),
  next_try_at: moment.nullable(),
  detail: text.nullable().describe('What came back.'),
  verdict,
};

export const action = z
  .strictObject(actionFields)
  .meta({ id: 'action', description: 'A change of a mailbox, from the plan to the outcome.' });

/** An action as `explain` tells it. */
export const explainedAction = z.strictObject({
  ...actionFields,
  target_mode: text.nullable(),
  target_limit: count.nullable().describe('Emails a day.'),
  by: z
    .strictObject({ name: text, reason: text })
    .nullable()
    .describe('Who asked for it; null when the guard decided it.'),
  causes: texts.describe('What may explain the bounces.'),
  text: text.describe('What was done, in a sentence.'),
});

export const alert = z
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

/** Beside an alert that goes on. */
export const silenced = z
  .strictObject({ by: text, until: moment })
  .nullable()
  .describe('Who silenced it, and until when; null: its messages are sent.');

const globs = texts.optional();

export const silence = z
  .strictObject({
    id: text,
    match: z.strictObject({
      severity: listOf(z.enum(severities)).optional(),
      account: globs,
      rule: globs,
      domain: globs,
      mailbox: globs,
      object: globs,
    }),
    by: text,
    reason: text,
    from: moment,
    until: moment,
  })
  .meta({ id: 'silence', description: 'Mutes the messages of the alerts that match, until it expires.' });

const dnsNames = texts.nullable();

export const mailboxFields = {
  account: text,
  id: text,
  email: text,
  name: text.describe('Its address, followed by its id when another mailbox of the account has the same address.'),
  state: z.enum(guardStates),
  mode: text.nullable(),
  health_score: number.nullable(),
  dns_failing: dnsNames,
  dns_inconclusive: dnsNames,
  listings: z.union([count, z.literal('listed'), z.null()]).describe('Blacklists that list it.'),
  stats_at: moment.nullable().describe('When its statistics were read last.'),
  claim: z
    .strictObject({ kind: text, since: moment })
    .nullable()
    .describe('The change by Warmwarden that is in force.'),
  paused_by: text
    .nullable()
    .describe('Who paused its warm-up through Warmwarden, if a person did and it is still paused.'),
  alerts: texts.describe('Rules that fire for it.'),
  verdict: datedVerdict.nullable().describe('The newest [verdict](#verdict), with `at`.'),
};

export const mailbox = z.strictObject(mailboxFields).meta({ id: 'mailbox', description: 'A guarded mailbox.' });

/** null: it is over. */
export const firstSweep = z
  .strictObject({
    since: moment,
    part: text.describe('judging or details.'),
    mailboxes: count,
    read: count,
    done_at: moment.nullable().describe('When this part is expected to end.'),
    text,
  })
  .nullable();

export const account = z
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

export const channel = z
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

export const writesOff = z.strictObject({
  scope: z.enum(['everything', 'account', 'mailbox']),
  account: text.nullable(),
  mailbox: text.nullable(),
  since: moment,
  until: moment.nullable(),
  by: text,
  reason: text,
  allow_with: text.describe('The command that allows writes again.'),
});

/** Incidents that go on. */
export const incidents = listOf(
  z.strictObject({ id: text, title: text, severity: z.enum(severities), began_at: moment, mailboxes: count }),
).describe('Open incidents, the newest first.');
