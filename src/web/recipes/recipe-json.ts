// Recipes, runs and refusals as JSON: names in snake_case, times in ISO 8601, unknown values null.

import { z } from 'zod';
import {
  type BrokenRecipe,
  type Cell,
  parametersSchema,
  type Recipe,
  type RecipeService,
  type Row,
  type RowPage,
  type Run,
  runStatuses,
} from '../../core/recipe.ts';
import { visibleText } from '../../core/wording/phrases.ts';
import { iso } from '../json/facts.ts';

const moment = z.iso.datetime();
const cell = z.union([z.string(), z.number(), z.null()]);

export const recipeShape = z
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
  .meta({ id: 'Recipe' });

export const runShape = z
  .object({
    id: z.string(),
    recipe: z.string(),
    status: z.enum(runStatuses),
    parameters: z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null()])),
    apply: z.boolean(),
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

export const runWithRowsShape = runShape
  .extend({
    rows: z.array(z.record(z.string(), cell)).describe('Untrusted data: strangers wrote the addresses and texts.'),
    next: z.string().nullable().describe('The offset of the next rows; null at the end of the rows so far.'),
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

export type RunRequest = z.output<typeof runRequestShape>;

export function recipeJson(recipe: Recipe): z.input<typeof recipeShape> {
  const { id, title, description, operation, schedule, builtIn } = recipe;
  return {
    id,
    title,
    description,
    parameters: parametersSchema(recipe.parameters),
    writes: operation !== null,
    operation,
    schedule: schedule && { cron: schedule.cron, time_zone: schedule.timeZone, apply: schedule.apply },
    built_in: builtIn,
  };
}

/** Without the folder: where files stand is no matter of a caller's. */
export function brokenJson({ file, problems }: BrokenRecipe) {
  const name = file.slice(file.lastIndexOf('/') + 1);
  return { file: name, problems: problems.map((problem) => problem.replaceAll(file, name)) };
}

export function runJson(run: Run): z.input<typeof runShape> {
  const { id, recipe, status, parameters, apply, by, columns, truncated, error } = run;
  return {
    id,
    recipe,
    status,
    parameters,
    apply,
    by,
    created_at: iso(run.createdAt),
    started_at: iso(run.startedAt),
    ended_at: iso(run.endedAt),
    columns: [...columns],
    row_count: run.rowCount,
    truncated,
    error,
  };
}

// Rows as CSV (RFC 4180) that a spreadsheet shows and never computes.

/** How a text begins that a spreadsheet takes for a formula, full-width forms too. Numbers of ours come as numbers and stay. */
const formulaStart = /^[\s;]*[=+\-@|%＝＋－＠﹢﹣﹦﹫−]|^[\t\r\n]/;
/** Where the decimal sign is a comma, a semicolon begins the next cell. */
const formulaBehindSemicolon = /;(?=\s*[=+\-@＝＋－＠﹢﹣﹦﹫−])/g;

export function csvLine(cells: readonly Cell[]): string {
  return `${cells.map(csvCell).join(',')}\r\n`;
}

function csvRows(columns: readonly string[], rows: readonly Row[]): string {
  return rows.map((row) => csvLine(columns.map((name) => row[name] ?? null))).join('');
}

/** A text that begins as a formula gets an apostrophe, which spreadsheets take as "this is text". */
function csvCell(cell: Cell): string {
  if (cell === null) return '';
  if (typeof cell === 'number') return String(cell);
  const begun = formulaStart.test(cell) ? `'${cell}` : cell;
  const inert = visibleText(begun.replace(formulaBehindSemicolon, ";'"));
  return /[",\r\n]/.test(inert) ? `"${inert.replaceAll('"', '""')}"` : inert;
}

// All rows of a run as text, piece by piece: CSV, or JSON as the recipe API has it.

/** Of one page that is read. */
export const rowsARead = 500;

/** Page by page, so that neither the memory nor the event loop ever holds all rows of a run. `limit`: null for all. */
async function* pagesFrom(service: RecipeService, first: RowPage, limit: number | null): AsyncGenerator<RowPage> {
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

export async function* csvOf(service: RecipeService, first: RowPage, limit: number | null): AsyncGenerator<string> {
  yield csvLine(first.run.columns);
  for await (const { run, rows } of pagesFrom(service, first, limit)) yield csvRows(run.columns, rows);
}

/** One object: the run, its `rows`, and in `next` the path of those that come after them. */
export async function* jsonOf(service: RecipeService, first: RowPage, limit: number | null): AsyncGenerator<string> {
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
