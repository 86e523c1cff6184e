// What the tool server needs of whoever holds the recipes: a service in this process, or one behind the recipe API.
import type { Operation, RunStatus } from '../model/recipe.ts';

/** An answer, or why there is none: one sentence a mistake, for the assistant and its user. */
export type Said<Value> =
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

export interface Wait {
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
export const handBackAfterMs = 30_000;
