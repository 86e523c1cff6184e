// POST /api/operations/NAME and POST /-/reload: the operations of the daemon's socket, for a token with the role operator.
import { z } from 'zod';
import {
  type CommandOutcome,
  type CommandResult,
  commandResults,
  failure,
  succeeded,
} from '../../core/operator-command.ts';
import { type OperationName, operationNames, operationShapes } from '../../operations/command-requests.ts';
import { isObject, jsonOf } from '../../world/schema/json.ts';
import { operatorOf, reloaderOf } from '../access/auth.ts';
import { isFromAnyPage } from '../access/sessions.ts';
import { means, oneOf } from '../query.ts';
import { jsonBodyOf, operatorsOnly, refuse, starting } from '../refusals.ts';
import type { RouteParts } from '../route-parts.ts';
import { count, text, texts } from './facts.ts';
import { type JsonRoute, jsonContent, routeOf } from './route.ts';

const outcomeAnswer = z
  .strictObject({
    result: z
      .enum(commandResults)
      .describe(
        'planned: a dry run, nothing was done. done: done, and read back. no_change: there was nothing to do. changed: the situation has changed since the plan, nothing was done. failed: not done, or not all of it. invalid: the request names something unknown, or makes no sense.',
      ),
    messages: texts.describe('Sentences.'),
    plan: text.optional().describe('Of a dry run, and when the situation changed: what to agree to.'),
    counts: z
      .record(text, count)
      .optional()
      .describe('Of a plan whose messages name only some ("and 3 more"): how many there are of each kind.'),
  })
  .meta({ id: 'operation_outcome', description: 'What an operation did.' });

function outcomeJson(outcome: CommandOutcome) {
  return jsonOf(outcomeAnswer, outcome);
}

const outcomes = {
  200: {
    description:
      '`planned`: a dry run, nothing was done. `done`: done, and read back where a mailbox was changed. `no_change`: there was nothing to do.',
    content: jsonContent(outcomeAnswer),
  },
  409: {
    description:
      '`changed`: the situation has changed since the plan, and nothing was done. `failed`: not done, or not all of it; the messages say why.',
    content: jsonContent(outcomeAnswer),
  },
};

const statusOf: Readonly<Record<CommandResult, 200 | 409 | 422>> = {
  planned: 200,
  done: 200,
  no_change: 200,
  changed: 409,
  failed: 409,
  invalid: 422,
};

type OperationsRouteParts = Pick<RouteParts, 'auth' | 'operate'>;

const noTokens =
  'This daemon has no tokens, and without them it accepts only a reload over HTTP. Run the command without --url on the machine of the daemon, use the page, or configure server.auth.tokens.';

/**
 * Runs an operation and responds with its outcome. Refuses requests of web pages, which could post with a browser's
 * remembered password, and content types other than JSON, because some browsers do not name the page.
 */
function operationRoute(name: OperationName): JsonRoute<OperationsRouteParts> {
  const shape = operationShapes[name];
  return routeOf({
    route: `POST /api/operations/${name}`,
    id: name.replace(/-(\w)/g, (_all, letter: string) => letter.toUpperCase()),
    tag: 'operations',
    summary: shape.meta()?.title ?? '',
    description: shape.description ?? '',
    access: 'operator',
    query: {},
    body: shape,
    answers: {
      ...outcomes,
      422: {
        description: '`invalid`: the request names something unknown, or makes no sense.',
        content: jsonContent(outcomeAnswer),
      },
    },
    handle: async (c, { auth, operate }) => {
      const nameOf = name === 'reload' ? reloaderOf : operatorOf;
      const by = nameOf(auth(), c.req.header('authorization'));
      if (by === null) return refuse(c, 'not_allowed', auth() === 'none' ? noTokens : operatorsOnly);
      if (isFromAnyPage(c)) return refuse(c, 'not_allowed', 'A web page may not send commands.');
      if (!c.req.header('content-type')?.startsWith('application/json')) {
        return refuse(c, 'not_json', 'Send a JSON object with content-type application/json.');
      }
      const body = await jsonBodyOf(c);
      if ('refused' in body) return body.refused;
      const { json } = body;
      if (!isObject(json)) return refuse(c, 'bad_request', 'The body is JSON, but not an object. Send a JSON object.');
      const open = operate();
      if (!open) return refuse(c, 'starting', starting);
      // A `by` that is no text stays, for the operation to refuse.
      const named = shape.shape.by.safeParse(json['by']).success && { by };
      const outcome = await open(name, { ...json, ...named }).catch(failure);
      return c.json(outcomeJson(outcome), statusOf[outcome.result]);
    },
  });
}

const reloadRoute: JsonRoute<OperationsRouteParts> = routeOf({
  route: 'POST /-/reload',
  id: 'reloadConfiguration',
  tag: 'operations',
  summary: 'Reload, without a body',
  description:
    'Reloads the configuration. Without tokens every client that the server answers may reload, here and with `POST /api/operations/reload`, because a reload changes only what the file says. Requests from web pages are refused.',
  access: 'operator',
  query: {
    dry_run: means('Only say what would change.', oneOf('true', 'false')),
    force: means(
      'Also accept a file that removes more than 20% of the mailboxes, or every channel except recipes.',
      oneOf('true', 'false'),
    ),
  },
  answers: { ...outcomes, 200: { description: 'The file was accepted.', content: jsonContent(outcomeAnswer) } },
  handle: async (c, { auth, operate }, { force, dry_run: dryRun }) => {
    const by = reloaderOf(auth(), c.req.header('authorization'));
    if (by === null) return refuse(c, 'not_allowed', 'Only a token with the role operator may reload.');
    if (isFromAnyPage(c)) return refuse(c, 'not_allowed', 'A web page may not reload the configuration.');
    const open = operate();
    if (!open) return refuse(c, 'starting', starting);
    const outcome = await open('reload', { by, force: force === 'true', dry_run: dryRun === 'true' }).catch(failure);
    return c.json(outcomeJson(outcome), succeeded(outcome) ? 200 : 409);
  },
});

export const operationRoutes: readonly JsonRoute<OperationsRouteParts>[] = [
  ...operationNames.map(operationRoute),
  reloadRoute,
];
