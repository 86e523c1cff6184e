// POST /api/operations/NAME: what the socket beside the store takes, for a token that may operate.
import type { Hono } from 'hono';
import type { DaemonCommands } from '../model/operator-command.ts';
import { answerCommand, refusal } from '../operator/command-requests.ts';
import { type Auth, operatorOf } from './auth.ts';

export interface OperationsRouteParts {
  /** In force at present: a reload may change it. */
  readonly auth: () => Auth;
  /** null while the daemon is starting. */
  readonly commands: () => DaemonCommands | null;
}

/**
 * 200 when it was done, 409 when not, each with sentences. Never without tokens: then the socket is the way. A body that
 * is not JSON is refused, so that no page elsewhere can post here with a browser's remembered password.
 */
export function addOperations(app: Hono, { auth, commands }: OperationsRouteParts): void {
  app.post('/api/operations/:name', async (c) => {
    const by = operatorOf(auth(), c.req.header('authorization'));
    if (by === null) return c.json(refusal('Only a token with the role operator has commands.'), 403);
    const json = c.req.header('content-type')?.startsWith('application/json');
    const request: unknown = json ? await c.req.json().catch(() => null) : null;
    if (typeof request !== 'object' || request === null) {
      return c.json(refusal('Send a JSON object with content-type application/json.'), 415);
    }
    const open = commands();
    if (!open) return c.json(refusal('The daemon is starting: ask again in a moment.'), 503);
    const outcome = await answerCommand(c.req.param('name'), { ...request, by }, open).catch(refusal);
    return c.json(outcome, outcome.done ? 200 : 409);
  });
}
