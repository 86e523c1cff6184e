// Holds answers of the daemon against its OpenAPI document: status, content type, headers, and the fields of JSON.
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { openApiDocument } from '../../src/web/json/document.ts';

const document = openApiDocument({ version: '0.1.0', server: 'http://127.0.0.1:7025' });

interface Content {
  readonly schema: object;
  readonly example?: unknown;
}
interface Response {
  readonly $ref?: string;
  readonly headers?: Readonly<Record<string, { readonly required?: boolean }>>;
  readonly content?: Readonly<Record<string, Content>>;
}
interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required: boolean;
  readonly description: string;
}
export interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly parameters?: readonly Parameter[];
  readonly responses: Readonly<Record<string, Response>>;
}

export const operations: ReadonlyMap<string, Operation> = new Map(
  Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, one]) => [`${method.toUpperCase()} ${path}`, one as Operation] as const),
  ),
);

/** A field that no schema names is a mistake here, though clients must bear it. */
function closed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(closed);
  if (typeof value !== 'object' || value === null) return value;
  const inner = Object.fromEntries(Object.entries(value).map(([key, one]) => [key, closed(one)]));
  const isOpen = 'properties' in inner && 'type' in inner && !('additionalProperties' in inner);
  return isOpen ? { ...inner, additionalProperties: false } : inner;
}

const ajv = new Ajv2020({ strict: false, allErrors: true });
formats.default(ajv);
ajv.addSchema({ $id: 'warmwarden', components: closed(document.components) } as object);
const known = new Map<object, ValidateFunction>();

/** What is wrong with a value; empty: nothing. */
function problemsOf(schema: object, value: unknown): readonly string[] {
  const validate = known.get(schema) ?? ajv.compile(anchored(closed(schema)) as object);
  known.set(schema, validate);
  validate(value);
  return (validate.errors ?? []).map(
    ({ instancePath, message, params }) => `${instancePath || '/'} ${message} ${JSON.stringify(params)}`,
  );
}

function anchored(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value).replaceAll('"#/components/', '"warmwarden#/components/'));
}

export interface Answered {
  readonly method: string;
  /** With its query. */
  readonly path: string;
  readonly status: number;
  readonly headers: Headers;
  /** Not compressed. */
  readonly body: string;
}

/** What an answer has that the document does not say; empty for a path that the document does not have. */
export function undocumented({ method, path, status, headers, body }: Answered): readonly string[] {
  const operation = operationAt(method === 'HEAD' ? 'GET' : method, path.split('?')[0] ?? '');
  if (!operation) return [];
  const { responses, operationId } = operation;
  const response = resolved(responses[status] ?? responses[`${Math.floor(status / 100)}XX`]);
  const said = (problem: string) => `${operationId} ${status}: ${problem}`;
  if (!response) return [said('undocumented status')];
  const missing = Object.entries(response.headers ?? {}).flatMap(([name, { required }]) =>
    required && !headers.has(name) ? [name] : [],
  );
  const type = headers.get('content-type')?.split(';')[0] ?? null;
  const content = response.content ?? {};
  if (type === null || body === '' || !response.content) return missing.map((name) => said(`no header ${name}`));
  const schema = content[type]?.schema;
  if (!schema) return [said(`undocumented content type ${type}`)];
  const problems = type === 'application/json' ? problemsOf(schema, JSON.parse(body)) : [];
  return [...missing.map((name) => said(`no header ${name}`)), ...problems.map(said)];
}

function resolved(response: Response | undefined): Response | undefined {
  const name = response?.$ref?.slice('#/components/responses/'.length);
  return name === undefined ? response : (document.components.responses as Readonly<Record<string, Response>>)[name];
}

/** The one with fewer names in its path first. */
function operationAt(method: string, path: string): Operation | undefined {
  const fits = [...operations].filter(([route]) => {
    const [theirs, template = ''] = route.split(' ');
    return theirs === method && new RegExp(`^${template.replace(/\{\w+\}/g, '[^/]+')}$`).test(path);
  });
  return fits.toSorted(([a], [b]) => a.split('{').length - b.split('{').length)[0]?.[1];
}
