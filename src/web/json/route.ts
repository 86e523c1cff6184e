// A JSON route is one object, from which the server's route and its part of the OpenAPI document are generated.
import type { Context, Hono } from 'hono';
import type { z } from 'zod';
import { jsonOf, type Source } from '../../world/schema/json.ts';
import { type Query, readQuery, type Shape } from '../query.ts';
import { queryOf, refuse } from '../refusals.ts';

export const tags = {
  fleet: 'The fleet, its mailboxes, alerts and history as JSON.',
  operations: 'Operator commands.',
  recipes: 'Saved questions about the fleet, and their runs. They have keys of their own.',
  probes: 'Probes and metrics.',
} as const;

/**
 * anybody: no token is needed. any_role: also the role scraper. viewer: the role viewer or operator, as a token or a session.
 * operator: a token with the role operator. key: a recipe key.
 */
export type Access = 'anybody' | 'any_role' | 'viewer' | 'operator' | 'key';

export interface DescribedAnswer {
  readonly description: string;
  readonly content: Readonly<Record<string, z.ZodType>>;
  /** Headers that are always sent, with their meanings. */
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Described {
  /** Method and path as hono writes them: `GET /v1/runs/:id`. */
  readonly route: string;
  readonly id: string;
  readonly tag: keyof typeof tags;
  readonly summary: string;
  readonly description?: string;
  readonly access: Access;
  readonly names?: Readonly<Record<string, string>>;
  /** Parameters of the query. The query is ignored if absent. */
  readonly query?: Shape;
  readonly body?: z.ZodType;
  readonly answers: Readonly<Record<number, DescribedAnswer>>;
}

export interface JsonRoute<Parts> extends Described {
  readonly answer: (c: Context, parts: Parts) => Response | Promise<Response>;
}

interface Answering<Parts, S extends Shape> {
  readonly query: S;
  readonly handle: (c: Context, parts: Parts, query: Query<S>) => Response | Promise<Response>;
}

/** Route that reads its query, and refuses a wrong one. */
export function routeOf<Parts, const S extends Shape>({
  handle,
  ...described
}: Omit<Described, 'query'> & Answering<Parts, S>): JsonRoute<Parts> {
  const answer: JsonRoute<Parts>['answer'] = (c, parts) => {
    const asked = readQuery(described.query, queryOf(c));
    return 'wrong' in asked ? refuse(c, 'bad_request', asked.wrong) : handle(c, parts, asked.read);
  };
  return { ...described, answer };
}

/** `partsFor`: what the visitor of a request may see. */
export function addRoutes<Parts>(
  app: Hono,
  routes: readonly JsonRoute<Parts>[],
  partsFor: (c: Context) => Parts,
): void {
  for (const { route, answer } of routes) {
    const [method = '', path = ''] = route.split(' ');
    app.on(method, path, (c) => answer(c, partsFor(c)));
  }
}

export const jsonContent = (shape: z.ZodType) => ({ 'application/json': shape });

/** Refuses a request of a fleet route, with the reason why it identifies no mailbox. */
export class UnknownMailboxError extends Error {
  override readonly name = 'UnknownMailboxError';
}

interface FleetRouteParts<Parts, S extends Shape, A extends z.ZodType>
  extends Pick<Described, 'route' | 'id' | 'summary' | 'description'> {
  readonly query: S;
  readonly shape: A;
  /** Reads the data in the program's types; the route converts it to JSON. */
  readonly read: (parts: Parts, query: Query<S>) => Source<A> | Promise<Source<A>>;
}

/** GET route below /api. */
export function fleetRoute<Parts, const S extends Shape, A extends z.ZodType>({
  shape,
  read,
  ...described
}: FleetRouteParts<Parts, S, A>): JsonRoute<Parts> {
  return routeOf({
    ...described,
    tag: 'fleet',
    access: 'viewer',
    answers: { 200: { description: 'The answer.', content: jsonContent(shape) } },
    handle: async (c, parts: Parts, query) => {
      try {
        return c.json(jsonOf(shape, await read(parts, query)) as object);
      } catch (error) {
        if (error instanceof UnknownMailboxError) return refuse(c, 'unknown_mailbox', error.message);
        throw error;
      }
    },
  });
}
