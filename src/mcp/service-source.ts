// The recipes of a service in this process, for the tool server: a run ends here at its own time limit.
import { hasEnded, type RecipeRefusal, type RecipeService, type Run } from '../model/recipe.ts';
import type { Said, ToolRun, ToolSource, Wait } from './source.ts';

/** Between two words on how far a run is. */
const tellEveryMs = 1_000;

/** `by`: whom the runs are recorded under; `role`: what the service lets them do. */
export function serviceSource(
  service: RecipeService,
  who: { readonly by: string; readonly role: 'viewer' | 'operator' },
): ToolSource {
  return {
    foreign: false,
    list: async () => {
      const { recipes, broken } = await service.list();
      const problems = broken.flatMap((one) => one.problems);
      return { ok: true, value: { recipes, problems } };
    },
    start: async (recipe, parameters, apply) => runOr(await service.start({ recipe, parameters, apply, ...who })),
    ended: (run, wait) => ended(service, run, wait),
    rows: async (id, cursor, limit) => {
      const offset = cursor === null ? 0 : /^\d{1,12}$/.test(cursor) ? Number(cursor) : null;
      if (offset === null) return { ok: false, said: ['cursor must be the next_cursor of an earlier answer.'] };
      const page = await service.rows(id, { offset, limit });
      if ('refused' in page) return { ok: false, said: page.said };
      const cursorAfter = (taken: number) =>
        taken < page.rows.length ? String(offset + taken) : page.nextOffset === null ? null : String(page.nextOffset);
      return { ok: true, value: { run: page.run, rows: page.rows, cursorAfter } };
    },
    cancel: async (run) => runOr(await service.cancel(run)),
  };
}

function runOr(outcome: Run | RecipeRefusal): Said<ToolRun> {
  return 'refused' in outcome ? { ok: false, said: outcome.said } : { ok: true, value: outcome };
}

async function ended(service: RecipeService, id: string, { signal, onProgress }: Wait): Promise<Said<ToolRun>> {
  for (;;) {
    const run = await service.ended(id, tellEveryMs, signal);
    if ('refused' in run || hasEnded(run) || signal.aborted) return runOr(run);
    onProgress(run);
  }
}
