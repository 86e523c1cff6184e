// The recipes: what each asks, with its runs; a run with its rows.
import { html } from 'hono/html';
import {
  hasEnded,
  type Recipe,
  type RecipeList,
  type Row,
  type RowPage,
  type Run,
  type RunStatus,
} from '../../core/recipe.ts';
import type { EpochMs } from '../../core/time.ts';
import { counted, numberText } from '../../core/wording/phrases.ts';
import { doLink } from './parts/command-links.ts';
import { ago, type Markup, text, type View } from './parts/elements.ts';

const tones: Readonly<Record<RunStatus, string>> = {
  queued: 'waiting',
  running: 'waiting',
  succeeded: 'confirmed',
  failed: 'critical',
  cancelled: 'none',
};

export function recipesPage({ recipes, broken }: RecipeList): View {
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
${html`${wrong.length === 0 ? '' : html`<section class="panel" aria-labelledby="broken-recipes"><h2 id="broken-recipes">Files that are not valid recipes</h2><ul class="plain">${wrong}</ul></section>`}
<section class="panel" aria-label="Recipes">${items.length === 0 ? html`<p class="muted">There are no recipes.</p>` : html`<ul class="plain">${items}</ul>`}</section>`}`;
  return { title: 'Recipes · Warmwarden', body };
}

export function recipePath(id: string): string {
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

export interface RecipePageParts {
  readonly recipe: Recipe;
  /** The newest first. */
  readonly runs: readonly Run[];
  readonly now: EpochMs;
  readonly command: string;
}

export function recipePage({ recipe, runs, now, command }: RecipePageParts): View {
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
}

function runItem(run: Run, now: EpochMs): Markup {
  return html`<li id="run-${run.id}"><p class="line"><span class="badge ${tones[run.status]}">${run.status}</span>
<a href="${runPath(run.id)}">${counted(run.rowCount, 'row')}</a> <span class="muted">by ${text(run.by)} ${ago(run.createdAt, now)}${run.apply ? ', applied' : ''}</span></p>
${run.error === null ? '' : html`<p class="bad">${text(run.error)}</p>`}</li>`;
}

export function runPath(id: string): string {
  return `/runs/${encodeURIComponent(id)}`;
}

/** A wide SELECT of long texts must not make a page of megabytes. */
const maxCellCharacters = 200;

/** Rows as strangers' texts go: cut, and never markup. */
export function rowsTable(columns: readonly string[], rows: readonly Row[]): Markup {
  const cell = (value: string | number | null | undefined) => {
    if (value === null || value === undefined) return html`<span class="muted">–</span>`;
    const shown = text(String(value));
    return html`${shown.length > maxCellCharacters ? `${shown.slice(0, maxCellCharacters)}…` : shown}`;
  };
  return html`<div class="rows" tabindex="0" role="region" aria-label="Rows of the run"><table><thead><tr>${columns.map((name) => html`<th scope="col">${text(name)}</th>`)}</tr></thead>
<tbody>${rows.map((row) => html`<tr>${columns.map((name) => html`<td>${cell(row[name])}</td>`)}</tr>`)}</tbody></table></div>`;
}

export interface RunPageParts {
  readonly page: RowPage;
  /** null: it was removed. */
  readonly recipe: Recipe | null;
  readonly now: EpochMs;
}

export function runPage({ page, recipe, now }: RunPageParts): View {
  const { run, rows, offset, nextOffset } = page;
  const more =
    nextOffset === null
      ? ''
      : html`<nav class="pages" aria-label="Pages"><a href="${runPath(run.id)}?offset=${nextOffset}">Further rows →</a></nav>`;
  const body = html`<nav class="crumbs" aria-label="Where you are"><a href="/recipes">Recipes</a> › <a href="${recipePath(run.recipe)}">${text(recipe?.title ?? run.recipe)}</a></nav>
${runFacts({ page, recipe, now })}
<section class="panel" aria-labelledby="rows-heading"><h2 id="rows-heading">Rows <small>${rows.length === 0 ? '' : html`from ${numberText(offset + 1)} on`}</small></h2>
${rows.length === 0 ? html`<p class="muted">No rows${run.endedAt === null ? ' yet' : ''}.</p>` : html`${rowsTable(run.columns, rows)}${more}`}</section>`;
  return { title: `${run.recipe} · Warmwarden`, body, isMoving: !hasEnded(run) };
}

function runFacts({ page: { run }, recipe, now }: RunPageParts): Markup {
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

/** A dry run that somebody may agree to, and a run that somebody may end. */
function runLinks(run: Run, recipe: Recipe | null): Markup | string {
  if (!hasEnded(run)) return doLink(`${runPath(run.id)}?do=cancel`, 'Cancel the run');
  const isPlan = recipe !== null && recipe.operation !== null && run.status === 'succeeded' && !run.apply;
  return isPlan && run.rowCount > 0 ? doLink(`${runPath(run.id)}?do=apply`, 'Carry it out') : '';
}
