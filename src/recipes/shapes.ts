// JSON of recipes and runs for the HTTP routes and the tool server. Unknown values are null.
import { z } from 'zod';
import { type BrokenRecipe, parametersSchema, type Recipe, type Run, runStatuses } from '../core/recipe.ts';
import { jsonOf } from '../world/schema/json.ts';

const moment = z.iso.datetime();
const cell = z.union([z.string(), z.number(), z.null()]);

const recipeShape = z
  .object({
    id: z.string().describe('Stable.'),
    title: z.string(),
    description: z.string(),
    parameters: z.record(z.string(), z.unknown()).describe('A JSON Schema of the parameters.'),
    writes: z.boolean().describe('Whether an applied run changes mailboxes.'),
    operation: z.string().nullable().describe('What an applied run does with the mailbox of each row.'),
    schedule: z.object({ cron: z.string(), time_zone: z.string(), apply: z.boolean() }).nullable(),
    built_in: z.boolean(),
  })
  .meta({ id: 'Recipe', description: 'A saved question about the fleet.' });

export const recipesShape = z.object({
  recipes: z.array(recipeShape),
  broken: z.array(z.object({ file: z.string(), problems: z.array(z.string()) })),
});

export const runShape = z
  .object({
    id: z.string(),
    recipe: z.string(),
    status: z.enum(runStatuses),
    parameters: z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null()])),
    apply: z.boolean().describe('Whether the run carries out the actions of the recipe; false: a dry run.'),
    by: z.string(),
    created_at: moment,
    started_at: moment.nullable(),
    ended_at: moment.nullable(),
    columns: z.array(z.string()),
    row_count: z.int().describe('Rows kept so far; grows while the run runs.'),
    truncated: z.boolean().describe('There were more rows than a run keeps.'),
    error: z.string().nullable().describe('Why it failed.'),
  })
  .meta({ id: 'Run' });

export const runsShape = z.object({ runs: z.array(runShape), next_cursor: z.string().nullable() });

export const runWithRowsShape = runShape
  .extend({
    rows: z.array(z.record(z.string(), cell)).describe('Untrusted data: strangers wrote the addresses and texts.'),
    next: z.string().nullable().describe('The path of the next rows; null at the end of the rows so far.'),
  })
  .meta({ id: 'RunWithRows' });

export const runRequestShape = z
  .strictObject({
    parameters: z.record(z.string(), z.unknown()).default({}),
    apply: z.boolean().default(false).describe('Carry out what the recipe says. Without it, the run is a dry run.'),
    plan: z
      .string()
      .nullable()
      .default(null)
      .describe('With apply: the id of a dry run of this recipe. Only the mailboxes that it named are changed.'),
  })
  .meta({ id: 'RunRequest' });

export function recipeJson(recipe: Recipe) {
  const { operation, parameters } = recipe;
  return jsonOf(recipeShape, { ...recipe, parameters: parametersSchema(parameters), writes: operation !== null });
}

/** Callers are not told where files are. */
export function brokenJson({ file, problems }: BrokenRecipe) {
  const name = file.slice(file.lastIndexOf('/') + 1);
  return { file: name, problems: problems.map((problem) => problem.replaceAll(file, name)) };
}

export function runJson(run: Run) {
  return jsonOf(runShape, run);
}

export const defaultRows = 100;
const maxRows = 1_000;

const runId = { error: 'run_id must be the run_id of an earlier answer.' };

export const cancelShape = z.strictObject({
  run_id: z.string(runId).min(1, runId).describe('The run_id of an earlier answer.'),
});

const rowLimit = { error: `limit must be a whole number from 1 to ${maxRows}.` };

export const followShape = cancelShape.extend({
  cursor: z
    .string({ error: 'cursor must be a next_cursor.' })
    .optional()
    .describe('The next_cursor of the answer before; without it, the first rows.'),
  limit: z
    .int(rowLimit)
    .min(1, rowLimit)
    .max(maxRows, rowLimit)
    .default(defaultRows)
    .describe('The maximum number of rows.'),
});

const { recipe, apply, row_count, truncated, error } = runShape.shape;

/** Answer of every tool. An unknown value is absent: a type with null in it is less portable between models. */
export const toolAnswerShape = z.object({
  note: z.string().describe('How to read the rows.'),
  run_id: z.string().describe('The run, for get_run.'),
  recipe: recipe.optional(),
  status: z.enum([...runStatuses, 'unknown']).describe('unknown: the service used another word.'),
  apply: apply.optional(),
  rows: z.array(z.looseObject({})).describe('One page of the output rows.'),
  row_count: row_count.optional(),
  next_cursor: z.string().optional().describe('More rows: get_run with this cursor. Absent: no more.'),
  truncated,
  error: error.unwrap().optional().describe('Why the run failed.'),
});
