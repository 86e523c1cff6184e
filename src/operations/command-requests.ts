// The operations: what each takes, and the way of a request from its body through its plan to its outcome.

import { createHash } from 'node:crypto';
import { z } from 'zod';
import { periods } from '../core/alert.ts';
import { severities } from '../core/alert-rules.ts';
import { didYouMean } from '../core/nearest.ts';
import {
  type CommandName,
  type CommandOutcome,
  type Confirmation,
  invalid,
  type Operate,
} from '../core/operator-command.ts';
import { largestLimit, warmupModes } from '../core/policy.ts';
import { dayMs, secondMs } from '../core/time.ts';
import { checkAgainst, formatPath } from '../world/schema/problem.ts';
import { oneOf } from '../world/schema/section.ts';
import type { Audited } from './audit.ts';

/** Reads a request, or says what is wrong with it: `mailbox: is missing`. */
export function readRequest<Shape extends z.ZodType>(
  shape: Shape,
  asked: unknown,
): { readonly read: z.output<Shape> } | { readonly wrong: string } {
  const { findings, checked } = checkAgainst(shape, asked);
  if (checked !== null) return { read: checked };
  return { wrong: findings.map(({ path, message }) => `${formatPath(path) || 'the body'}: ${message}`).join('; ') };
}

/** Ten years: an end far beyond that is no longer a valid date. */
const longestSeconds = (10 * 365 * dayMs) / secondMs;
/** A millisecond at least, instead of "more than 0": generators of Go clients cannot read an exclusive minimum. */
const seconds = z
  .number()
  .min(1 / secondMs)
  .max(longestSeconds);
const maxLetters = 1_000;
const text = z.string().max(maxLetters);
const globs = z.array(text).optional();
const match = z.strictObject({
  severity: z.array(oneOf(severities)).optional(),
  account: globs,
  tag: globs,
  provider: globs,
  rule: globs,
  mailbox: globs,
  domain: globs,
  object: globs,
});
const confirmed = {
  by: text.default('unknown').describe('Over HTTP the name of the token takes its place.'),
  reason: text.default('').describe('For the audit log.'),
  dry_run: z.boolean().default(false).describe('Only say what would be done.'),
  plan: text.nullable().default(null).describe('The `plan` of a dry run: nothing is done when it has changed.'),
};
const settings = {
  reply_rate: z.int().min(0).max(100).optional().describe('Percent.'),
  send_window: z
    .string()
    .regex(/^([01]?[0-9]|2[0-3])-([01]?[0-9]|2[0-4])$/, 'must be two hours of the day, such as 8-18')
    .optional()
    .describe('First hour and end of sending, such as 8-18.'),
};
/** Names of the settings that `set` takes. */
export const settingNames = Object.keys(settings);

/** Returns the complaint about a setting that `set` does not know. */
export function unknownSetting(name: string): string {
  const near = didYouMean(name, settingNames);
  return `unknown setting${near}; known here: ${settingNames.join(', ')}. The commands mode and limit set the mode and the daily limit`;
}

const api = text
  .nullable()
  .default(null)
  .describe('The host of the API, or its base_url. Needed only while those of several APIs hold actions.');
const mailbox = text.describe('An address, an id or ACCOUNT/ADDRESS.');

/** Body of each operation, with its title and what it does. Refuses an unknown key: a mistyped `dry_run` must not act. */
export const operationShapes = {
  'breaker-apply': z.strictObject({ ...confirmed, api }).meta({
    title: 'Carry out held actions',
    description: 'Carries out the actions that the circuit breaker of an API holds, where writes are on.',
  }),
  'breaker-discard': z.strictObject({ ...confirmed, api }).meta({
    title: 'Drop held actions',
    description:
      'Drops the actions that the circuit breaker of an API holds. On these mailboxes only bounces from now on count.',
  }),
  'contest-end': z.strictObject({ ...confirmed, mailbox }).meta({
    title: 'Let Warmwarden act again',
    description: 'Lets Warmwarden act again on a mailbox where others reversed its changes.',
  }),
  pause: z.strictObject({ ...confirmed, mailbox }).meta({
    title: 'Pause a warm-up',
    description: 'Pauses the warm-up of a mailbox until a person resumes it. Campaigns keep sending.',
  }),
  resume: z
    .strictObject({
      ...confirmed,
      mailbox,
      undoes: text.optional().describe('The id of a pause of Warmwarden: resumes only what is still paused by it.'),
    })
    .meta({ title: 'Resume a warm-up', description: 'Resumes the warm-up of a mailbox, no matter who paused it.' }),
  mode: z
    .strictObject({ ...confirmed, mailbox, mode: oneOf(warmupModes) })
    .meta({ title: 'Set the warm-up mode', description: 'Sets the warm-up mode of a mailbox.' }),
  limit: z
    .strictObject({
      ...confirmed,
      mailbox,
      limit: z.int().min(1).max(largestLimit).describe('Emails a day, at most what the mode allows.'),
    })
    .meta({ title: 'Set the daily limit', description: 'Sets the target daily limit of a mailbox.' }),
  set: z
    .strictObject(
      { ...confirmed, mailbox, ...settings },
      {
        error: (issue) =>
          issue.code === 'unrecognized_keys' ? issue.keys.map((key) => unknownSetting(key)).join('\n') : undefined,
      },
    )
    .meta({
      title: 'Change other settings',
      description: 'Changes settings of a warm-up, but neither its mode nor its daily limit.',
    }),
  undo: z.strictObject({ ...confirmed, since_seconds: seconds.describe('How far back.') }).meta({
    title: 'Undo what Warmwarden did',
    description:
      'Undoes what Warmwarden did by itself lately, and daily limits and settings that people changed through it, unless others have changed them since.',
  }),
  writes: z
    .strictObject({
      ...confirmed,
      off: z.boolean().describe('true: stop all changes. false: allow them again.'),
      account: text.nullable().default(null).describe('Only this account.'),
      mailbox: text.nullable().default(null).describe('Only this mailbox: an address, an id or ACCOUNT/ADDRESS.'),
      for_seconds: seconds.nullable().default(null).describe('null: until a person ends the stop.'),
    })
    .meta({
      title: 'Switch writes off, or on again',
      description:
        'Off: Warmwarden changes no mailbox of the account, or none at all, not even for a person. On: it does again.',
    }),
  'silence-add': z
    .strictObject({
      ...confirmed,
      match,
      for_seconds: seconds.describe('How long.'),
      from: text.optional().describe('Such as 2026-12-05 22:00, in `alerts.time_zone`. Default: now.'),
      every: oneOf(periods).optional().describe('Repeats it at the same time of day.'),
      until: text.optional().describe('The last day of a repetition. Default: until a person expires it.'),
    })
    .meta({
      title: 'Add a silence',
      description: 'Mutes the messages of the alerts that match. Warmwarden continues to guard.',
    }),
  'silence-expire': z
    .strictObject({ ...confirmed, id: text.describe('The id of the silence.') })
    .meta({ title: 'Expire a silence', description: 'Ends a silence now. Alerts that are still firing are sent.' }),
  acknowledge: z
    .strictObject({ ...confirmed, alert: text.describe('The id of a firing alert, or its fingerprint.') })
    .meta({
      title: 'Acknowledge an alert',
      description: 'Stops the reminders of a firing alert, and its escalation, until it ends or gets worse.',
    }),
  'channels-resend': z
    .strictObject({
      ...confirmed,
      channel: text.nullable().default(null).describe('Only the messages of this channel.'),
      delivery: text.nullable().default(null).describe('Only the message with this id.'),
    })
    .meta({
      title: 'Send undelivered messages again',
      description: 'Sends undelivered messages again, unchanged: one, those of a channel, or all.',
    }),
  reload: z
    .strictObject({
      ...confirmed,
      force: z
        .boolean()
        .default(false)
        .describe('Also accept a file that removes more than 20% of the mailboxes, or every channel except recipes.'),
    })
    .meta({
      title: 'Reload the configuration',
      description: 'Reloads the configuration. A file with problems changes nothing.',
    }),
  refresh: z
    .strictObject({ ...confirmed, mailbox })
    .meta({ title: 'Read a mailbox again', description: 'Reads all data of a mailbox again.' }),
} as const;

export type OperationName = keyof typeof operationShapes;
export const operationNames = Object.keys(operationShapes) as readonly OperationName[];
export type OperationBody<Name extends OperationName> = z.input<(typeof operationShapes)[Name]>;
export type OperationRequest<Name extends OperationName> = z.output<(typeof operationShapes)[Name]>;

/** A command that is ready: its effect, its line in the audit log, and the work. */
export interface ReadyCommand extends Partial<Pick<CommandName, 'account' | 'mailboxes'>> {
  /** Command as it would be typed. */
  readonly command: string;
  /** Plan to show or to compare with the agreed one; null: `carryOut` does so. */
  readonly plan: Plan | null;
  readonly carryOut: () => Promise<CommandOutcome>;
}

/** Looks at the present situation: the command that is ready, or the outcome when there is nothing to carry out. */
export type Command<Name extends OperationName> = (
  request: OperationRequest<Name>,
) => ReadyCommand | CommandOutcome | Promise<ReadyCommand | CommandOutcome>;
export type Commands = { readonly [Name in OperationName]: Command<Name> };

export function operating(commands: Commands, audited: Audited): Operate {
  const run = async <Name extends OperationName>(name: Name, body: unknown) => {
    const request = readRequest(operationShapes[name], body);
    if ('wrong' in request) return invalid(`The request for ${name} cannot be read: ${request.wrong}.`);
    return runCommand(name, commands[name], request.read as OperationRequest<Name>, audited);
  };
  return async (name, body) =>
    Object.hasOwn(operationShapes, name)
      ? run(name as OperationName, body)
      : invalid(`This daemon has no operation ${name}.`);
}

/** Shows the effect of a command, or carries it out between two lines of the audit log. */
export async function runCommand<Name extends OperationName>(
  name: Name,
  command: Command<Name>,
  request: OperationRequest<Name>,
  audited: Audited,
): Promise<CommandOutcome> {
  const ready = await command(request);
  if ('result' in ready) return ready;
  const { plan, command: typed, account = null, mailboxes = [], carryOut } = ready;
  const line = { name, command: typed, account, mailboxes };
  return (plan && stopsAt(plan, request)) ?? audited(request, line, carryOut);
}

// Plans of commands. A dry run shows the plan; an agreement is valid only while the plan is the same.

export interface Plan {
  readonly effect: readonly string[];
  /** Exact effect: JSON that differs whenever the effect differs. Omits moments that only move with the clock. */
  readonly about: unknown;
  /** Counts by kind, if the sentences name only some. */
  readonly counts?: Readonly<Record<string, number>>;
}

/** Characters of a plan's name: enough that no two plans share a name. */
const nameLetters = 22;

/** Outcome that ends a request here, for a dry run or if the plan is not the agreed one; null to carry on. */
export function stopsAt(
  plan: Plan,
  { dry_run: isDry = false, plan: agreed = null }: Confirmation,
): CommandOutcome | null {
  const name = createHash('sha256').update(JSON.stringify(plan.about)).digest('base64url').slice(0, nameLetters);
  const said = { messages: plan.effect, plan: name, ...(plan.counts && { counts: plan.counts }) };
  if (isDry) return { result: 'planned', ...said };
  if (agreed === null || agreed === name) return null;
  return { result: 'changed', ...said, messages: [changedSince, ...plan.effect] };
}

const changedSince = 'Nothing was done: the situation has changed since you were asked. Now:';
