// The OpenAPI 3.1 document of the JSON routes, generated from their descriptions. GET /openapi.json serves it;
// docs/openapi.json is a copy.
import { z } from 'zod';
import { recipeRefusals } from '../recipes/recipe-refusals.ts';
import { downloadRoutes, recipeRoutes } from '../recipes/recipe-routes.ts';
import { refusals } from '../refusals.ts';
import { fleetRoutes, metricsRoute, probeRoutes } from './json-routes.ts';
import { operationRoutes } from './operations.ts';
import { type Access, type Described, type DescribedAnswer, tags } from './route.ts';

/** Routes in the order of docs/http-api.md. */
export const describedRoutes: readonly Described[] = [
  ...fleetRoutes,
  ...operationRoutes,
  ...recipeRoutes,
  ...downloadRoutes,
  ...probeRoutes,
  metricsRoute,
];

export interface DocumentParts {
  readonly version: string;
  /** Address of the routes, or their path on this server. */
  readonly server: string;
}

export function openApiDocument({ version, server }: DocumentParts) {
  const schemas = new Schemas();
  const responses = new Map<string, Schema>([['HeadersTooLarge', headersTooLarge]]);
  const paths: Record<string, Schema> = {};
  for (const described of describedRoutes) {
    const [method = '', path = ''] = templateOf(described).split(' ');
    paths[path] = { ...paths[path], [method.toLowerCase()]: operationOf(described, schemas, responses) };
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Warmwarden',
      version,
      summary: 'Guards the warm-up of email mailboxes.',
      description: about,
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: server }],
    tags: Object.entries(tags).map(([name, description]) => ({ name, description })),
    paths,
    components: { schemas: schemas.components(), responses: Object.fromEntries(responses), securitySchemes },
  };
}

/** Response that the server sends before it selects a route. */
const headersTooLarge = { description: 'The address and the headers are longer than 16 KiB.' };

const about = `Names are in snake_case, times are ISO 8601 in UTC, and unknown values are null. Fields may be added to answers.
A query parameter that is wrong, unknown or given twice is refused with 400. Bodies may be up to 64 KiB,
the address and the headers up to 16 KiB.`;

const securitySchemes = {
  token: {
    type: 'http',
    scheme: 'bearer',
    description:
      'A token of `warmwarden token new NAME --role ROLE`. Without tokens in the configuration none is needed.',
  },
  password: {
    type: 'http',
    scheme: 'basic',
    description: 'The same token as the password; the user name can be anything.',
  },
  session: {
    type: 'apiKey',
    in: 'cookie',
    name: 'warmwarden',
    description: 'The cookie of a browser that signed in. Its name differs under https and behind a path prefix.',
  },
  key: {
    type: 'http',
    scheme: 'bearer',
    description: 'A recipe key of `warmwarden token new NAME --recipe-key`.',
  },
} as const;

const anyToken = [{ token: [] }, { password: [] }, { session: [] }];
const securityOf: Readonly<Record<Access, readonly Schema[]>> = {
  anybody: [],
  any_role: anyToken,
  viewer: anyToken,
  operator: [{ token: [] }, { password: [] }],
  key: [{ key: [] }],
};

type AnyRefusal = NonNullable<Described['refusals']>[number];
const tokenWords = ['unauthorized', 'not_allowed', 'unknown_host', 'rate_limited', 'failed'] as const;
const wordsOf: Readonly<Record<Access, readonly AnyRefusal[]>> = {
  anybody: ['failed'],
  any_role: tokenWords,
  viewer: tokenWords,
  operator: tokenWords,
  key: ['bad_request', 'unauthorized', 'rate_limited', 'failed'],
};

function operationOf(described: Described, schemas: Schemas, responses: Map<string, Schema>): Schema {
  const { id, tag, summary, description, access, body, answers } = described;
  const parameters = parametersOf(described);
  const sent = Object.entries(answers).map(([status, answer]) => [status, answerOf(answer, schemas)] as const);
  return {
    operationId: id,
    tags: [tag],
    summary,
    ...(description === undefined ? {} : { description }),
    security: securityOf[access],
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(body && {
      requestBody: {
        required: !body.safeParse(undefined).success,
        content: { 'application/json': { schema: schemas.body(body) } },
      },
    }),
    responses: {
      ...Object.fromEntries(sent),
      ...refusedOf(described, schemas, responses),
      ...(parameters.length > 0 && { 431: { $ref: '#/components/responses/HeadersTooLarge' } }),
    },
  };
}

export interface DescribedParameter {
  readonly name: string;
  readonly in: 'path' | 'query';
  readonly required: boolean;
  readonly schema: Readonly<Record<string, unknown>>;
  readonly description: string;
}

export function parametersOf({ names = {}, query = {} }: Described): readonly DescribedParameter[] {
  const inPath = Object.entries(names).map(([name, description]) => {
    return { name, in: 'path' as const, required: true, schema: { type: 'string', minLength: 1 }, description };
  });
  const inQuery = Object.entries(query).map(([name, { schema, required, meaning = '' }]) => {
    const isList = schema['type'] === 'array' && { style: 'form', explode: false };
    return { name, in: 'query' as const, required, schema, description: meaning, ...isList };
  });
  return [...inPath, ...inQuery];
}

/** Method and path of a route as OpenAPI writes them: `GET /api/mailboxes/{account}/{id}`. */
export function templateOf({ route }: Described): string {
  return route.replace(/:(\w+)/g, '{$1}');
}

function answerOf({ description, content, headers = {} }: DescribedAnswer, schemas: Schemas): Schema {
  const shown = Object.entries(content).map(([type, shape]) => [type, { schema: schemas.answer(shape) }] as const);
  return {
    description,
    ...(Object.keys(headers).length > 0 && { headers: headersOf(headers) }),
    content: Object.fromEntries(shown),
  };
}

function headersOf(headers: Readonly<Record<string, string>>): Schema {
  return Object.fromEntries(
    Object.entries(headers).map(([name, description]) => [
      name,
      { description, required: true, schema: { type: 'string' } },
    ]),
  );
}

const refusalShape = (words: readonly string[]) =>
  z.object({ error: z.enum(words), message: z.string().describe('Sentences.') });

/** Refusals of a route: one response per status. Routes with the same words share a response. */
function refusedOf(described: Described, schemas: Schemas, responses: Map<string, Schema>): Schema {
  const { access, route } = described;
  const table: Readonly<Record<string, { readonly status: number; readonly meaning: string }>> =
    access === 'key' ? recipeRefusals : { ...recipeRefusals, ...refusals };
  const words = [...new Set([...wordsOf[access], ...(described.refusals ?? [])])];
  const known = words.flatMap((word) => {
    const refusal = table[word];
    return refusal ? [{ word, ...refusal }] : [];
  });
  const byStatus = Map.groupBy(known, ({ status }) => status);
  const isJson = access === 'key' || route.includes(' /api/');
  const entries = [...byStatus].map(([status, some]) => {
    const name = [access === 'key' ? 'Recipe' : isJson ? 'Api' : 'Page', ...some.map(({ word }) => word)].join('.');
    const schema = schemas.answer(refusalShape(some.map(({ word }) => word)));
    const json = { 'application/json': { schema } };
    const headers = {
      ...(status === 401 && { 'WWW-Authenticate': 'What is accepted.' }),
      ...(some.every(({ word }) => waiting.includes(word)) && { 'Retry-After': 'Seconds to wait.' }),
    };
    responses.set(name, {
      description: some.map(({ word, meaning }) => `\`${word}\`: ${meaning}`).join(' '),
      ...(Object.keys(headers).length > 0 && { headers: headersOf(headers) }),
      content: isJson ? json : { ...json, 'text/html': { schema: { type: 'string' } } },
    });
    return [status, { $ref: `#/components/responses/${name}` }] as const;
  });
  return Object.fromEntries(entries);
}

/** Refusals with the header Retry-After. */
const waiting: readonly AnyRefusal[] = ['rate_limited', 'share_used', 'busy'];

// Zod's schemas as JSON Schema: a schema with a name is a component, and all others refer to it.

type Schema = { [name: string]: unknown };

const named = '#/$defs/';

class Schemas {
  readonly #components = new Map<string, Schema>();

  /** Schema of a response. Fields may be added later. */
  answer(shape: z.ZodType): Schema {
    return this.#schemaOf(shape, 'output');
  }

  /** Schema of a body. Unknown fields are refused. */
  body(shape: z.ZodType): Schema {
    return this.#schemaOf(shape, 'input');
  }

  /** Components in alphabetical order. */
  components(): Schema {
    return Object.fromEntries([...this.#components].sort(([a], [b]) => (a < b ? -1 : 1)));
  }

  #schemaOf(shape: z.ZodType, io: 'input' | 'output'): Schema {
    const { properties, $defs = {} } = z.toJSONSchema(z.object({ it: shape }), {
      io,
      override: ({ jsonSchema }) => tidy(jsonSchema, io),
    });
    for (const [id, schema] of Object.entries($defs)) this.#components.set(nameOf(id), linked(schema) as Schema);
    return linked(properties?.['it']) as Schema;
  }
}

/** Removes what readers do not need: the pattern of a date, the largest safe number, `readOnly` of a list. */
function tidy(schema: Schema, io: 'input' | 'output'): void {
  if (schema['format'] === 'date-time' || schema['format'] === 'date') delete schema['pattern'];
  if (schema['maximum'] === Number.MAX_SAFE_INTEGER) delete schema['maximum'];
  if (schema['minimum'] === Number.MIN_SAFE_INTEGER) delete schema['minimum'];
  delete schema['readOnly'];
  const { propertyNames, additionalProperties, required } = schema;
  if (Array.isArray(required) && propertyNames) {
    // A record whose keys are a closed set of words becomes an object with these fields.
    schema['properties'] = Object.fromEntries(required.map((word) => [word, additionalProperties]));
    schema['additionalProperties'] = false;
    delete schema['propertyNames'];
  }
  if (io === 'output' && schema['additionalProperties'] === false) delete schema['additionalProperties'];
}

/** Copy of a schema that refers to the components. Links to the anchors of docs/cli.md become plain text. */
function linked(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(linked);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => {
      if (key === '$ref' && typeof inner === 'string' && inner.startsWith(named))
        return [key, `#/components/schemas/${nameOf(inner.slice(named.length))}`];
      if (key === 'description' && typeof inner === 'string')
        return [key, inner.replace(/\[([^\]]*)\]\(#[^)]*\)/g, '$1')];
      return [key, linked(inner)];
    }),
  );
}

/** Converts `operation_outcome` to OperationOutcome. */
function nameOf(id: string): string {
  return id.replace(/(?:^|_)(\w)/g, (_all, letter: string) => letter.toUpperCase());
}
