// POST /api/hands/HAND: what the socket beside the store takes, for a token that may operate.
import type { Hono } from 'hono';
import type { DaemonHands } from '../model/hand.ts';
import { answerWish, refusal } from '../operator/wishes.ts';
import { type Auth, operatorOf } from './auth.ts';

export interface HandRouteParts {
  /** In force at present: a reload may change it. */
  readonly auth: () => Auth;
  /** null while the daemon is starting. */
  readonly hands: () => DaemonHands | null;
}

/**
 * 200 when it was done, 409 when not, each with sentences. Never without tokens: then the socket is the way. A body that
 * is not JSON is refused, so that no page elsewhere can post here with a browser's remembered password.
 */
export function addHands(app: Hono, { auth, hands }: HandRouteParts): void {
  app.post('/api/hands/:hand', async (c) => {
    const by = operatorOf(auth(), c.req.header('authorization'));
    if (by === null) return c.json(refusal('Only a token with the role operator has hands.'), 403);
    const json = c.req.header('content-type')?.startsWith('application/json');
    const wished: unknown = json ? await c.req.json().catch(() => null) : null;
    if (typeof wished !== 'object' || wished === null) {
      return c.json(refusal('A wish is a JSON object, with content-type application/json.'), 415);
    }
    const open = hands();
    if (!open) return c.json(refusal('The daemon is starting: ask again in a moment.'), 503);
    const outcome = await answerWish(c.req.param('hand'), { ...wished, by }, open).catch(refusal);
    return c.json(outcome, outcome.done ? 200 : 409);
  });
}
