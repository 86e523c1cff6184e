// Requests of people over the socket or HTTP: reads them, and passes them to their command.

import { z } from 'zod';
import { severities } from '../core/alert.ts';
import type { CommandOutcome, DaemonCommands } from '../core/operator-command.ts';
import { largestLimit, warmupModes } from '../core/policy.ts';
import { dayMs, secondMs } from '../core/time.ts';
import { invalid } from './plan.ts';

// Plain words for zod's issues with a request: `mailbox: required`.

/** Reads a request, or says what is wrong with it. */
export function readRequest<Shape extends z.ZodType>(
  shape: Shape,
  asked: unknown,
): { readonly read: z.output<Shape> } | { readonly wrong: string } {
  const result = shape.safeParse(asked, { error: plainWords });
  if (result.success) return { read: result.data };
  const problems = result.error.issues.map(({ path, message }) =>
    path.length === 0 ? `the body ${message}` : `${path.join('.')}: ${message}`,
  );
  return { wrong: problems.join('; ') };
}

/** Plain words for an issue, or undefined if zod's own will do. Quotes no values. */
function plainWords(issue: z.core.$ZodRawIssue): string | undefined {
  switch (issue.code) {
    case 'invalid_type':
      return issue.input === undefined ? 'required' : `must be ${kinds[issue.expected] ?? issue.expected}`;
    case 'invalid_value':
      return issue.input === undefined ? 'required' : `must be one of ${issue.values.map(String).join(', ')}`;
    case 'unrecognized_keys':
      return `has the unknown ${issue.keys.length === 1 ? 'key' : 'keys'} ${issue.keys.join(', ')}`;
    case 'too_big':
      return issue.origin === 'string'
        ? `must have at most ${issue.maximum} characters`
        : `must be at most ${issue.maximum}`;
    case 'too_small':
      return `must be ${issue.inclusive ? 'at least' : 'more than'} ${issue.minimum}`;
    default:
      return undefined;
  }
}

const kinds: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
};

/** Ten years: an end far beyond that is no longer a valid date. */
const longestSeconds = (10 * 365 * dayMs) / secondMs;
const seconds = z.number().positive().max(longestSeconds);
const maxLetters = 1_000;
const text = z.string().max(maxLetters);
const globs = z.array(text).optional();
const match = z.strictObject({
  severity: z.array(z.enum(severities)).optional(),
  account: globs,
  rule: globs,
  mailbox: globs,
  domain: globs,
  object: globs,
});
const requester = {
  by: text.default('unknown').describe('Over HTTP the name of the token takes its place.'),
  reason: text.default('').describe('For the audit log.'),
};
const confirmed = {
  ...requester,
  dry_run: z.boolean().default(false).describe('Only say what would be done.'),
  plan: text.nullable().default(null).describe('The `plan` of a dry run: nothing is done when it has changed.'),
};
const mailbox = text.describe('An address, an id or ACCOUNT/ADDRESS.');

/** Body of each operation, with its summary. Refuses an unknown key: a mistyped `dry_run` must not act. */
export const operationShapes = {
  'breaker-release': z
    .strictObject(confirmed)
    .describe('Carry out the actions that the circuit breakers are holding, except where writes are off'),
  'contest-release': z
    .strictObject({ ...confirmed, mailbox })
    .describe('Let Warmwarden act again on a mailbox where others reversed its changes'),
  pause: z.strictObject({ ...confirmed, mailbox }).describe('Pause the warm-up of a mailbox'),
  resume: z.strictObject({ ...confirmed, mailbox }).describe('Resume the warm-up of a mailbox'),
  mode: z
    .strictObject({ ...confirmed, mailbox, mode: z.enum(warmupModes) })
    .describe('Set the warm-up mode of a mailbox'),
  limit: z
    .strictObject({ ...confirmed, mailbox, limit: z.int().min(1).max(largestLimit) })
    .describe('Set the target daily limit of a mailbox'),
  undo: z.strictObject({ ...confirmed, since_seconds: seconds }).describe('Undo what Warmwarden did by itself lately'),
  writes: z
    .strictObject({
      ...confirmed,
      off: z.boolean(),
      account: text.nullable().default(null),
      mailbox: text.nullable().default(null),
      for_seconds: seconds.nullable().default(null),
    })
    .describe('Start or end the emergency stop'),
  'silence-add': z.strictObject({ ...confirmed, match, for_seconds: seconds }).describe('Add a silence'),
  'silence-expire': z.strictObject({ ...confirmed, id: text }).describe('Expire a silence'),
  'channels-resend': z
    .strictObject({
      ...confirmed,
      channel: text.nullable().default(null),
      delivery: text.nullable().default(null),
    })
    .describe('Send undelivered messages again'),
  reload: z.strictObject({ ...confirmed, force: z.boolean().default(false) }).describe('Reload the configuration'),
  refresh: z.strictObject({ ...requester, mailbox }).describe('Read all data of a mailbox again'),
} as const;

export type OperationName = keyof typeof operationShapes;
export const operationNames = Object.keys(operationShapes) as readonly OperationName[];
/** JSON body of an operation. */
export type OperationBody<Name extends OperationName> = z.input<(typeof operationShapes)[Name]>;
type OperationRequest<Name extends OperationName> = z.output<(typeof operationShapes)[Name]>;

type Carry = {
  readonly [Name in OperationName]: (body: OperationRequest<Name>, to: DaemonCommands) => Promise<CommandOutcome>;
};

const carry: Carry = {
  'breaker-release': (body, to) => to.breakerRelease(common(body)),
  'contest-release': (body, to) => to.contestRelease({ ...common(body), mailbox: body.mailbox }),
  pause: (body, to) => to.pause({ ...common(body), mailbox: body.mailbox }),
  resume: (body, to) => to.resume({ ...common(body), mailbox: body.mailbox }),
  mode: (body, to) => to.mode({ ...common(body), mailbox: body.mailbox, mode: body.mode }),
  limit: (body, to) => to.limit({ ...common(body), mailbox: body.mailbox, limit: body.limit }),
  undo: (body, to) => to.undo({ ...common(body), sinceMs: body.since_seconds * secondMs }),
  writes: ({ off, account, mailbox: name, for_seconds: duration, ...rest }, to) =>
    to.writes({ ...common(rest), off, account, mailbox: name, forMs: duration === null ? null : duration * secondMs }),
  'silence-add': (body, to) =>
    to.silenceAdd({ ...common(body), match: body.match, forMs: body.for_seconds * secondMs }),
  'silence-expire': (body, to) => to.silenceExpire({ ...common(body), id: body.id }),
  'channels-resend': (body, to) =>
    to.channelsResend({ ...common(body), channel: body.channel, delivery: body.delivery }),
  reload: (body, to) => to.reload({ ...common(body), force: body.force }),
  refresh: ({ by, reason, mailbox: name }, to) => to.refresh({ by, reason, mailbox: name }),
};

interface Common {
  readonly by: string;
  readonly reason: string;
  readonly dry_run: boolean;
  readonly plan: string | null;
}

function common({ by, reason, dry_run: dryRun, plan }: Common) {
  return { by, reason, dryRun, plan };
}

/** Carries out the operation `name`. Refuses an unknown operation or an unreadable body in a sentence. */
export type Operate = (name: string, body: unknown) => Promise<CommandOutcome>;

/** Operations over the socket, which only commands of this program use. */
export function operating(to: DaemonCommands): Operate {
  return (name, body) => answerOperation(name, body, to, { advise: sameVersion });
}

const sameVersion = 'Check that the command and the daemon have the same version.';

interface AskedBy {
  /** Advice to the sender of an unreadable body. */
  readonly advise?: string;
  /** Name of the requester, whatever the body says. */
  readonly by?: string;
}

/** Like an `Operate`. */
export async function answerOperation(
  name: string,
  body: unknown,
  to: DaemonCommands,
  asked: AskedBy = {},
): Promise<CommandOutcome> {
  if (!Object.hasOwn(operationShapes, name)) return invalid(`This daemon has no operation ${name}.`);
  return answerKnown(name as OperationName, body, to, asked);
}

async function answerKnown<Name extends OperationName>(name: Name, body: unknown, to: DaemonCommands, asked: AskedBy) {
  const { advise, by } = asked;
  const request = readRequest(operationShapes[name], body);
  if ('read' in request) {
    const read = request.read as OperationRequest<Name>;
    return carry[name](by === undefined ? read : { ...read, by }, to);
  }
  const advice = advise === undefined ? '' : ` ${advise}`;
  return invalid(`The request for ${name} cannot be read: ${request.wrong}.${advice}`);
}
