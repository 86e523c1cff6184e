// Pages of the recipes: each recipe with its runs, and each run with its rows.
import { html } from 'hono/html';
import {
  hasEnded,
  type Parameter,
  type Recipe,
  type RecipeList,
  type Row,
  type Run,
  type RunStatus,
} from '../../core/recipe.ts';
import type { EpochMs } from '../../core/time.ts';
import { counted, numberText } from '../../core/wording/phrases.ts';
import type { RecipeRunner } from '../../recipes/runner.ts';
import { whole } from '../query.ts';
import { type CommandField, fieldMarkup } from './command-page.ts';
import { formTokenField } from './layout.ts';
import { type PageRequest, pageAt, type View } from './page-route.ts';
import { ago, type Markup, text } from './parts/elements.ts';

const tones: Readonly<Record<RunStatus, string>> = {
  queued: 'waiting',
  running: 'waiting',
  succeeded: 'confirmed',
  failed: 'critical',
  cancelled: 'none',
};

export const recipesPage = pageAt('/recipes', {}, async ({ recipes }) => recipesView(await recipes.service.list()));

function recipesView({ recipes, broken }: RecipeList): View {
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

async function recipeOf(service: Pick<RecipeRunner, 'list'>, wanted: string): Promise<Recipe | null> {
  const { recipes } = await service.list();
  return recipes.find(({ id }) => id === wanted) ?? null;
}

const runsShown = 30;

export const recipePage = pageAt('/recipes/:id', {}, async ({ world, recipes: { service } }, _asked, request) => {
  const recipe = await recipeOf(service, request.names['id'] ?? '');
  if (!recipe) return { refused: 'not_found', message: 'There is no recipe with this id.' };
  const found = await service.runsOf(recipe.id, runsShown);
  const runs = 'refused' in found ? [] : found;
  const now = world.clock.now();
  const parameters = recipe.parameters.map(
    ({ name, type, description, required, default: standsIn }) =>
      html`<div><dt><code>${name}</code> <small>${type}</small></dt><dd>${text(description)} <small>${required ? 'required' : `default ${JSON.stringify(standsIn)}`}</small></dd></div>`,
  );
  const items = runs.map((run) => runItem(run, now));
  const body = html`<nav class="crumbs" aria-label="Where you are"><a href="/recipes">Recipes</a></nav>
<section class="headline acted" aria-label="Recipe"><p class="line">${kindBadge(recipe)}</p><h1>${text(recipe.title)}</h1>
<p>${text(recipe.description)}</p>${scheduleLine(recipe)}
<p class="muted">In a terminal: <code>warmwarden recipes run ${text(recipe.id)}</code></p></section>
${runForm(recipe, request)}
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

export const runPage = pageAt('/runs/:id', runParameters, async ({ world, recipes: { service } }, asked, request) => {
  const page = await service.rows(request.names['id'] ?? '', { offset: asked.offset ?? 0, limit: rowsShown });
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
${commandForm(run, recipe, request)}
<section class="panel" aria-labelledby="rows-heading"><h2 id="rows-heading">Rows <small>${rows.length === 0 ? '' : html`from ${numberText(offset + 1)} on`}</small></h2>
${rows.length === 0 ? html`<p class="muted">No rows${run.endedAt === null ? ' yet' : ''}.</p>` : html`${rowsTable(run.columns, rows)}${more}`}</section>`;
  return { title: `${run.recipe} · Warmwarden`, body, isMoving: !hasEnded(run) };
});

function runFacts(run: Run, recipe: Recipe | null, now: EpochMs): Markup {
  const download = (kind: string, name: string) =>
    html`<a href="${runPath(run.id)}/rows.${kind}" download>Download as ${name}</a>`;
  return html`<section class="headline ${run.status === 'failed' ? 'alarm' : 'acted'}" aria-label="Run">
<p class="line" role="status"><span class="badge ${tones[run.status]}">${run.status}</span> <span class="muted">by ${text(run.by)} ${ago(run.createdAt, now)}</span></p>
<h1>${text(recipe?.title ?? run.recipe)}: ${counted(run.rowCount, 'row')}</h1>
${run.error === null ? '' : html`<p class="bad">${text(run.error)}</p>`}
${run.truncated ? html`<p class="bad">There were more rows than a run keeps: the rest is missing.</p>` : ''}
<p class="muted">Parameters: <code>${text(JSON.stringify(run.parameters))}</code>${run.apply ? '. Its operation was carried out.' : '. Nothing was changed.'}</p>
<p class="line">${download('csv', 'CSV')} ${download('json', 'JSON')}</p></section>`;
}

// Forms: one starts a dry run; an operator's carries out what it showed, or ends a run.

/** Prefix of a parameter's name in the form: no recipe can collide with the form's other fields. */
export const parameterPrefix = 'parameter.';

function runForm({ id, parameters, operation }: Recipe, { query, formToken }: PageRequest): Markup {
  const fields = parameters.map((one) => fieldMarkup(parameterField(one, query.get(parameterPrefix + one.name))));
  const dry = html`<p>This is a dry run: it changes nothing, and shows what Warmwarden would do with each mailbox.</p>`;
  return html`<section class="panel command" aria-labelledby="run"><h2 id="run">Run it</h2>${operation !== null && dry}
<form method="post" action="${recipePath(id)}"><input type="hidden" name="${formTokenField}" value="${formToken()}">${fields}
<p><button class="primary" type="submit">${operation === null ? 'Run' : 'Show the effect'}</button></p></form></section>`;
}

function parameterField(parameter: Parameter, given: string | null): CommandField {
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

/** Form that ends the run, or carries out what a dry run showed. */
function commandForm(run: Run, recipe: Recipe | null, { formToken }: PageRequest): Markup | string {
  const form = (command: 'cancel' | 'apply', button: string, words: string) =>
    html`<form class="do panel" id="${command}" method="post" action="${runPath(run.id)}"><input type="hidden" name="do" value="${command}"><input type="hidden" name="${formTokenField}" value="${formToken()}">
<p>${words}</p><p><button type="submit">${button}</button></p></form>`;
  if (!hasEnded(run)) return form('cancel', 'Cancel the run', 'What the run has changed stays changed.');
  const isPlan = recipe !== null && recipe.operation !== null && run.status === 'succeeded' && !run.apply;
  const applies =
    'Warmwarden will do this with each mailbox whose outcome is “planned”, and with no other. It looks at each mailbox again first.';
  return isPlan && run.rowCount > 0 ? form('apply', 'Carry it out', applies) : '';
}
