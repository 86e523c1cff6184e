// The recipe API over HTTP (api/recipe-run-interface.md): recipes, runs, rows as JSON or CSV.

import { type Context, Hono } from 'hono';
import { stream } from 'hono/streaming';
import { z } from 'zod';
import type { RecipeRefusal, RecipeService } from '../../core/recipe.ts';
import { readRequest } from '../../operations/command-requests.ts';
import type { World } from '../../world/world.ts';
import { createAuthenticate } from '../access/auth.ts';
import { tooManyWrong, type WrongTokens } from '../access/wrong-tokens.ts';
import { type Described, inPath, inQuery } from '../json/route.ts';
import { cursorOf, limitOf, means, pageOf, readQuery, whole } from '../query.ts';
import { bodyText, maxBodyBytes, noQuery, queryOf } from '../refusals.ts';
import {
  brokenJson,
  csvOf,
  jsonOf,
  type RunRequest,
  recipeJson,
  recipeShape,
  rowsARead,
  runJson,
  runRequestShape,
  runShape,
  runWithRowsShape,
} from './recipe-json.ts';
import { type Plan, RateLimit, type RecipeRefusalWord, recipeRefusals, statusOf } from './recipe-refusals.ts';

export interface Caller {
  readonly name: string;
  readonly role: 'viewer' | 'operator';
  /** null: nobody counts. */
  readonly plan: Plan | null;
}

export interface RecipeRouteParts {
  readonly service: RecipeService;
  readonly world: World;
  /** Who asks, by the Authorization header; null: nobody that we know. */
  readonly callerOf: (authorization: string | undefined) => Caller | null;
}

// Callers are known by the keys of the configuration, as Bearer tokens only.

export interface RecipeKey {
  readonly name: string;
  readonly sha256: string;
  readonly plan: Plan;
  readonly role: Caller['role'];
}

/** `keys` is asked each time: a reload may bring others. A page's token, sent as Basic, opens nothing here. */
export function callersOf(keys: () => readonly RecipeKey[]): RecipeRouteParts['callerOf'] {
  let known = { keys: keys(), authenticate: createAuthenticate(keys()) };
  return (authorization) => {
    const now = keys();
    if (known.keys !== now) known = { keys: now, authenticate: createAuthenticate(now) };
    if (!/^bearer\s/i.test(authorization ?? '')) return null;
    return known.authenticate(authorization);
  };
}

type Env = { Variables: { caller: Caller } };

const runsParameters = { limit: limitOf('runs', 50, 500), cursor: cursorOf('whole', 'text') };

/** The routes below /v1. `wrongTokens` slows those who guess; null where everybody who gets here is known. */
export function createRecipeRoutes(parts: RecipeRouteParts, wrongTokens: WrongTokens | null): Hono<Env> {
  const { service } = parts;
  const app = new Hono<Env>().basePath('/v1');
  addGate(app, parts, wrongTokens);
  app.get('/recipes', noQuery, async (c) => {
    const { recipes, broken } = await service.list();
    return c.json({ recipes: recipes.map(recipeJson), broken: broken.map(brokenJson) });
  });
  app.post('/recipes/:id/runs', noQuery, async (c) => {
    const request = await runRequestOf(c);
    if ('wrong' in request) return refusal(c, 'bad_request', request.wrong);
    const { name: by, role } = c.get('caller');
    const run = await service.start({ recipe: c.req.param('id'), by, role, ...request });
    if ('refused' in run) return refused(c, run);
    c.header('Location', `/v1/runs/${run.id}`);
    return c.json(runJson(run), 202);
  });
  app.get('/recipes/:id/runs', async (c) => {
    const query = readQuery(runsParameters, queryOf(c));
    if ('wrong' in query) return refusal(c, 'bad_request', query.wrong);
    const { limit, cursor } = query.read;
    const before = cursor ? { createdAt: cursor[0], id: cursor[1] } : null;
    const runs = await service.runsOf(c.req.param('id'), limit + 1, before);
    if ('refused' in runs) return refused(c, runs);
    const { rows, next } = pageOf(runs, ({ createdAt, id }) => [createdAt, id], limit);
    return c.json({ runs: rows.map(runJson), next_cursor: next });
  });
  app.get('/runs/:id', (c) => answerRun(c, service));
  app.post('/runs/:id/cancel', noQuery, async (c) => {
    const id = c.req.param('id');
    const { name, role } = c.get('caller');
    const run = await service.run(id);
    if (!('refused' in run) && role !== 'operator' && run.by !== name) {
      return refusal(
        c,
        'not_allowed',
        "Only a key with the role operator may cancel another key's run; this key has the role viewer.",
      );
    }
    const cancelled = 'refused' in run ? run : await service.cancel(id);
    return 'refused' in cancelled ? refused(c, cancelled) : c.json(runJson(cancelled));
  });
  app.notFound((c) => refusal(c, 'not_found', 'No resource has this address; /openapi.json lists them all.'));
  app.onError((error, c) => {
    parts.world.log.error({ err: error, path: c.req.path }, 'a request for a recipe could not be answered');
    return refusal(c, 'failed', 'Internal error. The log says why.');
  });
  return app;
}

function addGate(app: Hono<Env>, { callerOf, world }: RecipeRouteParts, wrongTokens: WrongTokens | null): void {
  const rates = new RateLimit();
  app.use(async (c, next) => {
    const caller = callerOf(c.req.header('authorization'));
    if (caller === null) {
      // Only Bearer is a guess here: a browser sends the page's token as Basic by itself.
      const isWrong = /^bearer\b/i.test(c.req.header('authorization') ?? '');
      const waitSeconds = isWrong && wrongTokens ? await wrongTokens.slow(c.get('client').address) : null;
      if (waitSeconds !== null) {
        c.header('Retry-After', String(waitSeconds));
        return refusal(c, 'rate_limited', tooManyWrong(waitSeconds));
      }
      c.header('WWW-Authenticate', 'Bearer realm="Warmwarden recipes"');
      return refusal(
        c,
        'unauthorized',
        'Unauthorized: send a key as Bearer. `warmwarden token new NAME --recipe-key` makes one.',
      );
    }
    c.set('caller', caller);
    if (caller.plan === null) return next();
    const rate = rates.take(caller.name, caller.plan, world.clock.monotonic());
    c.header('X-RateLimit-Limit', String(rate.limit));
    c.header('X-RateLimit-Remaining', String(rate.remaining));
    if (rate.allowed) return next();
    c.header('Retry-After', String(rate.retryAfterSeconds));
    const said = `The plan ${caller.plan} allows ${rate.limit} requests a minute: try again in ${rate.retryAfterSeconds} s.`;
    return refusal(c, 'rate_limited', said);
  });
}

/** No body at all is a run without parameters. Whatever its Content-Type says, a body is JSON. */
async function runRequestOf(c: Context): Promise<RunRequest | { readonly wrong: string }> {
  const text = await bodyText(c.req.raw);
  if (text === null) return { wrong: `The body is larger than ${maxBodyBytes / 1_024} KiB.` };
  let body: unknown = {};
  try {
    if (text.trim() !== '') body = JSON.parse(text);
  } catch {
    return { wrong: 'The body is not valid JSON.' };
  }
  const request = readRequest(runRequestShape, body);
  if ('read' in request) return request.read;
  return {
    wrong: `The request cannot be read: ${request.wrong}. It takes {"parameters": {...}, "apply": true or false, "plan": the id of a dry run}.`,
  };
}

const rowsParameters = {
  offset: { ...whole(0), usual: 0, meaning: 'The first row; 0 when left out.' },
  limit: means('How many rows at most; all when left out.', whole(1)),
};

async function answerRun(c: Context<Env>, service: RecipeService) {
  const query = readQuery(rowsParameters, queryOf(c));
  if ('wrong' in query) return refusal(c, 'bad_request', query.wrong);
  const { offset, limit = null } = query.read;
  const id = c.req.param('id') ?? '';
  const first = await service.rows(id, { offset, limit: Math.min(limit ?? rowsARead, rowsARead) });
  if ('refused' in first) return refused(c, first);
  const csv = /\btext\/csv\b/.test(c.req.header('accept') ?? '');
  c.header('Vary', 'Accept');
  c.header('Content-Type', csv ? 'text/csv; charset=utf-8' : 'application/json');
  if (csv) c.header('Content-Disposition', `attachment; filename="${first.run.recipe}-${first.run.id}.csv"`);
  return stream(c, async (out) => {
    const pieces = csv ? csvOf(service, first, limit) : jsonOf(service, first, limit);
    for await (const piece of pieces) await out.write(piece);
  });
}

function refused(c: Context<Env>, why: RecipeRefusal) {
  return c.json({ error: why.refused, message: why.said.join(' ') }, statusOf(c, why));
}

function refusal(c: Context, error: RecipeRefusalWord, message: string) {
  return c.json({ error, message }, recipeRefusals[error].status);
}

const limits = {
  'X-RateLimit-Limit': 'Requests a minute.',
  'X-RateLimit-Remaining': 'How many of them are left.',
};
const json = (shape: z.ZodType) => ({ 'application/json': shape });
const of = { tag: 'recipes', access: 'key' } as const;
const recipe = inPath('id', 'The id of the recipe.');
const run = inPath('id', 'The id of the run.');

export const recipeRoutes: readonly Described[] = [
  {
    ...of,
    route: 'GET /v1/recipes',
    id: 'listRecipes',
    summary: 'The recipes, with a JSON Schema of the parameters of each, and the files that could not be read',
    answers: {
      200: {
        description: 'All recipes.',
        headers: limits,
        content: json(
          z.object({
            recipes: z.array(recipeShape),
            broken: z.array(z.object({ file: z.string(), problems: z.array(z.string()) })),
          }),
        ),
      },
    },
  },
  {
    ...of,
    route: 'POST /v1/recipes/{id}/runs',
    id: 'startRun',
    summary: 'Start a run',
    parameters: [recipe],
    body: {
      required: false,
      shape: runRequestShape,
      example: { parameters: { bounces: 3 } },
    },
    answers: {
      202: {
        description: 'The run was accepted.',
        headers: { ...limits, Location: 'The path of the run.' },
        content: json(runShape),
      },
    },
    refusals: ['bad_parameters', 'not_allowed', 'unknown_recipe', 'unknown_run', 'pruned', 'share_used', 'busy'],
  },
  {
    ...of,
    route: 'GET /v1/recipes/{id}/runs',
    id: 'listRuns',
    summary: 'The runs of a recipe, the newest first',
    parameters: [recipe, ...inQuery(runsParameters)],
    answers: {
      200: {
        description: 'Without rows.',
        headers: limits,
        content: json(z.object({ runs: z.array(runShape), next_cursor: z.string().nullable() })),
      },
    },
    refusals: ['unknown_recipe'],
  },
  {
    ...of,
    route: 'GET /v1/runs/{id}',
    id: 'getRun',
    summary: 'A run with its rows',
    parameters: [run, ...inQuery(rowsParameters)],
    answers: {
      200: {
        description: 'JSON, or CSV with `Accept: text/csv`.',
        headers: limits,
        content: { ...json(runWithRowsShape), 'text/csv': z.string() },
      },
    },
    refusals: ['unknown_run', 'pruned'],
  },
  {
    ...of,
    route: 'POST /v1/runs/{id}/cancel',
    id: 'cancelRun',
    summary: 'End a run; what it has changed stays changed',
    description: "Ending another key's run needs the role operator.",
    parameters: [run],
    answers: { 200: { description: 'The run as it is now.', headers: limits, content: json(runShape) } },
    refusals: ['not_allowed', 'unknown_run', 'pruned'],
  },
  ...(
    [
      ['csv', 'downloadCsv', { 'text/csv': z.string() }],
      ['json', 'downloadJson', json(runWithRowsShape)],
    ] as const
  ).map(
    ([kind, id, content]): Described => ({
      route: `GET /runs/{id}/rows.${kind}`,
      id,
      tag: 'recipes',
      summary: `All rows of a run, as a download in ${kind.toUpperCase()}, for a token or a session`,
      access: 'viewer',
      parameters: [run],
      answers: {
        200: { description: 'The rows.', content, headers: { 'Content-Disposition': 'The name of the file.' } },
      },
      refusals: ['bad_request', 'not_found'],
    }),
  ),
];
