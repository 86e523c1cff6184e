// What the tool server needs of a service behind the recipe API: a daemon's own socket, or a service elsewhere.
import { type Operation, operations, type RunStatus } from '../../core/recipe.ts';
import type { World } from '../../world/world.ts';
import type { RecipeEntry, RunRecord } from '../client/answers.ts';
import type { RecipeApi } from '../client/client.ts';
import { followRun } from '../client/follow.ts';

/** An answer, or why there is none: one sentence a mistake, for the assistant and its user. */
type Said<Value> =
  | { readonly ok: true; readonly value: Value }
  | { readonly ok: false; readonly said: readonly string[] };

export interface ToolRecipe {
  readonly id: string;
  readonly title: string | null;
  readonly description: string | null;
  /** Our own list of parameters, or whatever a service elsewhere calls so; null: none known. */
  readonly parameters: unknown;
  /** What an applied run does; null: it only asks; `unknown`: the service does not say. */
  readonly operation: Operation | 'unknown' | null;
}

export interface ToolList {
  readonly recipes: readonly ToolRecipe[];
  /** Sentences on what is not offered, and why. */
  readonly problems: readonly string[];
}

export interface ToolRun {
  readonly id: string;
  readonly recipe: string | null;
  /** `unknown`: in a state that we have no word for. */
  readonly status: RunStatus | 'unknown';
  readonly rowCount: number | null;
  /** The run had more rows than were kept. */
  readonly truncated: boolean;
  /** false: a dry run, or a recipe without actions; null: the service does not say. */
  readonly apply: boolean | null;
  /** Why it failed. */
  readonly error: string | null;
}

export interface ToolRows {
  readonly run: ToolRun;
  /** Of any shape. null: the service shows none, which is not the same as none. */
  readonly rows: readonly unknown[] | null;
  /** Where to go on when only the first `taken` of these rows are used; null after the last row of all. */
  readonly cursorAfter: (taken: number) => string | null;
}

interface Wait {
  readonly signal: AbortSignal;
  /** Called each time that the run was looked at. */
  readonly onProgress: (run: ToolRun) => void;
}

export interface ToolSource {
  /** A service elsewhere: its titles and descriptions were written by strangers, too. */
  readonly foreign: boolean;
  list(): Promise<Said<ToolList>>;
  /** Starts a run, at most once. */
  start(recipe: string, parameters: Readonly<Record<string, unknown>>, apply: boolean): Promise<Said<ToolRun>>;
  /** The run as soon as it has ended; or as it is at the signal, or after as long as a caller may be kept waiting. */
  ended(run: string, wait: Wait): Promise<Said<ToolRun>>;
  /** At most `limit` rows from `cursor` on; null is the first row. */
  rows(run: string, cursor: string | null, limit: number): Promise<Said<ToolRows>>;
  /** Ends a run. */
  cancel(run: string): Promise<Said<ToolRun>>;
}

/** The longest that a caller waits for a run that goes on without it: then it gets the run's id. */
const handBackAfterMs = 30_000;

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

/**
 * The tools of `source` with a check before each request. `reach` rejects with a sentence when the daemon does not answer: the
 * request is then refused with that sentence.
 */
export function checkedSource(source: ToolSource, reach: () => Promise<unknown>): ToolSource {
  const after = <Value>(ask: () => Promise<Said<Value>>): Promise<Said<Value>> =>
    reach().then(ask, ({ message }: Error) => refused(message));
  return {
    foreign: source.foreign,
    list: () => after(() => source.list()),
    start: (...asked) => after(() => source.start(...asked)),
    ended: (...asked) => after(() => source.ended(...asked)),
    rows: (...asked) => after(() => source.rows(...asked)),
    cancel: (run) => after(() => source.cancel(run)),
  };
}
