// POST /api/operations/NAME: what the socket beside the store takes, for a token that may operate.

import type { Hono } from 'hono';
import {
  type CommandOutcome,
  type CommandResult,
  type DaemonCommands,
  type ReloadRequest,
  succeeded,
} from '../core/operator-command.ts';
import { answerOperation, type OperationName, operationNames } from '../operations/command-requests.ts';
import { failure } from '../operations/plan.ts';
import { type Auth, operatorOf, reloaderOf } from './access/auth.ts';
import { isFromAnyPage } from './access/origin.ts';
import { outcomeJson } from './json/json-answers.ts';
import { oneOf, readQuery } from './query.ts';
import { bodyText, maxBodyBytes, noQuery, operatorsOnly, queryOf, refuse, senderOf } from './refusals.ts';

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

// POST /-/reload: loads the configuration again, for those who may operate.

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
