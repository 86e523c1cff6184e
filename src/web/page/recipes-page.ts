// Pages of the recipes: each recipe with its runs, and each run with its rows.
import { html } from 'hono/html';
import {
  hasEnded,
  type Parameter,
  type Recipe,
  type RecipeList,
  type Row,
  type RowPage,
  type Run,
  type RunStatus,
} from '../../core/recipe.ts';
import type { EpochMs } from '../../core/time.ts';
import { counted, numberText } from '../../core/wording/phrases.ts';
import type { RecipeRunner } from '../../recipes/runner.ts';
import { whole } from '../query.ts';
import { type CommandField, fieldMarkup } from './command-page.ts';
import { formTokenField } from './layout.ts';
import { doLink } from './parts/command-links.ts';
import { ago, type Markup, prose, text } from './parts/elements.ts';
import { place, type View } from './place.ts';

const tones: Readonly<Record<RunStatus, string>> = {
  queued: 'waiting',
  running: 'waiting',
  succeeded: 'confirmed',
  failed: 'critical',
  cancelled: 'none',
};

export const recipesPlace = place('/recipes', {}, async ({ recipes }) => recipesPage(await recipes.service.list()));

function recipesPage({ recipes, broken }: RecipeList): View {
  const items = recipes.map(
    (
      recipe,
    ) => html`<li><p class="line"><strong><a href="${recipePath(recipe.id)}">${text(recipe.title)}</a></strong> ${kindBadge(recipe)}</p>
<p class="muted">${text(recipe.description)}</p>${scheduleLine(recipe)}</li>`,
  );
  const wrong = broken.map(
    ({ file, problems }) =>
      html`<li><p class="bad">${text(file)}</p>${problems.map((problem) => html`<p class="muted">${text(problem)}</p>`)}</li>`,
  );
  const body = html`<h1>Recipes</h1>
${wrong.length > 0 && html`<section class="panel" aria-labelledby="broken-recipes"><h2 id="broken-recipes">Files that are not valid recipes</h2><ul class="plain">${wrong}</ul></section>`}
<section class="panel" aria-label="Recipes">${items.length === 0 ? html`<p class="muted">There are no recipes.</p>` : html`<ul class="plain">${items}</ul>`}</section>`;
  return { title: 'Recipes · Warmwarden', body };
}

function recipePath(id: string): string {
  return `/recipes/${encodeURIComponent(id)}`;
}

function kindBadge({ operation }: Recipe): Markup {
  return operation === null
    ? html`<span class="badge none">read-only</span>`
    : html`<span class="badge warning">${operation}</span>`;
}

function scheduleLine({ schedule }: Recipe): Markup | string {
  if (schedule === null) return '';
  const does = schedule.apply ? ' and carries out its operation' : ', as a dry run';
  return html`<p class="muted">Runs on the schedule <code>${text(schedule.cron)}</code> (${text(schedule.timeZone)})${does}.</p>`;
}

export async function recipeOf(service: Pick<RecipeRunner, 'list'>, wanted: string): Promise<Recipe | null> {
  const { recipes } = await service.list();
  return recipes.find(({ id }) => id === wanted) ?? null;
}

const runsShown = 30;

export const recipePlace = place('/recipes/:id', {}, async ({ world, recipes: { service } }, _asked, { id = '' }) => {
  const recipe = await recipeOf(service, id);
  if (!recipe) return { refused: 'not_found', message: 'There is no recipe with this id.' };
  const found = await service.runsOf(recipe.id, runsShown);
  const runs = 'refused' in found ? [] : found;
  const { command } = world;
  const now = world.clock.now();
  const parameters = recipe.parameters.map(
    ({ name, type, description, required, default: standsIn }) =>
      html`<div><dt><code>${name}</code> <small>${type}</small></dt><dd>${text(description)} <small>${required ? 'required' : `default ${JSON.stringify(standsIn)}`}</small></dd></div>`,
  );
  const items = runs.map((run) => runItem(run, now));
  const body = html`<nav class="crumbs" aria-label="Where you are"><a href="/recipes">Recipes</a></nav>
<section class="headline acted" aria-label="Recipe"><p class="line">${kindBadge(recipe)}</p><h1>${text(recipe.title)}</h1>
<p>${text(recipe.description)}</p>${scheduleLine(recipe)}
<p class="line"><a href="${recipePath(recipe.id)}?do=run">Run it</a> <span class="muted">or in a terminal: <code>${command} recipes run ${text(recipe.id)}</code></span></p></section>
${parameters.length === 0 ? '' : html`<section class="panel" aria-labelledby="parameters"><h2 id="parameters">Parameters</h2><dl class="facts">${parameters}</dl></section>`}
<section class="panel" aria-labelledby="runs"><h2 id="runs">Runs</h2>
${items.length === 0 ? html`<p class="muted">None yet.</p>` : html`<ul class="plain">${items}</ul>`}</section>`;
  return { title: `${text(recipe.title)} · Warmwarden`, body, isMoving: runs.some((run) => !hasEnded(run)) };
});

function runItem(run: Run, now: EpochMs): Markup {
  return html`<li id="run-${run.id}"><p class="line"><span class="badge ${tones[run.status]}">${run.status}</span>
<a href="${runPath(run.id)}">${counted(run.rowCount, 'row')}</a> <span class="muted">by ${text(run.by)} ${ago(run.createdAt, now)}${run.apply ? ', applied' : ''}</span></p>
${run.error === null ? '' : html`<p class="bad">${text(run.error)}</p>`}</li>`;
}

export function runPath(id: string): string {
  return `/runs/${encodeURIComponent(id)}`;
}

/** Longest text of a cell: a wide SELECT of long texts must not make a page of megabytes. */
const maxCellCharacters = 200;

/** Table of rows. Texts come from other people, so they are cut and escaped. */
function rowsTable(columns: readonly string[], rows: readonly Row[]): Markup {
  const cell = (value: string | number | null | undefined) => {
    if (value === null || value === undefined) return html`<span class="muted">–</span>`;
    const shown = text(String(value));
    return html`${shown.length > maxCellCharacters ? `${shown.slice(0, maxCellCharacters)}…` : shown}`;
  };
  return html`<div class="rows" tabindex="0" role="region" aria-label="Rows of the run"><table><thead><tr>${columns.map((name) => html`<th scope="col">${text(name)}</th>`)}</tr></thead>
<tbody>${rows.map((row) => html`<tr>${columns.map((name) => html`<td>${cell(row[name])}</td>`)}</tr>`)}</tbody></table></div>`;
}

const rowsShown = 100;
const runParameters = { offset: whole(0) };

export const runPlace = place(
  '/runs/:id',
  runParameters,
  async ({ world, recipes: { service } }, asked, { id = '' }) => {
    const page = await service.rows(id, { offset: asked.offset ?? 0, limit: rowsShown });
    if ('refused' in page) return { refused: 'not_found', message: page.said.join(' ') };
    const recipe = await recipeOf(service, page.run.recipe);
    const now = world.clock.now();
    const { run, rows, offset, nextOffset } = page;
    const more =
      nextOffset === null
        ? ''
        : html`<nav class="pages" aria-label="Pages"><a href="${runPath(run.id)}?offset=${nextOffset}">Further rows →</a></nav>`;
    const body = html`<nav class="crumbs" aria-label="Where you are"><a href="/recipes">Recipes</a> › <a href="${recipePath(run.recipe)}">${text(recipe?.title ?? run.recipe)}</a></nav>
${runFacts(run, recipe, now)}
<section class="panel" aria-labelledby="rows-heading"><h2 id="rows-heading">Rows <small>${rows.length === 0 ? '' : html`from ${numberText(offset + 1)} on`}</small></h2>
${rows.length === 0 ? html`<p class="muted">No rows${run.endedAt === null ? ' yet' : ''}.</p>` : html`${rowsTable(run.columns, rows)}${more}`}</section>`;
    return { title: `${run.recipe} · Warmwarden`, body, isMoving: !hasEnded(run) };
  },
);

function runFacts(run: Run, recipe: Recipe | null, now: EpochMs): Markup {
  const download = (kind: string, name: string) =>
    html`<a href="${runPath(run.id)}/rows.${kind}" download>Download as ${name}</a>`;
  return html`<section class="headline ${run.status === 'failed' ? 'alarm' : 'acted'}" aria-label="Run">
<p class="line" role="status"><span class="badge ${tones[run.status]}">${run.status}</span> <span class="muted">by ${text(run.by)} ${ago(run.createdAt, now)}</span></p>
<h1>${text(recipe?.title ?? run.recipe)}: ${counted(run.rowCount, 'row')}</h1>
${run.error === null ? '' : html`<p class="bad">${text(run.error)}</p>`}
${run.truncated ? html`<p class="bad">There were more rows than a run keeps: the rest is missing.</p>` : ''}
<p class="muted">Parameters: <code>${text(JSON.stringify(run.parameters))}</code>${run.apply ? '. Its operation was carried out.' : '. Nothing was changed.'}</p>
<p class="line">${runLinks(run, recipe)}${download('csv', 'CSV')} ${download('json', 'JSON')}</p></section>`;
}

function runLinks(run: Run, recipe: Recipe | null): Markup | string {
  if (!hasEnded(run)) return doLink(`${runPath(run.id)}?do=cancel`, 'Cancel the run');
  const isPlan = recipe !== null && recipe.operation !== null && run.status === 'succeeded' && !run.apply;
  return isPlan && run.rowCount > 0 ? doLink(`${runPath(run.id)}?do=apply`, 'Carry it out') : '';
}

// Forms of a recipe: the parameters of a run, the mailboxes that an applied run will change, and the end of a run.

/** Prefix of a parameter's name in the form: no recipe can collide with the form's other fields. */
export const parameterPrefix = 'parameter.';

interface RecipeForm {
  readonly crumbs: Markup;
  readonly title: string;
  readonly body: Markup;
  readonly problems: readonly string[];
  readonly path: string;
  readonly fields: Markup | readonly Markup[];
  readonly button: string;
  readonly back?: string;
  readonly formToken: string;
}

function recipeForm({ crumbs, title, body, problems, path, fields, button, back, formToken }: RecipeForm): Markup {
  return html`<nav class="crumbs" aria-label="Where you are">${crumbs}</nav>
<section class="panel command" aria-labelledby="command"><h1 id="command">${text(title)}</h1>
${problems.map((problem) => html`<p class="bad" role="alert">${prose(problem)}</p>`)}
${body}
<form method="post" action="${path}"><input type="hidden" name="${formTokenField}" value="${formToken}">${fields}
<p class="line"><button class="primary" type="submit">${button}</button> <a href="${path}">${back ?? 'Cancel'}</a></p></form>
</section>`;
}

export interface RunFormParts {
  readonly recipe: Recipe;
  readonly given: Readonly<Record<string, string>>;
  readonly problems: readonly string[];
  readonly formToken: string;
}

export function runForm({ recipe, given, problems, formToken }: RunFormParts): Markup {
  const { id, title, description, parameters, operation } = recipe;
  const dry = html`<p>This is a dry run: it changes nothing, and shows what Warmwarden would do with each mailbox.</p>`;
  return recipeForm({
    crumbs: html`<a href="/recipes">Recipes</a> › <a href="${recipePath(id)}">${text(title)}</a>`,
    title: `Run “${title}”`,
    body: html`<p>${text(description)}</p>${operation !== null && dry}`,
    path: recipePath(id),
    fields: parameters.map((parameter) => fieldMarkup(parameterField(parameter, given[parameter.name]))),
    button: operation === null ? 'Run' : 'Show the effect',
    ...{ problems, formToken },
  });
}

function parameterField(parameter: Parameter, given: string | undefined): CommandField {
  const { name, description, required, type, minimum, maximum } = parameter;
  const options = type === 'boolean' ? ['true', 'false'] : parameter.oneOf;
  return {
    name: `${parameterPrefix}${name}`,
    label: name,
    value: given ?? (parameter.default === null ? '' : String(parameter.default)),
    kind: options !== null ? 'choice' : type === 'string' ? 'text' : 'number',
    options: options ?? [],
    hint: description,
    optional: !required,
    limits: { min: minimum, max: maximum, step: type === 'integer' ? '1' : 'any' },
  };
}

export interface PlanFormParts {
  readonly recipe: Recipe;
  readonly planned: RowPage;
  readonly problem: string | null;
  readonly formToken: string;
}

export function applyForm({ recipe, planned, problem, formToken }: PlanFormParts): Markup {
  const { run, rows } = planned;
  const left = run.rowCount - rows.length;
  const more = html`<p class="muted">${counted(left, 'more row is', 'more rows are')} on the page of the <a href="${runPath(run.id)}?offset=${rows.length}">dry run</a>.</p>`;
  const form = recipeForm({
    crumbs: html`<a href="${runPath(run.id)}">Back to the dry run</a>`,
    title: `Carry out “${recipe.title}”`,
    body: html`<p>Warmwarden will do this with each mailbox whose outcome is “planned”, and with no other. It looks at each mailbox again first.</p>`,
    problems: problem === null ? [] : [problem],
    path: runPath(run.id),
    fields: html`<input type="hidden" name="do" value="apply">`,
    button: 'Carry it out',
    formToken,
  });
  return html`${form}
<section class="panel" aria-labelledby="effect"><h2 id="effect">What will happen</h2>${rowsTable(run.columns, rows)}${left > 0 && more}</section>`;
}

export function cancelForm({ recipe, planned: { run }, formToken }: PlanFormParts): Markup {
  return recipeForm({
    crumbs: html`<a href="${runPath(run.id)}">Back to the run</a>`,
    title: `Cancel the run of “${recipe.title}”`,
    body: html`<p>Warmwarden ends the run. What the run has changed stays changed.</p>`,
    problems: [],
    path: runPath(run.id),
    fields: html`<input type="hidden" name="do" value="cancel">`,
    button: 'Cancel the run',
    back: 'Back',
    formToken,
  });
}
