// Posts of the forms on the pages of recipes: each starts a run, carries out what a dry run showed, or ends a run.
import type { Hono } from 'hono';
import { byOf, visitorOf } from '../access/access.ts';
import { ownFormOf } from '../access/sessions.ts';
import { parameterPrefix, runPath } from '../page/recipes-page.ts';
import { noQuery, operatorsOnly, refuse, refuseRecipe } from '../refusals.ts';
import type { RouteParts } from '../route-parts.ts';

export function addRunForms(
  app: Hono,
  { recipes: { service }, publicUrl }: Pick<RouteParts, 'recipes' | 'publicUrl'>,
): void {
  // A viewer may start a dry run, too.
  app.post('/recipes/:id', noQuery, async (c) => {
    const sent = await ownFormOf(c, publicUrl);
    if ('refused' in sent) return sent.refused;
    // An empty field counts as absent.
    const given = [...sent.form].filter(([name, value]) => name.startsWith(parameterPrefix) && value !== '');
    const parameters = Object.fromEntries(given.map(([name, value]) => [name.slice(parameterPrefix.length), value]));
    const role = visitorOf(c).mayOperate ? 'operator' : 'viewer';
    const run = await service.start({ recipe: c.req.param('id'), parameters, apply: false, by: byOf(c), role });
    return 'refused' in run ? refuseRecipe(c, run) : c.redirect(runPath(run.id), 303);
  });
  app.post('/runs/:id', noQuery, async (c) => {
    const sent = await ownFormOf(c, publicUrl);
    if ('refused' in sent) return sent.refused;
    if (!visitorOf(c).mayOperate) return refuse(c, 'not_allowed', operatorsOnly);
    const word = sent.form.get('do');
    if (word !== 'apply' && word !== 'cancel') return refuse(c, 'bad_request', 'The form names no command.');
    const plan = await service.run(c.req.param('id'));
    if ('refused' in plan) return refuseRecipe(c, plan);
    const { id, recipe, parameters } = plan;
    const applied = { recipe, parameters, apply: true, plan: id, by: byOf(c), role: 'operator' } as const;
    const run = word === 'cancel' ? await service.cancel(id) : await service.start(applied);
    return 'refused' in run ? refuseRecipe(c, run) : c.redirect(runPath(run.id), 303);
  });
}
