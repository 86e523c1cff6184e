// Reads the answers of a recipe service. Its document shows almost no field: only ids are needed.
import { jsonText, quote } from '../../api/http/failure.ts';
import { type RunStatus, runStatuses } from '../../core/recipe.ts';
import { fieldsOf, type JsonFields } from '../../world/schema/json.ts';

export interface RecipeEntry {
  readonly id: string;
  readonly title: string | null;
  readonly description: string | null;
  /** Any shape, or null if there are no parameters. */
  readonly parameters: unknown;
  /** Operation of an applied run in the service's word; null if it only reads, `unknown` if not said. */
  readonly operation: string | null;
}

export interface RecipePage {
  readonly recipes: readonly RecipeEntry[];
  /** Number of entries in the answer, readable or not. */
  readonly entries: number;
  readonly unreadable: number;
  /** Problems of recipes that the service does not list, quoted. */
  readonly problems: readonly string[];
}

/** `unknown` is any other word, or none. It is neither an end nor a success. */
export type RecordState = RunStatus | 'unknown';

export interface RunRecord {
  readonly id: string;
  readonly recipe: string | null;
  readonly state: RecordState;
  readonly stateSaid: string | null;
  readonly rows: readonly unknown[] | null;
  readonly rowCount: number | null;
  readonly truncated: boolean;
  readonly apply: boolean | null;
  readonly error: string | null;
}

const wordsOf: Readonly<Record<RunStatus, readonly string[]>> = {
  queued: ['queued', 'pending', 'scheduled', 'created', 'accepted', 'waiting', 'new'],
  running: ['running', 'started', 'active', 'processing', 'in_progress', 'executing'],
  succeeded: ['succeeded', 'success', 'successful', 'completed', 'complete', 'done', 'finished', 'ok'],
  failed: ['failed', 'failure', 'error', 'errored', 'timed_out', 'timeout', 'crashed'],
  cancelled: ['cancelled', 'canceled', 'aborted', 'stopped', 'killed'],
};

function stateOf(said: string | null): RecordState {
  const word =
    said
      ?.trim()
      .toLowerCase()
      .replaceAll(/[\s-]+/g, '_') ?? '';
  return runStatuses.find((state) => wordsOf[state].includes(word)) ?? 'unknown';
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' && value.trim() !== '' ? value : null;
}

function idOf(fields: JsonFields, names: readonly string[]): string | null {
  for (const name of names) {
    const value = fields[name];
    if (typeof value === 'number' && Number.isFinite(value)) return String(value);
    if (textOf(value) !== null) return value as string;
  }
  return null;
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** The list is the answer itself, or the first list under one of the names; null if there is none. */
function listIn(body: unknown, names: readonly string[]): readonly unknown[] | null {
  if (Array.isArray(body)) return body;
  const fields = fieldsOf(body);
  const name = names.find((one) => Array.isArray(fields[one]));
  return name === undefined ? null : (fields[name] as readonly unknown[]);
}

/** Returns null if the answer holds no list, which is not an empty list (docs/faults.md S4). */
export function readRecipes(body: unknown): RecipePage | null {
  const list = listIn(body, ['recipes', 'data', 'items', 'results']);
  if (!list) return null;
  const recipes = list.flatMap((raw) => readRecipe(raw) ?? []);
  const unreadable = list.length - recipes.length;
  return { recipes, entries: list.length, unreadable, problems: problemsIn(body) };
}

/** Reads the problems that Warmwarden's own service lists: `{broken: [{file, problems: [...]}]}`. */
function problemsIn(body: unknown): readonly string[] {
  const said = listOf(fieldsOf(body)['broken']).flatMap((one) => listOf(fieldsOf(one)['problems']));
  return said.filter((sentence) => typeof sentence === 'string').map(quote);
}

function readRecipe(raw: unknown): RecipeEntry | null {
  const fields = fieldsOf(raw);
  const id = textOf(raw) ?? idOf(fields, ['id', 'recipe_id']);
  if (id === null) return null;
  const said = fields['operation'];
  return {
    id,
    title: textOf(fields['title']) ?? textOf(fields['name']),
    description: textOf(fields['description']),
    parameters: fields['parameters'] ?? fields['params'] ?? fields['inputs'] ?? fields['input_schema'] ?? null,
    operation: said === null || fields['writes'] === false ? null : (textOf(said) ?? 'unknown'),
  };
}

/** Reads a run at the top of the answer, or inside `run` or `data`; null if there is none. */
export function readRun(body: unknown): RunRecord | null {
  const top = fieldsOf(body);
  const inside = [top['run'], top['data']].map(fieldsOf).find((fields) => Object.keys(fields).length > 0) ?? {};
  const fields: JsonFields = { ...top, ...inside };
  const run = top['run'];
  const id = idOf(inside, ['id', 'run_id']) ?? idOf(top, ['run_id', 'id']) ?? textOf(run);
  if (id === null) return null;
  const said = textOf(fields['status']) ?? textOf(fields['state']);
  const counts = [fields['row_count'], fields['rowCount'], fields['total']];
  const count = counts.find((one): one is number => Number.isSafeInteger(one) && Number(one) >= 0) ?? null;
  return {
    id,
    recipe: idOf(fields, ['recipe', 'recipe_id']),
    state: stateOf(said),
    stateSaid: said === null ? null : quote(said),
    rows: rowsIn(fields),
    rowCount: count,
    truncated: fields['truncated'] === true,
    apply: typeof fields['apply'] === 'boolean' ? fields['apply'] : null,
    error: errorIn(fields['error'] ?? fields['error_message']),
  };
}

function rowsIn(fields: JsonFields): readonly unknown[] | null {
  const names = ['rows', 'output_rows', 'output', 'result', 'results', 'data'];
  return listIn(fields, names) ?? listIn(fieldsOf(fields['output'] ?? fields['result']), names);
}

function errorIn(error: unknown): string | null {
  if (error === null || error === undefined || error === false || error === '') return null;
  const message = textOf(fieldsOf(error)['message']);
  return quote(textOf(error) ?? message ?? jsonText(error));
}

/** Finds an error in an answer with status 200 (docs/faults.md H4), or null. */
export function refusalIn(body: unknown): string | null {
  const fields = fieldsOf(body);
  const refused = Boolean(fields['error']) || fields['success'] === false;
  return refused ? quote(typeof fields['error'] === 'string' ? fields['error'] : jsonText(body)) : null;
}
