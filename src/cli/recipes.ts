// `warmwarden recipes`: the saved questions about the fleet, asked of the running daemon.
import { Command, InvalidArgumentError, Option } from 'commander';
import type { z } from 'zod';
import type { parametersSchema, Row } from '../core/recipe.ts';
import { sentence } from '../core/wording/explain.ts';
import { counted, visibleText } from '../core/wording/phrases.ts';
import type { brokenJson, recipeJson, runWithRowsShape } from '../recipes/shapes.ts';
import { systemClock } from '../world/world.ts';
import { agrees, type ConfirmOptions, declined, mustBeConfirmed, withConfirmOptions } from './confirm.ts';
import { configOption, type JsonOptions, jsonOption, printJson } from './options.ts';
import { addressOf, askSocket, isHttp, isNoPage, noneAt, noPageAt } from './sources/daemon-client.ts';
import { askUrl, type UrlAnswer } from './sources/daemon-url.ts';
import { findStore } from './sources/loading.ts';
import { SilentDaemonError } from './sources/sign-of-life.ts';
import { CommandError, type ErrorKind, exitFailed } from './terminal/command-error.ts';
import { screenColumns } from './terminal/outputs.ts';
import { type Column, tableText } from './terminal/table.ts';

const lookEveryMs = 250;
/** A column of text on a screen that is too narrow keeps so many letters. */
const leastLetters = 12;
const keyVariable = 'WARMWARDEN_API_KEY';

interface ListOptions extends JsonOptions {
  readonly config: string;
  readonly url?: string;
}
interface RunOptions extends ListOptions, ConfirmOptions {
  readonly param: Readonly<Record<string, string>>;
  readonly apply?: boolean;
  readonly csv?: boolean;
}
type Ask = (
  path: string,
  asked?: { readonly body?: string; readonly headers?: Readonly<Record<string, string>> },
) => Promise<string>;
type RunAnswer = z.infer<typeof runWithRowsShape>;

export function recipesCommand(): Command {
  const url = ['--url <url>', `a daemon elsewhere, as https://HOST; a recipe key is read from ${keyVariable}`] as const;
  const list = new Command('list')
    .description('list the recipes, and the recipe files that have mistakes')
    .addOption(configOption())
    .option(...url)
    .addOption(jsonOption())
    .action((options: ListOptions) => listRecipes(askerOf(options), options));
  const run = withConfirmOptions(new Command('run'))
    .description('run a recipe and print its rows')
    .argument('<recipe>', 'its id, as `recipes list` shows it')
    .addOption(
      new Option('--param <name=value>', 'a parameter, as `recipes list` names it; may be repeated')
        .argParser(readParameter)
        .default({}, 'none'),
    )
    .option('--apply', 'carry out the actions of the recipe after showing them; without --apply they are only planned')
    .addOption(configOption())
    .option(...url)
    .addOption(jsonOption())
    .option('--csv', 'print CSV, for spreadsheets')
    .action((id: string, options: RunOptions) => runRecipe(askerOf(options), id, options));
  return new Command('recipes')
    .description('list and run recipes: saved questions about the fleet')
    .addCommand(list)
    .addCommand(run);
}

function readParameter(text: string, before: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const equals = text.indexOf('=');
  if (equals < 1) throw new InvalidArgumentError('write it as name=value');
  return { ...before, [text.slice(0, equals)]: text.slice(equals + 1) };
}

/** Asks the daemon beside the store, or one elsewhere. */
function askerOf({ config, url }: ListOptions): Ask {
  if (url !== undefined) return askingUrl({ config, url });
  const place = findStore(config);
  return async (path, asked = {}) => textIn(await askSocket(place, { path: `/v1${path}`, ...asked }));
}

function askingUrl(options: ListOptions): Ask {
  const address = addressOf(options);
  const base = isHttp(address) ? address.url.replace(/\/+$/, '') : '';
  const key = process.env[keyVariable]?.trim() ?? '';
  if (key === '') throw new CommandError('usage', `--url needs a recipe key in ${keyVariable}.`);
  return async (path, { body, headers } = {}) => {
    const at = `/v1${path}`;
    const asked = { path: at, body, headers: { ...headers, authorization: `Bearer ${key}` } };
    const answer = await askUrl(base, asked).catch((error) => {
      throw error instanceof SilentDaemonError ? error : noneAt(base);
    });
    return textIn(answer, `${base}${at}`);
  };
}

const refusals: Readonly<Record<number, ErrorKind>> = {
  400: 'usage',
  401: 'unauthorized',
  403: 'unauthorized',
  404: 'unknown_name',
  422: 'usage',
};

/** Throws what the other side says when it refuses. */
function textIn({ status, said }: UrlAnswer, at: string | null = null): string {
  if (status >= 200 && status < 300) return said;
  const refusal = refusalIn(said);
  if (at !== null && isNoPage(refusal)) throw noPageAt(at);
  throw new CommandError(
    refusals[status] ?? 'failed',
    typeof refusal?.message === 'string' ? refusal.message : `The daemon answered ${status}.`,
  );
}

function refusalIn(text: string): { readonly message?: unknown } | null {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

interface RecipesAnswer {
  readonly recipes: readonly (Omit<ReturnType<typeof recipeJson>, 'parameters'> & {
    readonly parameters: ReturnType<typeof parametersSchema>;
  })[];
  readonly broken: readonly ReturnType<typeof brokenJson>[];
}

async function listRecipes(ask: Ask, { json = false }: ListOptions): Promise<void> {
  const answer = JSON.parse(await ask('/recipes')) as RecipesAnswer;
  if (json) return void printJson('recipes list', answer);
  const { recipes, broken } = answer;
  const rows = recipes.map(({ id, title, operation, schedule, parameters }) => {
    const clock = schedule ? `${schedule.cron} ${schedule.time_zone}` : '';
    return { recipe: id, title, parameters: parametersText(parameters), does: operation ?? '', schedule: clock };
  });
  print(tableOf(['recipe', 'title', 'parameters', 'does', 'schedule'], rows));
  for (const { problems } of broken) for (const problem of problems) process.stderr.write(`${visibleText(problem)}\n`);
}

/** `mailbox [days]`: what may be left out is in brackets. `schema`: a JSON Schema. */
function parametersText({ properties, required }: ReturnType<typeof parametersSchema>): string {
  return Object.keys(properties)
    .map((name) => (required.includes(name) ? name : `[${name}]`))
    .join(' ');
}

/** What the recipe says is done to the mailboxes of a dry run that was agreed to, and to no others. */
async function runRecipe(ask: Ask, id: string, options: RunOptions): Promise<void> {
  const { apply = false, yes = false, dryRun = false } = options;
  if (!apply || dryRun) return showRun(ask, await runOnce(ask, id, options, {}), options);
  mustBeConfirmed(options);
  if (yes) return showRun(ask, await runOnce(ask, id, options, { apply }), options);
  const planned = await runOnce(ask, id, options, {});
  const { rows } = planned;
  if (!rows.some(({ outcome }) => outcome === 'planned')) return showRun(ask, planned, options);
  if (!(await agrees([tableOf(planned.columns, rows).trimEnd()]))) throw declined();
  await showRun(ask, await runOnce(ask, id, options, { apply, plan: planned.id }), options);
}

/** Starts a run, waits for its end, and returns it with all its rows. */
async function runOnce(
  ask: Ask,
  id: string,
  { param: parameters }: RunOptions,
  how: { readonly apply?: boolean; readonly plan?: string },
): Promise<RunAnswer> {
  const body = JSON.stringify({ parameters, ...how });
  let run = JSON.parse(await ask(`/recipes/${encodeURIComponent(id)}/runs`, { body })) as RunAnswer;
  while (run.status === 'queued' || run.status === 'running') {
    await systemClock().sleep(lookEveryMs);
    run = JSON.parse(await ask(`/runs/${run.id}?limit=1`));
  }
  return JSON.parse(await ask(`/runs/${run.id}`));
}

async function showRun(
  ask: Ask,
  run: RunAnswer,
  { json = false, csv = false, dryRun = false }: RunOptions,
): Promise<void> {
  const failed = run.status !== 'succeeded';
  if (failed) process.exitCode = exitFailed;
  if (json) return void printJson('recipes run', run);
  if (failed)
    process.stderr.write(`warmwarden: ${run.recipe} ${run.status}${run.error === null ? '' : `: ${run.error}`}\n`);
  if (csv) return print(await ask(`/runs/${run.id}`, { headers: { accept: 'text/csv' } }));
  const { rows } = run;
  print(tableOf(run.columns, rows));
  const more = run.truncated ? ' There were more; a run keeps no more than these.' : '';
  const plan = rows.some(({ outcome }) => outcome === 'planned')
    ? ` Nothing was done: this was a dry run. To carry out the actions, add --apply${dryRun ? ' and leave out --dry-run' : ''}.`
    : '';
  process.stderr.write(`${sentence(counted(run.row_count, 'row'))}${more}${plan}\n`);
}

function tableOf(names: readonly string[], rows: readonly Row[]): string {
  const shown = [...names.filter((name) => !isId(name)), ...names.filter(isId)];
  const columns = shown.map((name): Column => {
    const numbers = rows.some((row) => typeof row[name] === 'number');
    return numbers || isId(name) ? { title: name, numbers } : { title: name, least: leastLetters };
  });
  const cells = rows.map((row) => shown.map((name) => cellText(row[name] ?? null)));
  return tableText(columns, cells, screenColumns());
}

/** Identifiers stand last: people read the rest. */
function isId(name: string): boolean {
  return name === 'id' || name.endsWith('_id');
}

function cellText(cell: Row[string]): string {
  return typeof cell === 'number' ? String(Number(cell.toFixed(4))) : (cell ?? '-');
}

function print(text: string): void {
  process.stdout.write(text);
}
