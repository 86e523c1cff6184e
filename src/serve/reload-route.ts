// POST /-/reload: loads the configuration again, for those who may operate.
import type { Hono } from 'hono';
import { type CommandOutcome, type ReloadRequest, succeeded } from '../model/operator-command.ts';
import { failed } from '../operator/plan.ts';
import { type Auth, operatorOf } from './auth.ts';

export interface ReloadRouteParts {
  /** In force at present: a reload may change it. */
  readonly auth: () => Auth;
  readonly reload: (request: ReloadRequest) => Promise<CommandOutcome>;
}

/** 200 when it was taken, 409 when it was refused, each with sentences. Query: dry_run and force, each `true`. */
export function addReload(app: Hono, { auth, reload }: ReloadRouteParts): void {
  app.post('/-/reload', async (c) => {
    // Where nobody needs a token, everybody who gets through may reload: it changes nothing that the file does not say.
    const operator = operatorOf(auth(), c.req.header('authorization'));
    const by = auth() === 'none' ? 'somebody over HTTP' : operator;
    if (by === null) return c.json(failed('Only a token with the role operator may reload.'), 403);
    // A browser says where a page comes from. No page of ours sends this request, so it is another site's.
    if (c.req.header('origin') !== undefined || c.req.header('sec-fetch-site') !== undefined)
      return c.json(failed('A web page may not reload the configuration.'), 403);
    const { force, dry_run: dryRun } = c.req.query();
    const outcome = await reload({ by, force: force === 'true', dryRun: dryRun === 'true' });
    return c.json(outcome, succeeded(outcome) ? 200 : 409);
  });
}
