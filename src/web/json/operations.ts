// POST /api/operations/NAME: the operations of the daemon's socket, for a token with the role operator.
import { z } from 'zod';
import { type CommandOutcome, type CommandResult, commandResults, failure } from '../../core/operator-command.ts';
import { type OperationName, operationNames, operationShapes } from '../../operations/command-requests.ts';
import { isObject, jsonOf } from '../../world/schema/json.ts';
import { isOwner, operatorOf, reloaderOf } from '../access/auth.ts';
import { isFromAnyPage } from '../access/sessions.ts';
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
  200: '`planned`: a dry run, nothing was done. `done`: done, and read back where a mailbox was changed. `no_change`: there was nothing to do.',
  409: '`changed`: the situation has changed since the plan, and nothing was done. `failed`: not done, or not all of it; the messages say why.',
  422: '`invalid`: the request names something unknown, or makes no sense.',
};
const answers = Object.fromEntries(
  Object.entries(outcomes).map(([status, description]) => [
    status,
    { description, content: jsonContent(outcomeAnswer) },
  ]),
);

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
    answers,
    handle: async (c, { auth, operate }) => {
      const nameOf = name === 'reload' ? reloaderOf : operatorOf;
      // Over the socket, the request itself says who asks.
      const by = isOwner(c) ? undefined : nameOf(auth(), c.req.header('authorization'));
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
      const named = by !== undefined && shape.shape.by.safeParse(json['by']).success && { by };
      const outcome = await open(name, { ...json, ...named }).catch(failure);
      return c.json(outcomeJson(outcome), statusOf[outcome.result]);
    },
  });
}

export const operationRoutes: readonly JsonRoute<OperationsRouteParts>[] = operationNames.map(operationRoute);
