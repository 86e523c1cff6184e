// `warmwarden recipes`: the saved questions about the fleet, asked of the running daemon, or of its store when none runs.
import { Command, InvalidArgumentError } from 'commander';
import { Agent, fetch as fetchOver } from 'undici';
import type { Row } from '../model/recipe.ts';
import { daemonListens } from '../operator/daemon-client.ts';
import { socketPathOf } from '../operator/socket.ts';
import { userName } from '../operator/user-name.ts';
import type { recipeJson, runJson } from '../serve/recipes/recipe-json.ts';
import { createRecipeRoutes } from '../serve/recipes/recipe-routes.ts';
import { Ledger } from '../store/ledger.ts';
import { visibleText } from '../wording/visible-text.ts';
import { systemClock, worldOn } from '../world.ts';
import { agrees, type ConfirmOptions, declined, mayAsk, needsYes, withConfirmOptions } from './confirm.ts';
import { exitFailed } from './exit-codes.ts';
import { findPlaces, findStore } from './loading.ts';
import { openOfflineRecipes } from './offline-recipes.ts';
import { report } from './send-command.ts';

const lookEveryMs = 250;
/** A longer text in a cell is cut on the terminal; --json and --csv have all of it. */
const cellLetters = 60;

interface ListOptions {
  readonly config: string;
  readonly json?: boolean;
}
interface RunOptions extends ListOptions, ConfirmOptions {
  readonly param: Readonly<Record<string, string>>;
  readonly apply?: boolean;
  readonly csv?: boolean;
}
type Ask = (
  path: string,
  init?: { method?: string; body?: string; headers?: Record<string, string> },
) => Promise<string>;
type RunAnswer = ReturnType<typeof runJson> & { readonly rows: readonly Row[] };

export function recipesCommand(): Command {
  const config = ['--config <file>', 'the configuration of the daemon', 'config.yaml'] as const;
  const list = new Command('list')
    .description('every recipe, and the files that are none')
    .option(...config)
    .option('--json', 'for programs')
    .action((options: ListOptions) => asking(options.config, (ask) => listRecipes(ask, options)));
  const run = withConfirmOptions(new Command('run'))
    .description('run a recipe and print its rows')
    .argument('<id>', 'the recipe')
    .option('--param <name=value>', 'a parameter; may be repeated', readParameter, {})
    .option('--apply', 'do what the recipe says, after showing it; without --apply it is only planned')
    .option(...config)
    .option('--json', 'for programs')
    .option('--csv', 'for spreadsheets')
    .action((id: string, options: RunOptions) => asking(options.config, (ask) => runRecipe(ask, id, options)));
  return new Command('recipes').description('saved questions about the fleet').addCommand(list).addCommand(run);
}

function readParameter(text: string, before: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const equals = text.indexOf('=');
  if (equals < 1) throw new InvalidArgumentError('write it as name=value');
  return { ...before, [text.slice(0, equals)]: text.slice(equals + 1) };
}

/** Gives `work` somebody to ask: the daemon over its socket, or the same routes over the store alone. */
async function asking(file: string, work: (ask: Ask) => Promise<void>): Promise<void> {
  const places = findPlaces(file);
  if (!places) return;
  if (await daemonListens(places.storePath)) {
    const dispatcher = new Agent({ connect: { socketPath: socketPathOf(places.storePath) } });
    try {
      await work(async (path, init = {}) =>
        textOf(await fetchOver(`http://daemon/v1${path}`, { ...init, dispatcher })),
      );
    } finally {
      await dispatcher.destroy();
    }
    return;
  }
  const world = worldOn(systemClock(), { level: 'silent', format: 'json' });
  const runner = openOfflineRecipes(places, world);
  const owner = { name: userName(), role: 'operator' as const, plan: null };
  const app = createRecipeRoutes({ service: runner.service, world, callerOf: () => owner }, null);
  try {
    await work(async (path, init = {}) => textOf(await app.request(`/v1${path}`, init)));
  } finally {
    await runner.close();
  }
}

/** Throws what the other side says when it refuses. */
async function textOf(answer: { readonly ok: boolean; text(): Promise<string> }): Promise<string> {
  const text = await answer.text();
  if (answer.ok) return text;
  throw new Error(JSON.parse(text).message);
}

async function listRecipes(ask: Ask, { json = false }: ListOptions): Promise<void> {
  const text = await ask('/recipes');
  if (json) return print(`${JSON.stringify(JSON.parse(text), null, 2)}\n`);
  const { recipes, broken } = JSON.parse(text) as {
    recipes: readonly ReturnType<typeof recipeJson>[];
    broken: readonly { readonly problems: readonly string[] }[];
  };
  const rows = recipes.map(({ id, title, operation, schedule }) => {
    const clock = schedule ? `${schedule.cron} ${schedule.time_zone}` : '';
    return { recipe: id, title, does: operation ?? '', schedule: clock };
  });
  print(tableOf(['recipe', 'title', 'does', 'schedule'], rows));
  for (const { problems } of broken) for (const problem of problems) process.stderr.write(`${visibleText(problem)}\n`);
}

/** Rows come from a store. The ledger says what is wrong with the store when there is none, or none that can be read. */
async function sureOfStore(file: string): Promise<void> {
  const store = findStore(file);
  if (store !== null) await Ledger.open(store).close();
}

/** What the recipe says is done to the mailboxes of a dry run that was agreed to, and to no others. */
async function runRecipe(ask: Ask, id: string, options: RunOptions): Promise<void> {
  await sureOfStore(options.config);
  const { apply = false, yes = false, dryRun = false } = options;
  if (!apply || dryRun) return showRun(ask, await runOnce(ask, id, options, {}), options);
  if (!mayAsk(options)) return report(needsYes, options);
  if (yes) return showRun(ask, await runOnce(ask, id, options, { apply }), options);
  const planned = await runOnce(ask, id, options, {});
  const { rows } = planned;
  if (!rows.some(({ outcome }) => outcome === 'planned')) return showRun(ask, planned, options);
  if (!(await agrees([tableOf(planned.columns, rows).trimEnd()]))) return report(declined, options);
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
  let run = JSON.parse(await ask(`/recipes/${encodeURIComponent(id)}/runs`, { method: 'POST', body })) as RunAnswer;
  while (run.status === 'queued' || run.status === 'running') {
    await systemClock().sleep(lookEveryMs);
    run = JSON.parse(await ask(`/runs/${run.id}?limit=1`));
  }
  return JSON.parse(await ask(`/runs/${run.id}`));
}

async function showRun(ask: Ask, run: RunAnswer, { json = false, csv = false }: RunOptions): Promise<void> {
  if (run.status !== 'succeeded') {
    process.stderr.write(`warmwarden: ${run.recipe} ${run.status}${run.error === null ? '' : `: ${run.error}`}\n`);
    process.exitCode = exitFailed;
  }
  if (csv) return print(await ask(`/runs/${run.id}`, { headers: { accept: 'text/csv' } }));
  if (json) return print(`${JSON.stringify(run, null, 2)}\n`);
  const { rows } = run;
  print(tableOf(run.columns, rows));
  const more = run.truncated ? ' There were more; a run keeps no more than these.' : '';
  const plan = rows.some(({ outcome }) => outcome === 'planned') ? ' Nothing was done: --apply does it.' : '';
  process.stderr.write(`${run.row_count} rows.${more}${plan}\n`);
}

function tableOf(columns: readonly string[], rows: readonly Row[]): string {
  const cells = [columns, ...rows.map((row) => columns.map((name) => cellText(row[name] ?? null)))];
  const widths = columns.map((_name, index) => Math.max(...cells.map((line) => line[index]?.length ?? 0)));
  const lines = cells.map((line) =>
    line
      .map((text, index) => text.padEnd(widths[index] ?? 0))
      .join('  ')
      .trimEnd(),
  );
  return `${lines.join('\n')}\n`;
}

function cellText(cell: Row[string]): string {
  const text = visibleText(typeof cell === 'number' ? String(Number(cell.toFixed(4))) : (cell ?? '-'));
  return text.length > cellLetters ? `${text.slice(0, cellLetters - 1)}…` : text;
}

function print(text: string): void {
  process.stdout.write(text);
}
