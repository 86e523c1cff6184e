// The recipes of a service behind the recipe API, for the tool server: a daemon's own socket, or a service elsewhere.
import { operations } from '../model/recipe.ts';
import type { RecipeEntry, RunRecord } from '../recipe-api/answers.ts';
import type { RecipeApi } from '../recipe-api/client.ts';
import { followRun } from '../recipe-api/follow.ts';
import type { World } from '../world.ts';
import { handBackAfterMs, type ToolRecipe, type ToolRun, type ToolSource } from './source.ts';

/** `foreign`: the service is not this user's own daemon. */
export function apiSource(api: RecipeApi, options: { readonly foreign: boolean }, world: World): ToolSource {
  return {
    foreign: options.foreign,
    list: async () => {
      const list = await api.recipes();
      if (!list.ok) return refused(list.failure.detail);
      const { recipes, unreadable, truncated, problems } = list.value;
      const said = [
        ...problems,
        ...(unreadable > 0 ? [`Recipes of the service without an id can't be offered: ${unreadable}.`] : []),
        ...(truncated
          ? ['The service has more recipes than it lists at once, and does not document how to get the others.']
          : []),
      ];
      return { ok: true, value: { recipes: recipes.map(toolRecipe), problems: said } };
    },
    start: async (recipe, parameters, apply) => {
      const triggered = await api.trigger({ recipe, parameters, apply });
      if (triggered.kind === 'started') return { ok: true, value: toolRun(triggered.run) };
      if (triggered.kind === 'not_started')
        return refused(`Nothing was started. ${triggered.said ?? triggered.failure.detail}`);
      return refused(
        `A run may have started: its answer was lost (${triggered.detail}). Do not start it again blindly: ask the user to check the service first.`,
      );
    },
    ended: async (run, { signal, onProgress }) => {
      const options = {
        withinMs: handBackAfterMs,
        signal,
        onProgress: (record: RunRecord) => onProgress(toolRun(record)),
      };
      const followed = await followRun(api, run, options, world);
      if (followed.kind === 'ended') return { ok: true, value: toolRun(followed.page.run) };
      if (followed.kind === 'lost') return refused(followed.failure.detail);
      if (followed.run) return { ok: true, value: toolRun(followed.run) };
      return refused(`The run ${run} was started, but it could not be read: ${followed.detail}`);
    },
    rows: (run, cursor, limit) => rowsOf(api, run, { cursor, limit }),
    cancel: async (run) => {
      const cancelled = await api.cancel(run);
      return 'said' in cancelled ? refused(cancelled.said) : { ok: true, value: toolRun(cancelled) };
    },
  };
}

function refused(...said: readonly string[]): { readonly ok: false; readonly said: readonly string[] } {
  return { ok: false, said };
}

function toolRecipe(entry: RecipeEntry): ToolRecipe {
  const operation =
    entry.operation === null ? null : (operations.find((known) => known === entry.operation) ?? 'unknown');
  return { ...entry, operation };
}

function toolRun(record: RunRecord): ToolRun {
  const { id, recipe, state, rowCount, truncated, apply, error } = record;
  const unknown = state === 'unknown' && record.stateSaid !== null ? `its status is ${record.stateSaid}` : null;
  return { id, recipe, status: state, rowCount, truncated, apply, error: error ?? unknown };
}

/** Where rows go on: so many rows into the page at this address; the address is empty for the first page. */
function readCursor(run: string, cursor: string | null): { readonly skip: number; readonly page: string } | null {
  if (cursor === null) return { skip: 0, page: '' };
  const parts = /^(\d{1,12})@(\/runs\/([^/?#]+)(?:\?[^#]*)?)?$/.exec(cursor);
  // The address came back through the assistant: it must be one of this run.
  if (!parts || (parts[3] !== undefined && parts[3] !== encodeURIComponent(run))) return null;
  return { skip: Number(parts[1]), page: parts[2] ?? '' };
}

async function rowsOf(
  api: RecipeApi,
  run: string,
  { cursor, limit }: { readonly cursor: string | null; readonly limit: number },
): ReturnType<ToolSource['rows']> {
  const from = readCursor(run, cursor);
  if (!from) return refused('cursor must be the next_cursor of an earlier answer about this run.');
  const read = await api.run(run, from.page === '' ? null : from.page);
  if (!read.ok) return refused(read.failure.detail);
  const { run: record, nextPage } = read.value;
  const all = record.rows ?? [];
  const cursorAfter = (taken: number) => {
    if (from.skip + taken < all.length) return `${from.skip + taken}@${from.page}`;
    return nextPage === null ? null : `0@${nextPage}`;
  };
  const rows = record.rows === null ? null : all.slice(from.skip, from.skip + limit);
  return { ok: true, value: { run: toolRun(record), rows, cursorAfter } };
}
