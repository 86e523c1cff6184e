// Recipes on the page: a form starts a dry run; an operator applies it, or cancels a run. Each of these needs a POST.
import type { Context, Hono } from 'hono';
import type { RecipeRefusal } from '../../core/recipe.ts';
import { byOf, framed, visitorOf } from '../access/access.ts';
import { formTokenFor, ownFormOf } from '../access/sessions.ts';
import { applyForm, cancelForm, parameterPrefix, recipeOf, runForm, runPath } from '../page/recipes-page.ts';
import { noQuery, operatorsOnly, queryOf, refuse, statusOfRefusal } from '../refusals.ts';
import type { RouteParts } from '../route-parts.ts';

type RecipePageParts = Pick<RouteParts, 'recipes' | 'publicUrl'>;

const rowsShown = 100;

export function addRunForms(app: Hono, parts: RecipePageParts): void {
  app.use('/recipes/:id', async (c, next) => {
    if (c.req.method !== 'GET' || queryOf(c).get('do') !== 'run') return next();
    return showRunForm(c, parts, givenIn(queryOf(c)), null);
  });
  app.post('/recipes/:id', noQuery, async (c) => {
    const sent = await ownFormOf(c, parts.publicUrl);
    return 'refused' in sent ? sent.refused : start(c, parts, givenIn(sent.form));
  });
  app.use('/runs/:id', async (c, next) => {
    const word = c.req.method === 'GET' ? queryOf(c).get('do') : null;
    if (word !== 'apply' && word !== 'cancel') return next();
    if (!visitorOf(c).mayOperate) return refuse(c, 'not_allowed', operatorsOnly);
    return showForm(c, parts, word, null);
  });
  app.post('/runs/:id', noQuery, async (c) => {
    const sent = await ownFormOf(c, parts.publicUrl);
    if ('refused' in sent) return sent.refused;
    if (!visitorOf(c).mayOperate) return refuse(c, 'not_allowed', operatorsOnly);
    const word = sent.form.get('do');
    if (word === 'apply') return apply(c, parts);
    if (word !== 'cancel') return refuse(c, 'bad_request', 'The form names no command.');
    const run = await parts.recipes.service.cancel(c.req.param('id') ?? '');
    return 'refused' in run ? refuse(c, 'not_found', run.said.join(' ')) : c.redirect(runPath(run.id), 303);
  });
}

type Given = Readonly<Record<string, string>>;

function givenIn(form: URLSearchParams): Given {
  const named = [...form].filter(([name]) => name.startsWith(parameterPrefix));
  return Object.fromEntries(named.map(([name, value]) => [name.slice(parameterPrefix.length), value]));
}

async function showRunForm(c: Context, { recipes }: RecipePageParts, given: Given, refusal: RecipeRefusal | null) {
  const recipe = await recipeOf(recipes.service, c.req.param('id') ?? '');
  if (!recipe) return refuse(c, 'not_found', 'There is no recipe with this id.');
  const form = runForm({ recipe, given, problems: refusal?.said ?? [], formToken: formTokenFor(c) });
  return c.html(framed(c, recipe.title, form), refusal ? statusOfRefusal(c, refusal) : 200);
}

/** Starts a dry run, which a viewer may do, too. An empty field counts as absent. */
async function start(c: Context, parts: RecipePageParts, given: Given) {
  const parameters = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== ''));
  const role = visitorOf(c).mayOperate ? 'operator' : 'viewer';
  const asked = { recipe: c.req.param('id') ?? '', parameters, apply: false, by: byOf(c), role } as const;
  const run = await parts.recipes.service.start(asked);
  return 'refused' in run ? showRunForm(c, parts, given, run) : c.redirect(runPath(run.id), 303);
}

async function showForm(
  c: Context,
  { recipes: { service } }: RecipePageParts,
  word: 'apply' | 'cancel',
  refusal: RecipeRefusal | null,
) {
  const planned = await service.rows(c.req.param('id') ?? '', { offset: 0, limit: rowsShown });
  if ('refused' in planned) return refuse(c, 'not_found', planned.said.join(' '));
  const recipe = await recipeOf(service, planned.run.recipe);
  if (!recipe) return refuse(c, 'not_found', 'The recipe of this run was removed.');
  const form = word === 'apply' ? applyForm : cancelForm;
  const page = form({ recipe, planned, problem: refusal?.said.join(' ') ?? null, formToken: formTokenFor(c) });
  return c.html(framed(c, recipe.title, page), refusal ? statusOfRefusal(c, refusal) : 200);
}

async function apply(c: Context, parts: RecipePageParts) {
  const { service } = parts.recipes;
  const plan = await service.run(c.req.param('id') ?? '');
  if ('refused' in plan) return refuse(c, 'not_found', plan.said.join(' '));
  const asked = { recipe: plan.recipe, parameters: plan.parameters, apply: true, plan: plan.id };
  const applied = await service.start({ ...asked, by: byOf(c), role: 'operator' });
  return 'refused' in applied ? showForm(c, parts, 'apply', applied) : c.redirect(runPath(applied.id), 303);
}
