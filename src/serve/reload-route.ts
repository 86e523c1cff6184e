// POST /-/reload: loads the configuration again, for those who may operate.
import type { Hono } from 'hono';
import { type Auth, reloaderOf } from '../access/auth.ts';
import { isFromAnyPage } from '../access/origin.ts';
import { type CommandOutcome, type ReloadRequest, succeeded } from '../model/operator-command.ts';
import { senderOf } from './form.ts';
import { outcomeJson } from './json/json-answers.ts';
import { oneOf, readQuery } from './query.ts';
import { queryOf, refuse } from './refusals.ts';

export interface ReloadRouteParts {
  /** In force at present: a reload may change it. */
  readonly auth: () => Auth;
  readonly reload: (request: ReloadRequest) => Promise<CommandOutcome>;
}

export const reloadParameters = { dry_run: oneOf('true', 'false'), force: oneOf('true', 'false') };

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
