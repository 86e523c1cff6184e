// The recipe API over HTTP (docs/http-api.md): recipes, runs, rows as JSON or CSV.
import { type Context, Hono } from 'hono';
import { stream } from 'hono/streaming';
import { z } from 'zod';
import { type Cell, type KeyPlan, keyPlans, type Row, type RowPage } from '../../core/recipe.ts';
import { visibleText } from '../../core/wording/phrases.ts';
import { readRequest } from '../../operations/command-requests.ts';
import { userName } from '../../operations/socket.ts';
import type { RecipeRunner } from '../../recipes/runner.ts';
import {
  brokenJson,
  recipeJson,
  recipesShape,
  runJson,
  runRequestShape,
  runShape,
  runsShape,
  runWithRowsShape,
} from '../../recipes/shapes.ts';
import type { World } from '../../world/world.ts';
import { authenticate, isOwner } from '../access/auth.ts';
import { RateLimit, tooManyWrong, type WrongTokens } from '../access/rates.ts';
import { addRoutes, type JsonRoute, jsonContent, routeOf } from '../json/route.ts';
import { cursorOf, keyText, limitOf, means, pageOf, whole } from '../query.ts';
import { jsonBodyOf, refuse, refuseRecipe } from '../refusals.ts';

export interface Caller {
  readonly name: string;
  readonly role: 'viewer' | 'operator';
  readonly plan: KeyPlan | null;
}

export interface RecipeRouteParts {
  readonly service: RecipeRunner;
  readonly world: World;
  readonly callerOf: (authorization: string | undefined) => Caller | null;
}

export interface RecipeKey {
  readonly name: string;
  readonly sha256: string;
  readonly plan: KeyPlan;
  readonly role: Caller['role'];
}

/** Finds callers by the keys of the configuration, as Bearer tokens only. A reload may change the keys. */
export function callersOf(keys: () => readonly RecipeKey[]): RecipeRouteParts['callerOf'] {
  return (authorization) => (/^bearer\s/i.test(authorization ?? '') ? authenticate(keys(), authorization) : null);
}

declare module 'hono' {
  interface ContextVariableMap {
    /** Holder of the recipe key; set on the routes below /v1 only. */
    caller: Caller;
  }
}

const of = { tag: 'recipes', access: 'key' } as const;
const headers = {
  'X-RateLimit-Limit': 'Requests a minute.',
  'X-RateLimit-Remaining': 'How many of them are left.',
};
const recipeName = { id: 'The id of the recipe.' };
const runName = { id: 'The id of the run.' };

const listRecipes: JsonRoute<RecipeRouteParts> = routeOf({
  ...of,
  route: 'GET /v1/recipes',
  id: 'listRecipes',
  summary: 'Recipes',
  description: 'Each has a JSON Schema of its parameters. Also the files that could not be read.',
  query: {},
  answers: { 200: { description: 'All recipes.', headers, content: jsonContent(recipesShape) } },
  handle: async (c, { service }) => {
    const { recipes, broken } = await service.list();
    return c.json({ recipes: recipes.map(recipeJson), broken: broken.map(brokenJson) });
  },
});

const startRun: JsonRoute<RecipeRouteParts> = routeOf({
  ...of,
  route: 'POST /v1/recipes/:id/runs',
  id: 'startRun',
  summary: 'Start a run',
  description:
    'Two runs work at a time. Up to 100 wait, up to 25 of them with the same key. A run keeps at most 20,000 rows and 16 MiB, and then says `truncated`.',
  names: recipeName,
  query: {},
  body: runRequestShape.optional(),
  answers: {
    202: {
      description: 'The run was accepted.',
      headers: { ...headers, Location: 'The path of the run.' },
      content: jsonContent(runShape),
    },
  },
  handle: async (c, { service }) => {
    // An empty body is a run without parameters.
    const body = await jsonBodyOf(c, '{}');
    if ('refused' in body) return body.refused;
    const request = readRequest(runRequestShape, body.json);
    if ('wrong' in request) return refuse(c, 'bad_request', unreadableRun(request.wrong));
    const { name: by, role } = c.get('caller');
    const run = await service.start({ recipe: idIn(c), by, role, ...request.read });
    if ('refused' in run) return refuseRecipe(c, run);
    c.header('Location', `/v1/runs/${run.id}`);
    return c.json(runJson(run), 202);
  },
});

const listRuns: JsonRoute<RecipeRouteParts> = routeOf({
  ...of,
  route: 'GET /v1/recipes/:id/runs',
  id: 'listRuns',
  summary: 'Runs of a recipe',
  description: 'The newest first.',
  names: recipeName,
  query: { limit: limitOf('runs', 50, 500), cursor: cursorOf(z.int(), keyText) },
  answers: { 200: { description: 'Without rows.', headers, content: jsonContent(runsShape) } },
  handle: async (c, { service }, { limit, cursor }) => {
    const before = cursor ? { createdAt: cursor[0], id: cursor[1] } : null;
    const runs = await service.runsOf(idIn(c), limit + 1, before);
    if ('refused' in runs) return refuseRecipe(c, runs);
    const { rows, next } = pageOf(runs, ({ createdAt, id }) => [createdAt, id], limit);
    return c.json({ runs: rows.map(runJson), next_cursor: next });
  },
});

const getRun: JsonRoute<RecipeRouteParts> = routeOf({
  ...of,
  route: 'GET /v1/runs/:id',
  id: 'getRun',
  summary: 'Run with its rows',
  names: runName,
  query: {
    offset: { ...whole(0), usual: 0, meaning: 'The first row; 0 when left out.' },
    limit: means('How many rows at most; all when left out.', whole(1)),
  },
  answers: {
    200: {
      description: 'JSON, or CSV with `Accept: text/csv`.',
      headers,
      content: { ...jsonContent(runWithRowsShape), 'text/csv': z.string() },
    },
  },
  handle: async (c, { service }, { offset, limit = null }) => {
    const first = await service.rows(idIn(c), { offset, limit: Math.min(limit ?? rowsARead, rowsARead) });
    if ('refused' in first) return refuseRecipe(c, first);
    const kind = /\btext\/csv\b/.test(c.req.header('accept') ?? '') ? 'csv' : 'json';
    c.header('Vary', 'Accept');
    if (kind === 'csv') c.header('Content-Disposition', fileOf(first, kind));
    return streamOf(c, kind, kind === 'csv' ? csvOf(service, first, limit) : jsonOf(service, first, limit));
  },
});

function fileOf({ run }: RowPage, kind: 'csv' | 'json'): string {
  return `attachment; filename="${run.recipe}-${run.id}.${kind}"`;
}

function streamOf(c: Context, kind: 'csv' | 'json', pieces: AsyncGenerator<string>) {
  c.header('Content-Type', kind === 'csv' ? 'text/csv; charset=utf-8' : 'application/json');
  return stream(c, async (out) => {
    for await (const piece of pieces) await out.write(piece);
  });
}

const cancelRun: JsonRoute<RecipeRouteParts> = routeOf({
  ...of,
  route: 'POST /v1/runs/:id/cancel',
  id: 'cancelRun',
  summary: 'Cancel a run',
  description: "What the run has changed stays changed. Ending another key's run needs the role operator.",
  names: runName,
  query: {},
  answers: { 200: { description: 'The run as it is now.', headers, content: jsonContent(runShape) } },
  handle: async (c, { service }) => {
    const { name, role } = c.get('caller');
    const run = await service.run(idIn(c));
    if ('refused' in run) return refuseRecipe(c, run);
    if (role !== 'operator' && run.by !== name) return refuse(c, 'not_allowed', othersRun);
    const cancelled = await service.cancel(run.id);
    return 'refused' in cancelled ? refuseRecipe(c, cancelled) : c.json(runJson(cancelled));
  },
});

const othersRun = "Only a key with the role operator may cancel another key's run; this key has the role viewer.";

export const recipeRoutes = [listRecipes, startRun, listRuns, getRun, cancelRun] as const;

export const downloadRoutes: readonly JsonRoute<Pick<RecipeRouteParts, 'service'>>[] = (
  [
    ['csv', 'downloadCsv', { 'text/csv': z.string() }, csvOf],
    ['json', 'downloadJson', jsonContent(runWithRowsShape), jsonOf],
  ] as const
).map(([kind, id, content, pieces]) =>
  routeOf({
    route: `GET /runs/:id/rows.${kind}`,
    id,
    tag: 'recipes',
    summary: `Download rows as ${kind.toUpperCase()}`,
    description: 'All rows of a run. Needs a token or a session instead of a recipe key.',
    access: 'viewer',
    names: runName,
    query: {},
    answers: {
      200: { description: 'The rows.', content, headers: { 'Content-Disposition': 'The name of the file.' } },
    },
    handle: async (c, { service }) => {
      const first = await service.rows(idIn(c), { offset: 0, limit: rowsARead });
      if ('refused' in first) return refuse(c, 'not_found', first.said.join(' '));
      c.header('Content-Disposition', fileOf(first, kind));
      return streamOf(c, kind, pieces(service, first, null));
    },
  }),
);

/** Routes below /v1. `wrongTokens` slows down guesses. */
export function createRecipeRoutes(parts: RecipeRouteParts, wrongTokens: WrongTokens): Hono {
  const app = new Hono();
  addGate(app, parts, wrongTokens);
  addRoutes(app, recipeRoutes, () => parts);
  app.notFound((c) => refuse(c, 'not_found', 'No resource has this address; /openapi.json lists them all.'));
  app.onError((error, c) => {
    parts.world.log.error({ err: error, path: c.req.path }, 'a request for a recipe could not be answered');
    return refuse(c, 'failed', 'Internal error. The log says why.');
  });
  return app;
}

function addGate(app: Hono, { callerOf, world }: RecipeRouteParts, wrongTokens: WrongTokens): void {
  const rates = new RateLimit();
  app.use('/v1/*', async (c, next) => {
    const owner = isOwner(c) ? { name: userName(), role: 'operator' as const, plan: null } : null;
    const caller = owner ?? callerOf(c.req.header('authorization'));
    if (caller === null) {
      // Guesses count only as Bearer: a browser sends the page's token as Basic by itself.
      const isWrong = /^bearer\b/i.test(c.req.header('authorization') ?? '');
      const waitSeconds = isWrong ? wrongTokens.note(c.get('client').address) : 0;
      if (waitSeconds > 0) {
        c.header('Retry-After', String(waitSeconds));
        return refuse(c, 'rate_limited', tooManyWrong(waitSeconds));
      }
      c.header('WWW-Authenticate', 'Bearer realm="Warmwarden recipes"');
      return refuse(
        c,
        'unauthorized',
        'Unauthorized: send a key as Bearer. `warmwarden token new NAME --recipe-key` makes one.',
      );
    }
    c.set('caller', caller);
    if (caller.plan === null) return next();
    const limit = keyPlans[caller.plan];
    const { remaining, waitSeconds } = rates.take(caller.name, limit, world.clock.monotonic());
    c.header('X-RateLimit-Limit', String(limit));
    c.header('X-RateLimit-Remaining', String(remaining));
    if (waitSeconds === 0) return next();
    c.header('Retry-After', String(waitSeconds));
    const said = `The plan ${caller.plan} allows ${limit} requests a minute: try again in ${waitSeconds} s.`;
    return refuse(c, 'rate_limited', said);
  });
}

function idIn(c: Context): string {
  return c.req.param('id') ?? '';
}

function unreadableRun(wrong: string): string {
  return `The request cannot be read: ${wrong}. It takes {"parameters": {...}, "apply": true or false, "plan": the id of a dry run}.`;
}

// Rows of a run as text: CSV (RFC 4180) in which a spreadsheet computes nothing, or JSON of the recipe API.

/** Beginning of a text that a spreadsheet takes for a formula, with full-width forms. */
const formulaStart = /^[\s;]*[=+\-@|%＝＋－＠﹢﹣﹦﹫−]|^[\t\r\n]/;
/** Formula behind a semicolon, which begins a cell in countries with a decimal comma. */
const formulaBehindSemicolon = /;(?=\s*[=+\-@＝＋－＠﹢﹣﹦﹫−])/g;

export function csvLine(cells: readonly Cell[]): string {
  return `${cells.map(csvCell).join(',')}\r\n`;
}

/** Puts an apostrophe before a formula: spreadsheets then show it as text. */
function csvCell(cell: Cell): string {
  if (cell === null) return '';
  if (typeof cell === 'number') return String(cell);
  const begun = formulaStart.test(cell) ? `'${cell}` : cell;
  const inert = visibleText(begun.replace(formulaBehindSemicolon, ";'"));
  return /[",\r\n]/.test(inert) ? `"${inert.replaceAll('"', '""')}"` : inert;
}

const rowsARead = 500;

/** Reads page by page, so that the memory never holds all rows of a run. `limit` is null for all rows. */
async function* pagesFrom(service: RecipeRunner, first: RowPage, limit: number | null): AsyncGenerator<RowPage> {
  let page = first;
  let left = limit ?? Number.POSITIVE_INFINITY;
  for (;;) {
    yield page;
    left -= page.rows.length;
    if (page.nextOffset === null || left <= 0) return;
    const next = await service.rows(first.run.id, { offset: page.nextOffset, limit: Math.min(left, rowsARead) });
    if ('refused' in next) return;
    page = next;
  }
}

async function* csvOf(service: RecipeRunner, first: RowPage, limit: number | null): AsyncGenerator<string> {
  yield csvLine(first.run.columns);
  for await (const { run, rows } of pagesFrom(service, first, limit))
    yield rows.map((row) => csvLine(run.columns.map((name) => row[name] ?? null))).join('');
}

/** Writes one object: the run, its `rows`, and in `next` the path of the rows after them. */
async function* jsonOf(service: RecipeRunner, first: RowPage, limit: number | null): AsyncGenerator<string> {
  yield `${JSON.stringify(runJson(first.run)).slice(0, -1)},"rows":[`;
  let next: number | null = null;
  let written = 0;
  for await (const page of pagesFrom(service, first, limit)) {
    const rows = page.rows.map((row: Row) => JSON.stringify(row)).join(',');
    if (rows !== '') yield written > 0 ? `,${rows}` : rows;
    written += page.rows.length;
    next = page.nextOffset;
  }
  const path =
    next === null ? null : `/v1/runs/${first.run.id}?offset=${next}${limit === null ? '' : `&limit=${limit}`}`;
  yield `],"next":${JSON.stringify(path)}}`;
}
