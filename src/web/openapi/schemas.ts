// Shapes as the schemas of an OpenAPI document: a shape with a name is written once, and referred to everywhere else.
import { z } from 'zod';

export type Schema = { [name: string]: unknown };

const named = '#/$defs/';

export class Schemas {
  readonly #components = new Map<string, Schema>();

  /** As it is sent: fields may be added to it later. */
  answer(shape: z.ZodType): Schema {
    return this.#schemaOf(shape, 'output');
  }

  /** As it is read: what is not in it is refused. */
  body(shape: z.ZodType): Schema {
    return this.#schemaOf(shape, 'input');
  }

  /** By name, from A to Z. */
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

/** zod says more than readers need: the pattern of a date, the largest number that is safe, that TypeScript may not write a list. */
function tidy(schema: Schema, io: 'input' | 'output'): void {
  if (schema['format'] === 'date-time' || schema['format'] === 'date') delete schema['pattern'];
  if (schema['maximum'] === Number.MAX_SAFE_INTEGER) delete schema['maximum'];
  if (schema['minimum'] === Number.MIN_SAFE_INTEGER) delete schema['minimum'];
  delete schema['readOnly'];
  const { propertyNames, additionalProperties, required } = schema;
  if (Array.isArray(required) && propertyNames) {
    // A number for each word of a closed set.
    schema['properties'] = Object.fromEntries(required.map((word) => [word, additionalProperties]));
    schema['additionalProperties'] = false;
    delete schema['propertyNames'];
  }
  if (io === 'output' && schema['additionalProperties'] === false) delete schema['additionalProperties'];
}

/** A copy that refers to the components, which tools/docs knows by the anchors of docs/cli.md. */
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

/** `operation_outcome`: OperationOutcome. */
function nameOf(id: string): string {
  return id.replace(/(?:^|_)(\w)/g, (_all, letter: string) => letter.toUpperCase());
}
