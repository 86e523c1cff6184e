// POST /-/reload: takes the configuration anew, for those who may operate.
import type { Hono } from 'hono';
import type { HandOutcome, ReloadRequest } from '../model/hand.ts';
import { type Auth, createAuthenticate } from './auth.ts';

export interface ReloadRouteParts {
  /** In force at present: a reload may change it. */
  readonly auth: () => Auth;
  readonly reload: (request: ReloadRequest) => Promise<HandOutcome>;
}

/** 200 when it was taken, 409 when it was refused, each with sentences. Query: dry_run and force, each `true`. */
export function addReload(app: Hono, { auth, reload }: ReloadRouteParts): void {
  app.post('/-/reload', async (c) => {
    const by = operatorFor(auth(), c.req.header('authorization'));
    if (by === null) return c.json({ done: false, said: ['Only a token with the role operator may reload.'] }, 403);
    // A browser says where a page comes from: none of ours sends this, so it is a stranger's.
    if (c.req.header('origin') !== undefined)
      return c.json({ done: false, said: ['A web page may not reload the configuration.'] }, 403);
    const { force, dry_run: dryRun } = c.req.query();
    const outcome = await reload({ by, force: force === 'true', dryRun: dryRun === 'true' });
    return c.json(outcome, outcome.done ? 200 : 409);
  });
}

/** Who asks, when they may operate. Where nobody needs a token, everybody who gets through may. */
function operatorFor(auth: Auth, authorization: string | undefined): string | null {
  if (auth === 'none') return 'somebody over HTTP';
  const identity = createAuthenticate(auth.tokens)(authorization);
  return identity?.role === 'operator' ? identity.name : null;
}
