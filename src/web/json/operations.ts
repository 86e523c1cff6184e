// POST /api/operations/NAME and POST /-/reload: what the socket beside the store takes, for a token that may operate.
import type { Hono } from 'hono';
import { z } from 'zod';
import {
  type CommandOutcome,
  type CommandResult,
  commandResults,
  type DaemonCommands,
  type ReloadRequest,
  succeeded,
} from '../../core/operator-command.ts';
import {
  answerOperation,
  type OperationBody,
  type OperationName,
  operationNames,
  operationShapes,
} from '../../operations/command-requests.ts';
import { failure } from '../../operations/plan.ts';
import { type Auth, operatorOf, reloaderOf } from '../access/auth.ts';
import { isFromAnyPage } from '../access/origin.ts';
import { means, oneOf, readQuery } from '../query.ts';
import { bodyText, maxBodyBytes, noQuery, operatorsOnly, queryOf, refuse, senderOf } from '../refusals.ts';
import { count, text, texts } from './facts.ts';
import { type Described, type DescribedAnswer, inQuery } from './route.ts';

const outcomeAnswer = z
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

function outcomeJson({ result, messages, plan, counts }: CommandOutcome) {
  return { result, messages, ...(plan !== undefined && { plan }), ...(counts && { counts }) };
}

const mailbox = 'amelia.ward@northbeam.example';
const reason = 'list is being cleaned';

const operationExamples: { readonly [Name in OperationName]: OperationBody<Name> } = {
  'breaker-release': { reason: 'checked all of them' },
  'contest-release': { mailbox, reason: 'agreed with the client' },
  pause: { mailbox, reason, dry_run: true },
  resume: { mailbox, reason: 'the list is clean' },
  mode: { mailbox, mode: 'recovery', reason },
  limit: { mailbox, limit: 20, reason },
  undo: { since_seconds: 3_600, reason: 'the bounces were ours' },
  writes: { off: true, account: null, mailbox: null, for_seconds: 7_200, reason: 'maintenance' },
  'silence-add': { match: { rule: ['dns_*'] }, for_seconds: 14_400, reason: 'DNS moves' },
  'silence-expire': { id: 's-1', reason: 'DNS has moved' },
  'channels-resend': { channel: 'ops', reason: 'Slack is back' },
  reload: { dry_run: true },
  refresh: { mailbox },
};

const plannedExample = {
  result: 'planned',
  messages: [
    'Warmwarden will pause the warm-up of amelia.ward@northbeam.example (account simulated, mode balanced, warm-up active) until a person resumes it.',
  ],
  plan: 'EfncK2qShKeFr7eKBJZf9U',
};

export interface OperationsRouteParts {
  /** In force at present: a reload may change it. */
  readonly auth: () => Auth;
  /** null while the daemon is starting. */
  readonly commands: () => DaemonCommands | null;
}

const noTokens =
  'This daemon has no tokens, and without them it accepts only a reload over HTTP. Run the command without --url on the machine of the daemon, use the page, or configure server.auth.tokens.';

const statusOf: Readonly<Record<CommandResult, 200 | 409 | 422>> = {
  planned: 200,
  done: 200,
  no_change: 200,
  changed: 409,
  failed: 409,
  invalid: 422,
};

/**
 * Answers with the outcome. Without tokens only to a reload, as POST /-/reload does: for the rest the socket is the way.
 * What a web page sends is refused, so that none can post here with a browser's remembered password, or to a daemon without
 * tokens; and so is another content-type than JSON's, for browsers that say nothing of the page.
 */
export function addOperations(app: Hono, { auth, commands }: OperationsRouteParts): void {
  for (const name of operationNames) addOperation(app, name, { auth, commands });
}

function addOperation(app: Hono, name: OperationName, { auth, commands }: OperationsRouteParts): void {
  app.post(`/api/operations/${name}`, noQuery, async (c) => {
    const nameOf = name === 'reload' ? reloaderOf : operatorOf;
    const by = nameOf(auth(), c.req.header('authorization'));
    if (by === null) return refuse(c, 'not_allowed', auth() === 'none' ? noTokens : operatorsOnly);
    if (isFromAnyPage(senderOf(c))) return refuse(c, 'not_allowed', 'A web page may not send commands.');
    if (!c.req.header('content-type')?.startsWith('application/json')) {
      return refuse(c, 'not_json', 'Send a JSON object with content-type application/json.');
    }
    const text = await bodyText(c.req.raw);
    if (text === null) return refuse(c, 'too_large', `The request is larger than ${maxBodyBytes / 1_024} KiB.`);
    const body = parsed(text);
    if (body === undefined) return refuse(c, 'bad_request', 'The body is not JSON. Send a JSON object.');
    if (typeof body !== 'object' || body === null || Array.isArray(body)) {
      return refuse(c, 'bad_request', 'The body is JSON, but not an object. Send a JSON object.');
    }
    const open = commands();
    if (!open) return refuse(c, 'starting', 'The daemon is starting. Try again in a moment.');
    const outcome = await answerOperation(name, body, open, { by }).catch(failure);
    return c.json(outcomeJson(outcome), statusOf[outcome.result]);
  });
}

/** undefined for what is not JSON. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

export interface ReloadRouteParts {
  /** In force at present: a reload may change it. */
  readonly auth: () => Auth;
  readonly reload: (request: ReloadRequest) => Promise<CommandOutcome>;
}

const reloadParameters = {
  dry_run: means('Only say what would change.', oneOf('true', 'false')),
  force: means(
    'Also accept a file that removes more than 20 % of the mailboxes, or every channel except recipes.',
    oneOf('true', 'false'),
  ),
};

/** 200 when it was taken, 409 when it was refused, each with sentences. Query: dry_run and force, each `true`. */
export function addReload(app: Hono, { auth, reload }: ReloadRouteParts): void {
  app.post('/-/reload', async (c) => {
    const by = reloaderOf(auth(), c.req.header('authorization'));
    if (by === null) return refuse(c, 'not_allowed', 'Only a token with the role operator may reload.');
    if (isFromAnyPage(senderOf(c))) return refuse(c, 'not_allowed', 'A web page may not reload the configuration.');
    const query = readQuery(reloadParameters, queryOf(c));
    if ('wrong' in query) return refuse(c, 'bad_request', query.wrong);
    const { force, dry_run: dryRun } = query.read;
    const outcome = await reload({ by, force: force === 'true', dryRun: dryRun === 'true' });
    return c.json(outcomeJson(outcome), succeeded(outcome) ? 200 : 409);
  });
}

const summaries: Readonly<Record<OperationName, string>> = {
  'breaker-release': 'Carry out the actions that the circuit breakers are holding, except where writes are off',
  'contest-release': 'Let Warmwarden act again on a mailbox where others reversed its changes',
  pause: 'Pause the warm-up of a mailbox',
  resume: 'Resume the warm-up of a mailbox',
  mode: 'Set the warm-up mode of a mailbox',
  limit: 'Set the target daily limit of a mailbox',
  undo: 'Undo what Warmwarden did by itself lately',
  writes: 'Start or end the emergency stop',
  'silence-add': 'Add a silence',
  'silence-expire': 'Expire a silence',
  'channels-resend': 'Send undelivered messages again',
  reload: 'Reload the configuration',
  refresh: 'Read all data of a mailbox again',
};

function outcome(description: string, example?: unknown): DescribedAnswer {
  return { description, content: { 'application/json': outcomeAnswer }, ...(example === undefined ? {} : { example }) };
}

const outcomes = {
  200: outcome(
    '`planned`: a dry run, nothing was done. `done`: done, and read back where a mailbox was changed. `no_change`: there was nothing to do.',
    plannedExample,
  ),
  409: outcome(
    '`changed`: the situation has changed since the plan, and nothing was done. `failed`: not done, or not all of it; the messages say why.',
  ),
};

function idOf(name: OperationName): string {
  return name.replace(/-(\w)/g, (_all, letter: string) => letter.toUpperCase());
}

export const operationRoutes: readonly Described[] = [
  ...operationNames.map(
    (name): Described => ({
      route: `POST /api/operations/${name}`,
      id: idOf(name),
      tag: 'operations',
      summary: summaries[name],
      access: 'operator',
      body: {
        required: true,
        shape: operationShapes[name],
        example: operationExamples[name],
      },
      answers: {
        ...outcomes,
        422: outcome('`invalid`: the request names something unknown, or makes no sense.'),
      },
      refusals: ['bad_request', 'too_large', 'not_json', 'starting'],
    }),
  ),
  {
    route: 'POST /-/reload',
    id: 'reloadConfiguration',
    tag: 'operations',
    summary: 'Reload the configuration, without a body',
    description:
      'Without tokens every client that the server answers may reload, here and with `POST /api/operations/reload`, because a reload changes only what the file says. Requests from web pages are refused.',
    access: 'operator',
    parameters: inQuery(reloadParameters),
    answers: { ...outcomes, 200: outcome('The file was accepted.') },
    refusals: ['bad_request'],
  },
];
