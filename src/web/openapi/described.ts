// How a route is described: what it takes, who may ask, what it answers. The OpenAPI document is made of such descriptions.
import type { z } from 'zod';
import type { Parameter, Shape } from '../query.ts';
import type { RecipeRefusalWord } from '../recipes/recipe-refusals.ts';
import type { RefusalWord } from '../refusals.ts';

export const tags = {
  fleet: 'The fleet, its mailboxes, alerts and history as JSON.',
  operations: 'Operator commands.',
  recipes: 'Saved questions about the fleet, and their runs. They have keys of their own.',
  probes: 'Probes and metrics.',
  pages: 'What a browser shows.',
  commands:
    'Operator commands on the page: a GET shows the command and its effect, the POST of its form carries it out.',
  sessions: 'Signing in and out of the page.',
} as const;

export type Tag = keyof typeof tags;

/**
 * anybody: no token is needed. any_role: also the role scraper. viewer: the role viewer or operator, as a token or a session.
 * operator: a token with the role operator. form: a browser that was given the form. key: a recipe key.
 */
export type Access = 'anybody' | 'any_role' | 'viewer' | 'operator' | 'form' | 'key';

export interface DescribedParameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly required: boolean;
  readonly schema: Readonly<Record<string, unknown>>;
  readonly description: string;
  /** A list: each item as a parameter of its own. Otherwise with commas between. */
  readonly repeated?: boolean;
}

export interface DescribedBody {
  readonly type: 'application/json' | 'application/x-www-form-urlencoded';
  readonly required: boolean;
  readonly shape: z.ZodType;
  readonly example?: unknown;
}

export interface DescribedAnswer {
  readonly description: string;
  /** By content type; absent: nothing is in it. */
  readonly content?: Readonly<Record<string, z.ZodType>>;
  readonly headers?: Readonly<Record<string, string>>;
  /** Of application/json. */
  readonly example?: unknown;
}

export interface Described {
  /** `GET /api/mailboxes/{account}/{id}`. */
  readonly route: string;
  /** Unique: the operationId. */
  readonly id: string;
  readonly tag: Tag;
  readonly summary: string;
  readonly description?: string;
  readonly access: Access;
  readonly parameters?: readonly DescribedParameter[];
  readonly body?: DescribedBody;
  readonly answers: Readonly<Record<number, DescribedAnswer>>;
  /** Besides those that come with `access`. */
  readonly refusals?: readonly (RefusalWord | RecipeRefusalWord)[];
}

/** The parameters that a route reads from its query, with what each means. */
export function inQuery<S extends Shape>(
  shape: S,
  meanings: Readonly<Record<keyof S & string, string>>,
): readonly DescribedParameter[] {
  return Object.entries(shape).map(([name, { schema, required }]: [string, Parameter<unknown>]) => ({
    name,
    in: 'query',
    required,
    schema,
    description: meanings[name] ?? '',
  }));
}

export function inPath(name: string, description: string): DescribedParameter {
  return { name, in: 'path', required: true, schema: { type: 'string', minLength: 1 }, description };
}
