// Recipes, which are saved questions about the fleet, and their runs.
import type { EpochMs } from './time.ts';

/** Requests a minute of a recipe key, by its plan. */
export const keyPlans = { pro: 60, cloud: 600, agency: 6_000 } as const;
export type KeyPlan = keyof typeof keyPlans;
export const keyPlanNames = Object.keys(keyPlans) as [KeyPlan, ...KeyPlan[]];

/** Whole numbers beyond 2^53 and blobs come as text. */
export type Cell = string | number | null;
/** Untrusted data, such as addresses and error texts. */
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
  /** True to refuse a run without the parameter. Otherwise `default` stands in. */
  readonly required: boolean;
  readonly default: ParameterValue;
  readonly oneOf: readonly string[] | null;
  /** Kind of thing that the value names, if any. A run without rows fails if the thing does not exist. */
  readonly names: NamedThing | null;
  readonly minimum: number | null;
  readonly maximum: number | null;
}

/** Operations of `do:`, for each row of an applied run. */
export const operations = ['pause', 'resume', 'mode', 'limit', 'set', 'refresh', 'silence'] as const;
export type Operation = (typeof operations)[number];

export interface RecipeSchedule {
  /** Five fields, or six with seconds first. */
  readonly cron: string;
  readonly timeZone: string;
  readonly apply: boolean;
}

export interface Recipe {
  /** Small letters, digits and single dashes, at most 64; also the name of the MCP tool. */
  readonly id: string;
  readonly title: string;
  readonly description: string;
  readonly parameters: readonly Parameter[];
  /** Operation of the recipe, or null if it only asks. An applied run alone writes. */
  readonly operation: Operation | null;
  readonly schedule: RecipeSchedule | null;
  readonly builtIn: boolean;
}

export interface BrokenRecipe {
  readonly file: string;
  readonly problems: readonly string[];
}

export interface RecipeList {
  readonly recipes: readonly Recipe[];
  readonly broken: readonly BrokenRecipe[];
}

export function parametersSchema(parameters: readonly Parameter[]) {
  const schemas = parameters.map(({ name, names: _, required: __, oneOf, ...about }) => {
    const schema = Object.entries({ ...about, enum: oneOf });
    return [name, Object.fromEntries(schema.filter(([, value]) => value !== null))] as const;
  });
  return {
    type: 'object' as const,
    properties: Object.fromEntries(schemas),
    required: parameters.filter(({ required }) => required).map(({ name }) => name),
    additionalProperties: false,
  };
}

export const runStatuses = ['queued', 'running', 'succeeded', 'failed', 'cancelled'] as const;
export type RunStatus = (typeof runStatuses)[number];

export interface Run {
  /** Sorts by time. */
  readonly id: string;
  readonly recipe: string;
  readonly status: RunStatus;
  readonly parameters: ParameterValues;
  readonly apply: boolean;
  /** Name of a key, a token or a person, or `schedule`. */
  readonly by: string;
  readonly createdAt: EpochMs;
  readonly startedAt: EpochMs | null;
  readonly endedAt: EpochMs | null;
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
  /** Unchecked JSON values, or text from a command line. */
  readonly parameters: Readonly<Record<string, unknown>>;
  readonly apply: boolean;
  /** Dry run that was agreed to. An applied run changes only its mailboxes. */
  readonly plan?: string | null;
  readonly by: string;
  /** Marks a scheduled run, which is exempt from the share of waiting runs. */
  readonly scheduled?: true;
  /** Role of the key: a viewer may plan, and an operator may apply, too. */
  readonly role: 'viewer' | 'operator';
}

/** `share_used`: others may still start one. */
export interface RecipeRefusal {
  readonly refused: 'unknown_recipe' | 'bad_parameters' | 'not_allowed' | 'busy' | 'share_used' | 'unknown_run';
  readonly said: readonly string[];
}

export interface RowPage {
  readonly run: Run;
  readonly rows: readonly Row[];
  readonly offset: number;
  readonly nextOffset: number | null;
}

export type RunPlace = Pick<Run, 'createdAt' | 'id'>;
