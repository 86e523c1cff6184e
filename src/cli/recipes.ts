// `warmwarden recipes`: saved questions about the fleet, answered by the running daemon.
import { Command, InvalidArgumentError, Option } from 'commander';
import type { z } from 'zod';
import type { parametersSchema, Row } from '../core/recipe.ts';
import { sentence } from '../core/wording/explain.ts';
import { counted, visibleText } from '../core/wording/phrases.ts';
import type { runWithRowsShape } from '../recipes/shapes.ts';
import { systemClock } from '../world/world.ts';
import { findStore } from './configuration.ts';
import { addressOf, ask, isHttp, refusal } from './daemon.ts';
import { CommandError, exitFailed } from './errors.ts';
import { agrees, type ConfirmOptions, declined, mustBeConfirmed, withConfirmOptions } from './operations.ts';
import { type Answers, type ConfigOptions, configOption, jsonOption, printJson } from './options.ts';
import { printLines, tableLines } from './terminal.ts';

const lookEveryMs = 250;
const keyVariable = 'WARMWARDEN_API_KEY';

interface RecipesOptions extends ConfigOptions {
  readonly url?: string;
}
interface RunOptions extends RecipesOptions, ConfirmOptions {
  readonly param: Readonly<Record<string, string>>;
  readonly apply?: boolean;
  readonly csv?: boolean;
}
type AskRecipes = (
  path: string,
  asked?: { readonly body?: string; readonly headers?: Readonly<Record<string, string>> },
) => Promise<string>;
type RunAnswer = z.infer<typeof runWithRowsShape>;
type RecipeParameters = ReturnType<typeof parametersSchema>;

export function recipesCommand(): Command {
  const url = ['--url <url>', `a daemon elsewhere, as https://HOST; a recipe key is read from ${keyVariable}`] as const;
  const list = new Command('list')
    .description('list the recipes, and the recipe files that have mistakes')
    .addOption(configOption())
    .option(...url)
    .addOption(jsonOption())
    .action((options: RecipesOptions) => listRecipes(askerOf(options), options));
  const run = withConfirmOptions(new Command('run'))
    .description('run a recipe and print its rows')
    .argument('<recipe>', 'its id, as `recipes list` shows it')
    .addOption(
      new Option('--param <name=value>', 'a parameter; may be repeated').argParser(readParameter).default({}, 'none'),
    )
    .option('--apply', 'carry out the actions of the recipe, which are only planned otherwise')
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

/** Client of the daemon on the store, or of a remote one with a recipe key. */
function askerOf({ config, url }: RecipesOptions): AskRecipes {
  const elsewhere = url === undefined ? null : addressOf({ config, url });
  const key = process.env[keyVariable]?.trim() ?? '';
  if (elsewhere !== null && key === '') throw new CommandError('usage', `--url needs a recipe key in ${keyVariable}.`);
  const address = elsewhere !== null && isHttp(elsewhere) ? { ...elsewhere, token: key } : findStore(config);
  return async (path, asked = {}) => {
    const answer = await ask(address, { path: `/v1${path}`, ...asked });
    if (answer.status >= 200 && answer.status < 300) return answer.said;
    throw refusal(answer, keyVariable);
  };
}

async function listRecipes(ask: AskRecipes, { json = false }: RecipesOptions): Promise<void> {
  const answer = JSON.parse(await ask('/recipes')) as Answers['recipes list'];
  if (json) return void printJson('recipes list', answer);
  const { recipes, broken } = answer;
  const rows = recipes.map(({ id, title, operation, schedule, parameters }) => {
    const clock = schedule ? `${schedule.cron} ${schedule.time_zone}` : '';
    return {
      recipe: id,
      title,
      parameters: parametersText(parameters as RecipeParameters),
      does: operation ?? '',
      schedule: clock,
    };
  });
  printLines(tableOf(['recipe', 'title', 'parameters', 'does', 'schedule'], rows));
  for (const { problems } of broken) for (const problem of problems) process.stderr.write(`${visibleText(problem)}\n`);
}

/** Parameters as text, with optional ones in brackets: `mailbox [days]`. `schema`: a JSON Schema. */
function parametersText({ properties, required }: RecipeParameters): string {
  return Object.keys(properties)
    .map((name) => (required.includes(name) ? name : `[${name}]`))
    .join(' ');
}

/** Runs a recipe. Applies its action only to the mailboxes of the dry run that the person confirmed. */
async function runRecipe(ask: AskRecipes, id: string, options: RunOptions): Promise<void> {
  const { apply = false, yes = false, dryRun = false } = options;
  if (!apply || dryRun) return showRun(ask, await runOnce(ask, id, options, {}), options);
  mustBeConfirmed(options);
  if (yes) return showRun(ask, await runOnce(ask, id, options, { apply }), options);
  const planned = await runOnce(ask, id, options, {});
  const { rows } = planned;
  if (!rows.some(({ outcome }) => outcome === 'planned')) return showRun(ask, planned, options);
  if (!(await agrees(tableOf(planned.columns, rows)))) throw declined();
  await showRun(ask, await runOnce(ask, id, options, { apply, plan: planned.id }), options);
}

/** Starts a run, waits for its end, and returns it with all its rows. */
async function runOnce(
  ask: AskRecipes,
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
  ask: AskRecipes,
  run: RunAnswer,
  { json = false, csv = false, dryRun = false }: RunOptions,
): Promise<void> {
  const failed = run.status !== 'succeeded';
  if (failed) process.exitCode = exitFailed;
  if (json) return void printJson('recipes run', run);
  if (failed)
    process.stderr.write(`warmwarden: ${run.recipe} ${run.status}${run.error === null ? '' : `: ${run.error}`}\n`);
  if (csv) return void process.stdout.write(await ask(`/runs/${run.id}`, { headers: { accept: 'text/csv' } }));
  const { rows } = run;
  printLines(tableOf(run.columns, rows));
  const more = run.truncated ? ' There were more; a run keeps no more than these.' : '';
  const plan = rows.some(({ outcome }) => outcome === 'planned')
    ? ` Nothing was done: this was a dry run. To carry out the actions, add --apply${dryRun ? ' and leave out --dry-run' : ''}.`
    : '';
  process.stderr.write(`${sentence(counted(run.row_count, 'row'))}${more}${plan}\n`);
}

function tableOf(names: readonly string[], rows: readonly Row[]): readonly string[] {
  const titles = [...names.filter((name) => !isId(name)), ...names.filter(isId)];
  const numbers = names.filter((name) => rows.some((row) => typeof row[name] === 'number'));
  const cells = rows.map((row) =>
    titles.map((name) => {
      const cell = row[name] ?? '-';
      return typeof cell === 'number' ? String(Number(cell.toFixed(4))) : cell;
    }),
  );
  return tableLines({ titles, rows: cells, numbers });
}

/** True for an identifier. Identifiers are the last columns, since people read the others. */
function isId(name: string): boolean {
  return name === 'id' || name.endsWith('_id');
}
