// A recipe's parameters as the JSON Schema of a tool's input. Ours are typed; a service elsewhere may write them anyhow.
import { type ParameterType, parameterTypes } from '../../core/recipe.ts';
import { inertText } from './inert.ts';

type Fields = Readonly<Record<string, unknown>>;

type Plain = string | number | boolean;

/** One parameter. A type alias, because the SDK's JSON types want an index signature. */
type Property = {
  type?: ParameterType;
  description?: string;
  enum?: Plain[];
  default?: Plain;
  minimum?: number;
  maximum?: number;
};

/** The root of an input schema, as MCP wants it. */
export interface InputSchema {
  readonly type: 'object';
  readonly properties: Record<string, Property>;
  readonly required: string[];
  readonly additionalProperties: boolean;
}

const maxParameters = 100;
const maxDescription = 1_000;
const openSchema: InputSchema = { type: 'object', properties: {}, required: [], additionalProperties: true };

function fieldsOf(value: unknown): Fields | null {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : null;
}

/**
 * Reads a list of `{name, type, ...}`, a map of names, or a JSON Schema. What can't be read makes an open schema: the
 * tool is still offered, and the service says what it misses.
 */
export function inputSchemaOf(parameters: unknown): InputSchema {
  if (parameters === null || parameters === undefined) return openSchema;
  if (Array.isArray(parameters)) return schemaOfList(parameters);
  const fields = fieldsOf(parameters);
  if (!fields) return openSchema;
  const properties = fieldsOf(fields['properties']);
  const required = Array.isArray(fields['required']) ? fields['required'] : [];
  const map = properties ?? fields;
  const listed = Object.entries(map).map(([name, value]) => {
    const said = fieldsOf(value) ?? (typeof value === 'string' ? { type: value } : {});
    return { ...said, name, required: properties ? required.includes(name) : said['required'] === true };
  });
  return {
    ...schemaOfList(listed),
    additionalProperties: properties !== null && fields['additionalProperties'] !== false,
  };
}

function schemaOfList(list: readonly unknown[]): InputSchema {
  const named = list.slice(0, maxParameters).flatMap((item): readonly (readonly [string, Fields])[] => {
    const fields = fieldsOf(item) ?? (typeof item === 'string' ? { name: item } : null);
    const name = fields?.['name'];
    return fields && typeof name === 'string' && /^[\w.-]{1,64}$/.test(name) ? [[name, fields]] : [];
  });
  const required = named.filter(([, fields]) => fields['required'] === true).map(([name]) => name);
  const properties = Object.fromEntries(named.map(([name, fields]) => [name, propertyOf(fields)]));
  // Where a name could not be read, the schema must not forbid what the service may want.
  return { type: 'object', properties, required, additionalProperties: named.length < list.length };
}

function propertyOf(fields: Fields): Property {
  const { description, default: standard, minimum, maximum } = fields;
  const type = parameterTypes.find((known) => known === fields['type']);
  const words = fields['oneOf'] ?? fields['one_of'] ?? fields['enum'] ?? fields['choices'];
  return {
    ...(type ? { type } : {}),
    ...(typeof description === 'string' ? { description: inertText(description, maxDescription) } : {}),
    ...(Array.isArray(words) && words.length > 0 && words.every(isPlain) ? { enum: words } : {}),
    ...(isPlain(standard) ? { default: standard } : {}),
    ...(typeof minimum === 'number' ? { minimum } : {}),
    ...(typeof maximum === 'number' ? { maximum } : {}),
  };
}

/** A value that may stand in a schema as it is. */
function isPlain(value: unknown): value is Plain {
  if (typeof value === 'string') return inertText(value, maxDescription) === value;
  return typeof value === 'number' || typeof value === 'boolean';
}
