// Contract of --json: the shape of each command's output. docs/cli-json.md is generated from it, and a test compares real
// output with it.
import { z } from 'zod';
import { recipesShape, runWithRowsShape } from '../../recipes/shapes.ts';
import { alertsAnswer, silencesAnswer } from '../../web/json/alerts.ts';
import { count, datedVerdict, listOf, moment, number, text, texts } from '../../web/json/facts.ts';
import { fleetAnswer } from '../../web/json/fleet.ts';
import { historyAnswer } from '../../web/json/history.ts';
import { explainAnswer } from '../../web/json/mailbox.ts';
import { doctorParts, doctorResults } from '../doctor/examined.ts';
import { type ErrorKind, errorKinds } from '../errors.ts';

const place = { line: count, column: count };
const includedFile = text.optional().describe('An included file; absent for the configuration file itself.');
const problem = z
  .strictObject({ file: includedFile, ...place, path: text, message: text })
  .meta({ id: 'problem', description: 'What is wrong in a configuration file, and where.' });

const setting = z
  .strictObject({
    path: text,
    value: z.unknown().describe('As the file would write it; secrets are hidden.'),
    from: z.enum(['default', 'profile', 'raised', 'file', 'secret_file', 'environment']),
    line: count.optional(),
    column: count.optional(),
    file: includedFile,
    written: text.optional().describe('How the file names the environment variable.'),
  })
  .meta({ id: 'setting', description: 'A setting in force, with where its value came from.' });

const check = z.strictObject({
  file: text,
  valid: z.literal(true),
  warnings: listOf(problem),
  settings: listOf(setting),
  recipe_warnings: texts,
});

const doctor = z.strictObject({
  at: moment,
  file: text,
  problems: count,
  warnings: count,
  checks: listOf(
    z.strictObject({
      part: z.enum(doctorParts),
      result: z.enum(doctorResults).describe('skipped: it could not be checked; `message` says why.'),
      message: text.describe('What was found and, unless it is fine, what to do.'),
    }),
  ),
});

const outcome = z
  .strictObject({
    result: z.enum(['planned', 'done', 'no_change']).describe('planned: a dry run, nothing was done.'),
    messages: texts,
    counts: z
      .record(text, count)
      .optional()
      .describe('Of a plan whose messages name only some ("and 3 more"): how many there are of each kind.'),
  })
  .meta({ id: 'outcome', description: 'What a command did, in sentences. A failure is an error instead.' });

const channelTest = z.strictObject({
  channel: text,
  outcome: z.enum(['sent', 'accepted', 'failed', 'refused', 'unanswered']),
  status: count.nullable().describe('The HTTP status.'),
  took_seconds: number,
  messages: texts,
});

const channelPreview = z.strictObject({
  channel: z.string(),
  rule: z.string(),
  messages: z
    .array(z.strictObject({ title: z.string(), body: z.string().describe('As it is sent, but without secrets.') }))
    .describe('One for each example alert.'),
});

const judged = datedVerdict.pick({
  action: true,
  reason: true,
  sent: true,
  bounced: true,
  rate_percent: true,
  limit_percent: true,
});
const explained = {
  ...judged.shape,
  window_from: z.iso.date().nullable(),
  window_to: z.iso.date().nullable(),
  explanation: text,
};
const verdicts = z.union([
  z.strictObject({
    ...explained,
    first_sight: z
      .strictObject(explained)
      .describe('The same [fields](#decide) for a mailbox that Warmwarden sees for the first time.'),
  }),
  listOf(z.strictObject({ id: text, ...judged.shape, window_days: count })).describe(
    'With --cases: one entry per case.',
  ),
]);

const connected = z.strictObject({
  mailboxes: listOf(
    z.strictObject({
      email: text,
      account: text,
      outcome: z
        .enum(['planned', 'connected', 'connected_before', 'failed', 'unknown', 'not_tried'])
        .describe('`unknown`: no answer came, and the list does not show it (yet).'),
      id: text.nullable(),
      detail: text,
    }),
  ),
  failed_file: text.nullable().describe('The rows to try again; null if there are none.'),
});

export const replayTotals = {
  interventions: count,
  days_in_recovery: count,
  days_paused: count,
  days_held: count,
  sent: count,
  bounced: count,
  bounces_avoided: number,
  sends_lost: number,
};
const replayed = z.strictObject({
  ...replayTotals,
  from: z.iso.date().nullable(),
  to: z.iso.date().nullable(),
  actions: listOf(
    z.strictObject({ date: z.iso.date(), action: text, reason: text, sent: count, bounced: count, explanation: text }),
  ),
});
const backtest = z.strictObject({
  days: count,
  assumptions: texts,
  failures: texts.describe('What is wrong with whole accounts.'),
  mailboxes: listOf(
    z.strictObject({
      account: text,
      id: text,
      email: text,
      mode: text.nullable().optional(),
      failure: text.optional().describe('Why it could not be read.'),
      replay: replayed.nullable().describe('null: it could not be read.'),
    }),
  ),
  totals: z.strictObject(replayTotals).describe('Sums of the [replays](#backtest).'),
});

const token = z.strictObject({
  name: text,
  kind: z.enum(['token', 'recipe_key']),
  role: text,
  plan: text.nullable(),
  tags: texts.nullable().describe('What it is limited to; null if it is not.'),
  accounts: texts.nullable(),
  token: text,
  sha256: text.describe('For the configuration.'),
});

const trouble = z
  .strictObject({
    result: z.literal('done'),
    mailboxes: texts.describe('Addresses that it happened to.'),
    messages: texts,
  })
  .meta({ id: 'trouble', description: 'What happened in a simulator.' });

const storeFile = text.describe('The file, or the address of the PostgreSQL database without a password.');

/** Shapes by the words of the command. */
export const shapes = {
  check,
  doctor,
  'channels test': channelTest,
  'channels preview': channelPreview,
  'channels resend': outcome,
  decide: verdicts,
  backtest,
  status: fleetAnswer.omit({ next_cursor: true }),
  'alerts list': alertsAnswer.omit({ next_cursor: true }),
  explain: explainAnswer,
  history: z.strictObject({
    ...historyAnswer.omit({ next_cursor: true }).shape,
    more: z.boolean().describe('There are further entries.'),
  }),
  pause: outcome,
  resume: outcome,
  mode: outcome,
  limit: outcome,
  set: outcome,
  connect: connected,
  undo: outcome,
  'token new': token,
  'recipes list': z.strictObject(recipesShape.shape),
  'recipes run': z.strictObject(runWithRowsShape.shape),
  'breaker apply': outcome,
  'breaker discard': outcome,
  'contest end': outcome,
  writes: outcome,
  ack: outcome,
  'silence add': outcome,
  'silence list': silencesAnswer.omit({ next_cursor: true }),
  'silence expire': outcome,
  'store check': z.strictObject({ file: storeFile, sound: z.literal(true).describe('Damage is an error instead.') }),
  'store backup': z.strictObject({ file: text, bytes: count, took_seconds: number }),
  'store copy': z.strictObject({
    from: text,
    to: text.describe('Without a password.'),
    rows: count,
    tables: listOf(z.strictObject({ table: text, rows: count })),
  }),
  reload: outcome,
  'simulator breach': trouble,
  'simulator emergency': trouble,
  'simulator dns-failure': trouble,
  'simulator disconnect': trouble,
  'simulator repair': trouble,
  'simulator pause': trouble,
  'simulator raise-mode': trouble,
  'simulator raise-limit': trouble,
  'simulator unwell': trouble,
  'simulator clock-off': trouble,
  'simulator well': trouble,
} as const;

/** Output of any command that fails. */
export const errorShape = z.strictObject({
  error: z.strictObject({
    code: z.enum(Object.keys(errorKinds) as [ErrorKind, ...ErrorKind[]]),
    message: text,
    problems: listOf(problem).optional(),
    data_from: moment.optional().describe('With `no_daemon`: when the store was last written.'),
  }),
});

export type Shapes = typeof shapes;
