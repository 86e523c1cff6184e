// A JSON route is one object: what it takes, who may ask, what it answers, and the function that answers. The server's routes and the
// OpenAPI document are made of these objects.
import type { z } from 'zod';
import { type Parameter, type Query, readQuery, type Shape } from '../query.ts';
import type { RecipeRefusalWord } from '../recipes/recipe-refusals.ts';
import { type RefusalWord, refusalJson } from '../refusals.ts';

export const tags = {
  fleet: 'The fleet, its mailboxes, alerts and history as JSON.',
  operations: 'Operator commands.',
  recipes: 'Saved questions about the fleet, and their runs. They have keys of their own.',
  probes: 'Probes and metrics.',
} as const;

export type Tag = keyof typeof tags;

/**
 * anybody: no token is needed. any_role: also the role scraper. viewer: the role viewer or operator, as a token or a session.
 * operator: a token with the role operator. key: a recipe key.
 */
export type Access = 'anybody' | 'any_role' | 'viewer' | 'operator' | 'key';

export interface DescribedParameter {
  readonly name: string;
  readonly in: 'path' | 'query';
  readonly required: boolean;
  readonly schema: Readonly<Record<string, unknown>>;
  readonly description: string;
}

interface DescribedBody {
  readonly required: boolean;
  readonly shape: z.ZodType;
  readonly example: unknown;
}

export interface DescribedAnswer {
  readonly description: string;
  /** By content type. */
  readonly content: Readonly<Record<string, z.ZodType>>;
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

export function inQuery(shape: Shape): readonly DescribedParameter[] {
  return Object.entries(shape).map(([name, { schema, required, meaning = '' }]: [string, Parameter<unknown>]) => ({
    name,
    in: 'query',
    required,
    schema,
    description: meaning,
  }));
}

export function inPath(name: string, description: string): DescribedParameter {
  return { name, in: 'path', required: true, schema: { type: 'string', minLength: 1 }, description };
}

type Names = Readonly<Record<string, string>>;

interface FleetRouteParts<Parts, S extends Shape, A extends z.ZodType> {
  readonly path: string;
  readonly id: string;
  readonly summary: string;
  readonly description?: string;
  /** The names in the path, with what each means. */
  readonly names?: Names;
  readonly query: S;
  readonly shape: A;
  readonly example: unknown;
  /** It names a mailbox, which may be unknown. */
  readonly named?: true;
  readonly read: (parts: Parts, query: Query<S>, names: Names) => Answer<A> | Promise<Answer<A>>;
}

type Answer<A extends z.ZodType> = z.infer<A> | UnknownMailbox;

/** A sentence that says why no mailbox is meant. */
class UnknownMailbox {
  readonly message: string;

  constructor(message: string) {
    this.message = message;
  }
}

export const unknownMailbox = (message: string) => new UnknownMailbox(message);

export interface Refused {
  readonly error: string;
  readonly message: string;
}

export interface FleetRoute<Parts, Body> extends Described {
  /** As hono writes it: `/api/mailboxes/:account/:id`. */
  readonly path: string;
  readonly answer: (
    parts: Parts,
    asked: URLSearchParams,
    names?: Names,
  ) => Promise<{ readonly status: 200; readonly body: Body } | { readonly status: 400 | 404; readonly body: Refused }>;
}

/** A GET route below /api. */
export function fleetRoute<Parts, const S extends Shape, A extends z.ZodType>(
  route: FleetRouteParts<Parts, S, A>,
): FleetRoute<Parts, z.infer<A>> {
  const { path, id, summary, description, names = {}, query, shape, example, named, read } = route;
  return {
    route: `GET ${path.replace(/:(\w+)/g, '{$1}')}`,
    path,
    id,
    tag: 'fleet',
    summary,
    ...(description === undefined ? {} : { description }),
    access: 'viewer',
    parameters: [...Object.entries(names).map(([name, meaning]) => inPath(name, meaning)), ...inQuery(query)],
    answers: { 200: { description: 'The answer.', content: { 'application/json': shape }, example } },
    refusals: ['bad_request', ...(named ? (['unknown_mailbox'] as const) : [])],
    answer: async (parts, asked, found = {}) => {
      const wanted = readQuery(query, asked);
      if ('wrong' in wanted) return refusalJson('bad_request', wanted.wrong);
      const body = await read(parts, wanted.read, found);
      return body instanceof UnknownMailbox ? refusalJson('unknown_mailbox', body.message) : { status: 200, body };
    },
  };
}
