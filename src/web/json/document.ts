// The OpenAPI 3.1 document of the JSON routes, generated from their descriptions; docs/openapi.json is a copy.
import { z } from 'zod';
import { downloadRoutes, recipeRoutes } from '../recipes/recipe-routes.ts';
import { refusals } from '../refusals.ts';
import { fleetRoutes, metricsRoute, probeRoutes } from './json-routes.ts';
import { operationRoutes } from './operations.ts';
import { type Access, type Described, tags } from './route.ts';

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
  readonly server: string;
}

type Schema = { [name: string]: unknown };

export function openApiDocument({ version, server }: DocumentParts) {
  const schemas: Schema = {};
  const schemaOf = (shape: z.ZodType, io: 'input' | 'output') => {
    const { properties, $defs } = z.toJSONSchema(z.object({ it: shape }), {
      io,
      override: ({ jsonSchema }) => tidy(jsonSchema, io),
    });
    Object.assign(schemas, $defs);
    return properties?.['it'] as Schema;
  };
  const paths: Record<string, Schema> = {};
  for (const described of describedRoutes) {
    const [method = '', path = ''] = templateOf(described).split(' ');
    paths[path] = { ...paths[path], [method.toLowerCase()]: operationOf(described, schemaOf) };
  }
  const document = {
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
    components: { schemas, responses: { Refused: refused, HeadersTooLarge: headersTooLarge }, securitySchemes },
  };
  // Zod keeps the named schemas elsewhere. The anchors are those of docs/cli-json.md.
  const text = JSON.stringify(document).replaceAll('"#/$defs/', '"#/components/schemas/');
  return JSON.parse(text.replace(/\[([^\]]*)\]\(#[^)]*\)/g, '$1')) as typeof document;
}

const about = `Names are in snake_case, times are ISO 8601 in UTC, and unknown values are null. Fields may be added to answers, and words
to the enums of answers: a client must read a word that it does not know.
A query parameter that is wrong, unknown or given twice is refused with 400. Bodies may be up to 64 KiB,
the address and the headers up to 16 KiB. The headers must arrive within 10 seconds, the whole request within 30;
Warmwarden closes slower connections up to 5 seconds later. Answers are gzipped for clients that accept it.
A list has at most \`limit\` rows. When there are more, \`next_cursor\` is the \`cursor\` of the next page.`;

const headersTooLarge = { description: 'The address and the headers are longer than 16 KiB.' };

const refused = {
  description: `Refused; \`error\` says why. ${Object.entries(refusals)
    .map(([word, { status, meaning }]) => `\`${word}\` (${status}): ${meaning}`)
    .join(' ')}`,
  headers: {
    'WWW-Authenticate': { description: 'With 401: what is accepted.', schema: { type: 'string' } },
    'Retry-After': { description: 'With 429 and 503: seconds to wait.', schema: { type: 'string' } },
  },
  content: {
    'application/json': {
      schema: {
        type: 'object',
        properties: {
          error: { type: 'string', enum: Object.keys(refusals) },
          message: { type: 'string', description: 'Sentences.' },
        },
        required: ['error', 'message'],
      },
    },
    'text/html': { schema: { type: 'string' } },
  },
};

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

function operationOf(described: Described, schemaOf: (shape: z.ZodType, io: 'input' | 'output') => Schema): Schema {
  const { id, tag, summary, description, access, body, answers } = described;
  const contentOf = (content: Readonly<Record<string, z.ZodType>>, io: 'input' | 'output') =>
    Object.fromEntries(Object.entries(content).map(([type, shape]) => [type, { schema: schemaOf(shape, io) }]));
  const sent = Object.entries(answers).map(([status, { description, content, headers = {} }]) => {
    const always = Object.entries(headers).map(([name, meaning]) => [
      name,
      { description: meaning, required: true, schema: { type: 'string' } },
    ]);
    return [status, { description, headers: Object.fromEntries(always), content: contentOf(content, 'output') }];
  });
  return {
    operationId: id,
    tags: [tag],
    summary,
    description,
    security: securityOf[access],
    parameters: parametersOf(described),
    ...(body && {
      requestBody: {
        required: !body.safeParse(undefined).success,
        content: contentOf({ 'application/json': body }, 'input'),
      },
    }),
    responses: {
      ...Object.fromEntries(sent),
      431: { $ref: '#/components/responses/HeadersTooLarge' },
      '4XX': { $ref: '#/components/responses/Refused' },
      '5XX': { $ref: '#/components/responses/Refused' },
    },
  };
}

interface DescribedParameter {
  readonly name: string;
  readonly in: 'path' | 'query';
  readonly required: boolean;
  readonly schema: Readonly<Record<string, unknown>>;
  readonly description: string;
}

function parametersOf({ names = {}, query = {} }: Described): readonly DescribedParameter[] {
  const inPath = Object.entries(names).map(([name, description]) => {
    return { name, in: 'path' as const, required: true, schema: { type: 'string', minLength: 1 }, description };
  });
  const inQuery = Object.entries(query).map(([name, { schema, required = false, meaning = '' }]) => {
    const isList = schema['type'] === 'array' && { style: 'form', explode: false };
    const named = name === 'operation' ? { ...schema, ...nameForOgen } : schema;
    return { name, in: 'query' as const, required, schema: named, description: meaning, ...isList };
  });
  return [...inPath, ...inQuery];
}

/** Ogen calls a parameter `operation` of listHistory ListHistoryOperation, as it calls the name of the route. */
const nameForOgen = { 'x-ogen-name': 'HistoryOperation' };

export function templateOf({ route }: Described): string {
  return route.replace(/:(\w+)/g, '{$1}');
}

/** Removes what readers do not need. Fields of an answer may be added later; those of a body are closed. */
function tidy(schema: Schema, io: 'input' | 'output'): void {
  if (schema['format'] === 'date-time' || schema['format'] === 'date') delete schema['pattern'];
  if (schema['maximum'] === Number.MAX_SAFE_INTEGER) delete schema['maximum'];
  if (schema['minimum'] === Number.MIN_SAFE_INTEGER) delete schema['minimum'];
  delete schema['readOnly'];
  if (schema['propertyNames']) delete schema['required'];
  if (io === 'output' && schema['additionalProperties'] === false) delete schema['additionalProperties'];
  for (const [word, write] of Object.entries(portable)) if (word in schema) write(schema, io);
}

/** Rewrites of words of JSON Schema that generators of clients fail at. The result means the same. */
const portable: Readonly<Record<string, (schema: Schema, io: 'input' | 'output') => void>> = {
  /** openapi-python-client refuses `const` beside another type. */
  const(schema) {
    schema['enum'] = [schema['const']];
    delete schema['const'];
  },
  /** Generators of Go clients read one type of a schema, beside null. */
  type(schema) {
    const { type } = schema;
    if (type === 'number') schema['format'] = 'double';
    if (!Array.isArray(type) || type.filter((one) => one !== 'null').length < 2) return;
    schema['anyOf'] = type.map((one) => (one === 'number' ? { type: one, format: 'double' } : { type: one }));
    delete schema['type'];
  },
  /** openapi-typescript makes a property with a default mandatory, also in a body. */
  default(schema, io) {
    if (io === 'output') return;
    addSentence(schema, `When left out: ${JSON.stringify(schema['default'])}.`);
    delete schema['default'];
  },
  enum(schema, io) {
    if (io === 'output' && Array.isArray(schema['enum'])) addSentence(schema, 'Words may be added.');
  },
};

function addSentence(schema: Schema, sentence: string): void {
  const { description } = schema;
  schema['description'] = typeof description === 'string' ? `${description} ${sentence}` : sentence;
}
