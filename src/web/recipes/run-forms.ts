// Recipes on the page: a form starts a dry run; an operator applies it, or cancels a run. Each of these needs a POST.
import type { Context, Hono } from 'hono';
import type { RecipeRefusal } from '../../core/recipe.ts';
import { byOf, visitorOf } from '../access/access.ts';
import { formTokenFor, ownFormOf } from '../access/forms.ts';
import { layout } from '../page/layout.ts';
import type { Markup } from '../page/parts/elements.ts';
import { applyForm, cancelForm, parameterPrefix, recipeOf, runForm, runPath } from '../page/recipes-page.ts';
import { noQuery, operatorsOnly, queryOf, refuse, statusOfRefusal } from '../refusals.ts';
import type { RouteParts } from '../route-parts.ts';

type RecipePageParts = Pick<RouteParts, 'recipes' | 'publicUrl'>;

/** Number of rows of the plan on the form that applies it. */
const rowsShown = 100;

export function addRunForms(app: Hono, parts: RecipePageParts): void {
  app.use('/recipes/:id', async (c, next) => {
    if (c.req.method !== 'GET' || queryOf(c).get('do') !== 'run') return next();
    return showRunForm(c, parts, { given: givenIn(queryOf(c)), refusal: null });
  });
  app.post('/recipes/:id', noQuery, async (c) => {
    const sent = await ownFormOf(c, parts.publicUrl);
    return 'refused' in sent ? sent.refused : start(c, parts, sent.form);
  });
  app.use('/runs/:id', async (c, next) => {
    const word = c.req.method === 'GET' ? queryOf(c).get('do') : null;
    if (word !== 'apply' && word !== 'cancel') return next();
    if (!visitorOf(c).mayOperate) return refuse(c, 'not_allowed', operatorsOnly);
    return word === 'apply' ? showApply(c, parts, null) : showCancel(c, parts);
  });
  app.post('/runs/:id', noQuery, async (c) => {
    const sent = await ownFormOf(c, parts.publicUrl);
    if ('refused' in sent) return sent.refused;
    if (!visitorOf(c).mayOperate) return refuse(c, 'not_allowed', operatorsOnly);
    const word = sent.form.get('do');
    if (word === 'apply') return apply(c, parts);
    return word === 'cancel' ? cancel(c, parts) : refuse(c, 'bad_request', 'The form names no command.');
  });
}

type Given = Readonly<Record<string, string>>;

/** Parameters of a form by name. */
function givenIn(form: URLSearchParams): Given {
  const named = [...form].filter(([name]) => name.startsWith(parameterPrefix));
  return Object.fromEntries(named.map(([name, value]) => [name.slice(parameterPrefix.length), value]));
}

interface RunFormShown {
  readonly given: Given;
  readonly refusal: RecipeRefusal | null;
}

async function showRunForm(c: Context, { recipes: { service } }: RecipePageParts, { given, refusal }: RunFormShown) {
  const recipe = await recipeOf(service, c.req.param('id') ?? '');
  if (!recipe) return refuse(c, 'not_found', 'There is no recipe with this id.');
  const form = runForm({ recipe, given, problems: refusal?.said ?? [], formToken: formTokenFor(c) });
  return c.html(framed(c, recipe.title, form), refusal ? statusOfRefusal(c, refusal) : 200);
}

/** Starts a dry run, which a viewer may do, too. */
async function start(c: Context, parts: RecipePageParts, form: URLSearchParams) {
  const given = givenIn(form);
  // An empty field counts as absent.
  const parameters = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== ''));
  const asked = { recipe: c.req.param('id') ?? '', parameters, apply: false, by: byOf(c), role: roleOf(c) };
  const run = await parts.recipes.service.start(asked);
  return 'refused' in run ? showRunForm(c, parts, { given, refusal: run }) : c.redirect(runPath(run.id), 303);
}

/** Run of the address with its recipe, or the answer that refuses it. */
async function runOf(c: Context, { recipes: { service } }: RecipePageParts) {
  const page = await service.rows(c.req.param('id') ?? '', { offset: 0, limit: rowsShown });
  if ('refused' in page) return { refused: refuse(c, 'not_found', page.said.join(' ')) };
  const recipe = await recipeOf(service, page.run.recipe);
  return recipe ? { page, recipe } : { refused: refuse(c, 'not_found', 'The recipe of this run was removed.') };
}

async function showApply(c: Context, parts: RecipePageParts, refusal: RecipeRefusal | null) {
  const found = await runOf(c, parts);
  if ('refused' in found) return found.refused;
  const { page: planned, recipe } = found;
  const problem = refusal?.said.join(' ') ?? null;
  const form = applyForm({ recipe, planned, problem, formToken: formTokenFor(c) });
  return c.html(framed(c, recipe.title, form), refusal ? statusOfRefusal(c, refusal) : 200);
}

/** Applies the recipe to the mailboxes of the dry run. */
async function apply(c: Context, parts: RecipePageParts) {
  const found = await runOf(c, parts);
  if ('refused' in found) return found.refused;
  const { run } = found.page;
  const asked = { recipe: run.recipe, parameters: run.parameters, apply: true, plan: run.id };
  const applied = await parts.recipes.service.start({ ...asked, by: byOf(c), role: roleOf(c) });
  return 'refused' in applied ? showApply(c, parts, applied) : c.redirect(runPath(applied.id), 303);
}

async function showCancel(c: Context, parts: RecipePageParts) {
  const found = await runOf(c, parts);
  if ('refused' in found) return found.refused;
  const { page, recipe } = found;
  return c.html(framed(c, recipe.title, cancelForm({ recipe, run: page.run, formToken: formTokenFor(c) })));
}

/** Cancels a run. A run that has ended stays as it is. */
async function cancel(c: Context, { recipes: { service } }: RecipePageParts) {
  const run = await service.cancel(c.req.param('id') ?? '');
  return 'refused' in run ? refuse(c, 'not_found', run.said.join(' ')) : c.redirect(runPath(run.id), 303);
}

function roleOf(c: Context): 'viewer' | 'operator' {
  return visitorOf(c).mayOperate ? 'operator' : 'viewer';
}

function framed(c: Context, title: string, body: Markup): Markup {
  return layout({ title: `${title} · Warmwarden`, body, live: null, visitor: visitorOf(c) });
}
