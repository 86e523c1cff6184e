// The recipe routes below /v1, as they are described.
import { z } from 'zod';
import { recipeShape, runRequestShape, runShape, runWithRowsShape } from '../recipes/recipe-json.ts';
import { rowsParameters, runsParameters } from '../recipes/recipe-routes.ts';
import { type Described, inPath, inQuery } from './described.ts';

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
      type: 'application/json',
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
    parameters: [
      recipe,
      ...inQuery(runsParameters, {
        limit: 'How many runs at most; 50 when left out.',
        cursor: 'The `next_cursor` of the page before.',
      }),
    ],
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
    parameters: [
      run,
      ...inQuery(rowsParameters, {
        offset: 'The first row; 0 when left out.',
        limit: 'How many rows at most; all when left out.',
      }),
    ],
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
];
