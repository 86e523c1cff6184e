// What the tool server needs of whoever holds the recipes: a service in this process, or one behind the recipe API.
import {
  hasEnded,
  type Operation,
  operations,
  type RecipeRefusal,
  type RecipeService,
  type Run,
  type RunStatus,
} from '../../core/recipe.ts';
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

// The recipes of a service behind the recipe API, for the tool server: a daemon's own socket, or a service elsewhere.

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

// The recipes of a service in this process, for the tool server: a run ends here at its own time limit.

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

// The recipes of a store: through its daemon while one listens, else without it. The daemon may come and go meanwhile.

/**
 * Each request goes to the daemon when it listens at that moment, and otherwise to `alone`. `daemonListens` rejects when a daemon
 * has the store and says nothing: the request is then refused with the sentence that it rejects with.
 */
export function nearestSource(
  daemon: ToolSource,
  alone: ToolSource,
  daemonListens: () => Promise<boolean>,
): ToolSource {
  const nearest = () =>
    daemonListens().then(
      (listens) => (listens ? daemon : alone),
      ({ message }: Error) => refusing(message),
    );
  return {
    foreign: false,
    list: async () => (await nearest()).list(),
    start: async (recipe, parameters, apply) => (await nearest()).start(recipe, parameters, apply),
    ended: async (run, wait) => (await nearest()).ended(run, wait),
    rows: async (run, cursor, limit) => (await nearest()).rows(run, cursor, limit),
    cancel: async (run) => (await nearest()).cancel(run),
  };
}

function refusing(sentence: string): ToolSource {
  const refuse = async () => ({ ok: false, said: [sentence] }) as const;
  return { foreign: false, list: refuse, start: refuse, ended: refuse, rows: refuse, cancel: refuse };
}
