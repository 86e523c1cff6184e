// The forms of a recipe: what it is run with, and the mailboxes that an applied run will change, before it does.
import { html } from 'hono/html';
import type { Parameter, Recipe, RowPage, Run } from '../../../core/recipe.ts';
import { counted } from '../../../core/wording/phrases.ts';
import { formTokenField } from '../layout.ts';
import { recipePath, rowsTable, runPath } from '../recipes-page.ts';
import { type Markup, prose, text } from './elements.ts';

/** In front of a parameter's name in the form: no recipe can take the names of its other fields. */
export const parameterPrefix = 'parameter.';

export interface RunFormParts {
  readonly recipe: Recipe;
  /** What the reader gave for each parameter so far. */
  readonly given: Readonly<Record<string, string>>;
  /** Sentences about it. */
  readonly problems: readonly string[];
  readonly formToken: string;
}

export function runForm({ recipe, given, problems, formToken }: RunFormParts): Markup {
  const { id, title, description, parameters, operation } = recipe;
  const dry = html`<p>This is a dry run: it changes nothing, and shows what Warmwarden would do with each mailbox.</p>`;
  return html`<nav class="crumbs" aria-label="Where you are"><a href="/recipes">Recipes</a> › <a href="${recipePath(id)}">${text(title)}</a></nav>
<section class="panel command" aria-labelledby="command"><h1 id="command">Run “${text(title)}”</h1>
<p>${text(description)}</p>${operation === null ? '' : dry}
${problems.map((problem) => html`<p class="bad" role="alert">${prose(problem)}</p>`)}
<form method="post" action="${recipePath(id)}"><input type="hidden" name="${formTokenField}" value="${formToken}">
${parameters.map((parameter) => parameterField(parameter, given[parameter.name]))}
<p class="line"><button class="primary" type="submit">${operation === null ? 'Run' : 'Show the effect'}</button> <a href="${recipePath(id)}">Cancel</a></p></form>
</section>`;
}

function parameterField(parameter: Parameter, given: string | undefined): Markup {
  const { name, description, required } = parameter;
  const id = `field-${name}`;
  const value = given ?? (parameter.default === null ? '' : String(parameter.default));
  const common = html`id="${id}" name="${parameterPrefix}${name}" aria-describedby="${id}-hint"${required ? html` required` : ''}`;
  return html`<p class="field"><label for="${id}">${name}</label> ${control(parameter, value, common)} <small id="${id}-hint">${text(description)}</small></p>`;
}

function control({ type, oneOf, minimum, maximum, required }: Parameter, value: string, common: Markup): Markup {
  const words = type === 'boolean' ? ['true', 'false'] : oneOf;
  if (words !== null) {
    const option = (word: string) => html`<option${word === value ? html` selected` : ''}>${text(word)}</option>`;
    return html`<select ${common}>${required && value !== '' ? '' : html`<option value=""></option>`}${words.map(option)}</select>`;
  }
  if (type === 'string')
    return html`<input type="text" value="${value}" maxlength="1000" autocomplete="off" ${common}>`;
  const limit = (name: string, at: number | null) => (at === null ? '' : html` ${name}="${at}"`);
  return html`<input type="number" step="${type === 'integer' ? '1' : 'any'}" value="${value}"${limit('min', minimum)}${limit('max', maximum)} autocomplete="off" ${common}>`;
}

export interface ApplyFormParts {
  readonly recipe: Recipe;
  /** The dry run that is agreed to: its first rows. */
  readonly planned: RowPage;
  /** A sentence; null: nothing is wrong. */
  readonly problem: string | null;
  readonly formToken: string;
}

export function applyForm({ recipe, planned, problem, formToken }: ApplyFormParts): Markup {
  const { run, rows } = planned;
  const left = run.rowCount - rows.length;
  const more = html`<p class="muted">${counted(left, 'more row is', 'more rows are')} on the page of the <a href="${runPath(run.id)}?offset=${rows.length}">dry run</a>.</p>`;
  return html`<nav class="crumbs" aria-label="Where you are"><a href="${runPath(run.id)}">Back to the dry run</a></nav>
<section class="panel command" aria-labelledby="command"><h1 id="command">Carry out “${text(recipe.title)}”</h1>
${problem === null ? '' : html`<p class="bad" role="alert">${prose(problem)}</p>`}
<p>Warmwarden will do this with each mailbox whose outcome is “planned”, and with no other. It looks at each mailbox again first.</p>
<form method="post" action="${runPath(run.id)}"><input type="hidden" name="${formTokenField}" value="${formToken}"><input type="hidden" name="do" value="apply">
<p class="line"><button class="primary" type="submit">Carry it out</button> <a href="${runPath(run.id)}">Cancel</a></p></form>
</section>
<section class="panel" aria-labelledby="effect"><h2 id="effect">What will happen</h2>${rowsTable(run.columns, rows)}${left > 0 ? more : ''}</section>`;
}

export interface CancelFormParts {
  readonly recipe: Recipe;
  readonly run: Run;
  readonly formToken: string;
}

export function cancelForm({ recipe, run, formToken }: CancelFormParts): Markup {
  return html`<nav class="crumbs" aria-label="Where you are"><a href="${runPath(run.id)}">Back to the run</a></nav>
<section class="panel command" aria-labelledby="command"><h1 id="command">Cancel the run of “${text(recipe.title)}”</h1>
<p>Warmwarden ends the run. What the run has changed stays changed.</p>
<form method="post" action="${runPath(run.id)}"><input type="hidden" name="${formTokenField}" value="${formToken}"><input type="hidden" name="do" value="cancel">
<p class="line"><button class="primary" type="submit">Cancel the run</button> <a href="${runPath(run.id)}">Back</a></p></form>
</section>`;
}
