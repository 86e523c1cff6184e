// Recipes and their runs: saved questions about the fleet, what they are asked with, and what they answered.
import type { EpochMs } from './time.ts';

/** Value of SQLite: whole numbers beyond 2^53 and blobs come as text. */
export type Cell = string | number | null;
/** Untrusted data: addresses, statuses and error texts are what strangers wrote. */
export type Row = Readonly<Record<string, Cell>>;

export const parameterTypes = ['string', 'integer', 'number', 'boolean'] as const;
export type ParameterType = (typeof parameterTypes)[number];
export type ParameterValue = string | number | boolean | null;
export type ParameterValues = Readonly<Record<string, ParameterValue>>;

export const namedThings = ['mailbox', 'account', 'domain'] as const;
export type NamedThing = (typeof namedThings)[number];

export interface Parameter {
  readonly name: string;
  readonly type: ParameterType;
  readonly description: string;
  /** Must be given. Otherwise `default` stands in, which may be null: the SELECT then sees NULL. */
  readonly required: boolean;
  readonly default: ParameterValue;
  /** The only words that a string may be; null: any. */
  readonly oneOf: readonly string[] | null;
  /** A run without rows fails when nothing has this name; null: it names nothing. */
  readonly names: NamedThing | null;
  readonly minimum: number | null;
  readonly maximum: number | null;
}

/** Operations of `do:`, carried out for each row of an applied run. */
export const operations = ['pause', 'resume', 'mode', 'limit', 'refresh', 'silence'] as const;
export type Operation = (typeof operations)[number];

export interface RecipeSchedule {
  /** Five fields, or six with seconds first. */
  readonly cron: string;
  readonly timeZone: string;
  /** True if its runs carry `do:` out; otherwise they only plan it. */
  readonly apply: boolean;
}

/** A recipe as people see it. Its SELECT stays inside. */
export interface Recipe {
  /** Small letters, digits and single dashes, at most 64: stable, and the name of its MCP tool. */
  readonly id: string;
  readonly title: string;
  readonly description: string;
  readonly parameters: readonly Parameter[];
  /** Operation of the recipe, or null if it only asks. Only an applied run writes. */
  readonly operation: Operation | null;
  readonly schedule: RecipeSchedule | null;
  readonly builtIn: boolean;
}

/** A file that is no recipe, and why: each sentence with file, line and column. */
export interface BrokenRecipe {
  readonly file: string;
  readonly problems: readonly string[];
}

export interface RecipeList {
  readonly recipes: readonly Recipe[];
  readonly broken: readonly BrokenRecipe[];
}

/** The parameters as a JSON Schema of one object. */
export function parametersSchema(parameters: readonly Parameter[]) {
  const properties = parameters.map(({ name, type, description, oneOf, minimum, maximum, default: standsIn }) => {
    const schema = {
      type,
      description,
      ...(standsIn === null ? {} : { default: standsIn }),
      ...(oneOf === null ? {} : { enum: oneOf }),
      ...(minimum === null ? {} : { minimum }),
      ...(maximum === null ? {} : { maximum }),
    };
    return [name, schema] as const;
  });
  return {
    type: 'object' as const,
    properties: Object.fromEntries(properties),
    required: parameters.filter(({ required }) => required).map(({ name }) => name),
    additionalProperties: false,
  };
}

export const runStatuses = ['queued', 'running', 'succeeded', 'failed', 'cancelled'] as const;
export type RunStatus = (typeof runStatuses)[number];

export interface Run {
  /** Unique for ever; sorts by time. */
  readonly id: string;
  readonly recipe: string;
  readonly status: RunStatus;
  readonly parameters: ParameterValues;
  /** false: what `do:` says was only planned. */
  readonly apply: boolean;
  /** Name of the requester: a key's or a token's name, a person, or `schedule`. */
  readonly by: string;
  readonly createdAt: EpochMs;
  readonly startedAt: EpochMs | null;
  readonly endedAt: EpochMs | null;
  /** Columns in the order of the SELECT; empty until the first row is known. */
  readonly columns: readonly string[];
  readonly rowCount: number;
  readonly truncated: boolean;
  readonly error: string | null;
}

export function hasEnded(run: Run): boolean {
  return run.status !== 'queued' && run.status !== 'running';
}

export interface RunRequest {
  readonly recipe: string;
  /** Raw parameters: JSON values, or text from a command line. The service checks them. */
  readonly parameters: Readonly<Record<string, unknown>>;
  readonly apply: boolean;
  /** Dry run that was agreed to: an applied run changes only the mailboxes that it named. */
  readonly plan?: string | null;
  readonly by: string;
  /** Marks a run of the recipe's own schedule, which is exempt from the share of waiting runs. */
  readonly scheduled?: true;
  /** Applying takes an operator; a viewer may plan. */
  readonly role: 'viewer' | 'operator';
}

/** Why a request is refused. `pruned`: the run was there, and was deleted after its retention. `share_used`: others may still start one. */
export interface RecipeRefusal {
  readonly refused:
    | 'unknown_recipe'
    | 'bad_parameters'
    | 'not_allowed'
    | 'busy'
    | 'share_used'
    | 'unknown_run'
    | 'pruned';
  readonly said: readonly string[];
}

export interface RowPage {
  readonly run: Run;
  readonly rows: readonly Row[];
  readonly offset: number;
  /** Offset of the next page, or null at the end of the present rows. */
  readonly nextOffset: number | null;
}

export type RunPlace = Pick<Run, 'createdAt' | 'id'>;

/** Recipes, wherever they are: inside the daemon, over a store without one, or at a service elsewhere. */
export interface RecipeService {
  /** Read each time: a recipe that was added or mended is there at once. */
  list(): Promise<RecipeList>;
  /** The run is queued or running when this resolves. */
  start(request: RunRequest): Promise<Run | RecipeRefusal>;
  run(id: string): Promise<Run | RecipeRefusal>;
  /** Reads at most `limit` rows from `offset` on, and fewer if they are large: follow `nextOffset`. */
  rows(id: string, page: { readonly offset: number; readonly limit: number }): Promise<RowPage | RecipeRefusal>;
  /** The newest first; `before`: only those that come behind this one in the list. */
  runsOf(recipe: string, limit: number, before?: RunPlace | null): Promise<readonly Run[] | RecipeRefusal>;
  /** Ends a run that has not ended; what was done stays done. A run that has ended stays as it is. */
  cancel(id: string): Promise<Run | RecipeRefusal>;
}
