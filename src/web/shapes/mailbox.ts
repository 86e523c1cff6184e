// The shape of GET /api/mailboxes/{account}/{id}: a mailbox with all that was read of it.
import { z } from 'zod';
import { change } from './answers.ts';
import { action, count, decision, listOf, mailboxFields, moment, number, text, texts } from './facts.ts';

const word = text.nullable();
const figure = number.nullable();

/** What one request to the mailbox API showed; null: it was not read yet. */
function observed<Shape extends z.ZodRawShape>(shape: Shape) {
  return z.strictObject({ at: moment.describe('When it was read.'), answer: z.strictObject(shape) }).nullable();
}

const dnsRecord = z.strictObject({
  status: word.describe('In the words of the mailbox API.'),
  pass: z.boolean().nullable().describe('null: inconclusive.'),
  record: word,
});

const statsDay = z.strictObject({
  date: z.iso.date().nullable(),
  sent: figure,
  bounced: figure,
  delivered: figure,
  opened: figure,
  replied: figure,
  spam_landed: figure,
  inbox_rate_percent: figure,
  bounce_rate_percent: figure,
  health_score: figure,
});

const warmup = {
  status: word,
  mode: word,
  daily_limit: figure,
  warmup_day: figure,
  health_score: figure,
  config: z.strictObject({
    target_daily_limit: figure,
    reply_rate: figure,
    thread_rate: figure,
    weekdays_only: z.boolean().nullable(),
    send_window_start: figure,
    send_window_end: figure,
  }),
  recent_bounces: listOf(z.strictObject({ type: word, category: word })),
  recent_emails: z
    .strictObject({
      placed: count.describe('Those whose folder is known.'),
      in_spam: count,
      waiting_since: moment.nullable().describe('When the oldest waiting email was scheduled to be sent.'),
      last_sent_at: moment.nullable(),
    })
    .nullable(),
};

export const mailboxAnswer = z.strictObject({
  ...mailboxFields,
  first_seen_at: moment,
  missing_lists: count.describe('Consecutive mailbox lists without it.'),
  entry: observed({
    id: text,
    email: text,
    provider: word,
    status: word,
    health_score: figure,
    daily_limit: figure,
    warmup_day: figure,
  }).describe('Its entry in the mailbox list.'),
  warmup: observed(warmup),
  stats: observed({
    rows: listOf(statsDay).nullable().describe('A row per day; null: the API sent no list.'),
  }),
  detail: observed({
    status: word,
    health_score: figure,
    daily_limit: figure,
    connection: z.enum(['connected', 'error', 'unclear']),
    connection_error: word,
  }),
  dns: observed({
    domain: word,
    checked_at: word,
    records: z.strictObject({ spf: dnsRecord, dkim: dnsRecord, dmarc: dnsRecord }),
  }),
  blacklist: observed({
    domain: word,
    ip: word,
    checked_at: word,
    listed: z.boolean().nullable().describe('null: inconclusive.'),
    lists: texts,
    found: figure,
    checked: figure,
  }),
  action: action.nullable().describe('The newest change that Warmwarden planned or made.'),
  changes: listOf(change).describe('What others changed.'),
  decisions: listOf(decision).describe('The last 50, the newest first.'),
});
