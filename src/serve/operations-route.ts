// POST /api/operations/NAME: what the socket beside the store takes, for a token that may operate.
import type { Hono } from 'hono';
import type { CommandResult, DaemonCommands } from '../model/operator-command.ts';
import { answerOperation } from '../operator/command-requests.ts';
import { failed, failure, invalid } from '../operator/plan.ts';
import { type Auth, operatorOf } from './auth.ts';
import { bodyText, maxBodyBytes } from './body-text.ts';

export interface OperationsRouteParts {
  /** In force at present: a reload may change it. */
  readonly auth: () => Auth;
  /** null while the daemon is starting. */
  readonly commands: () => DaemonCommands | null;
}

const statusOf: Readonly<Record<CommandResult, 200 | 409 | 422>> = {
  planned: 200,
  done: 200,
  no_change: 200,
  changed: 409,
  failed: 409,
  invalid: 422,
};

/**
 * Answers with the outcome. Never without tokens: then the socket is the way. Another content-type than JSON's is
 * refused, so that no page elsewhere can post here with a browser's remembered password.
 */
export function addOperations(app: Hono, { auth, commands }: OperationsRouteParts): void {
  app.post('/api/operations/:name', async (c) => {
    const by = operatorOf(auth(), c.req.header('authorization'));
    if (by === null) return c.json(failed('Only a token with the role operator may do this.'), 403);
    if (!c.req.header('content-type')?.startsWith('application/json')) {
      return c.json(failed('Send a JSON object with content-type application/json.'), 415);
    }
    const text = await bodyText(c.req.raw);
    if (text === null) return c.json(failed(`The request is larger than ${maxBodyBytes / 1_024} KiB.`), 413);
    const body = parsed(text);
    if (body === undefined) return c.json(invalid('The body is not JSON. Send a JSON object.'), 400);
    if (typeof body !== 'object' || body === null || Array.isArray(body)) {
      return c.json(invalid('The body is JSON, but not an object. Send a JSON object.'), 400);
    }
    const open = commands();
    if (!open) return c.json(failed('The daemon is starting. Try again in a moment.'), 503);
    const outcome = await answerOperation(c.req.param('name'), { ...body, by }, open).catch(failure);
    return c.json(outcome, statusOf[outcome.result]);
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
