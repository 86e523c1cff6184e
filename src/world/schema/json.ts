// Objects of JSON: their fields, and a value encoded by its schema.
import { z } from 'zod';

export type JsonFields = Readonly<Record<string, unknown>>;

export function isObject(value: unknown): value is JsonFields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Fields of an object. Any other value has none, also a list, which is PHP's empty object. */
export function fieldsOf(value: unknown): JsonFields {
  return isObject(value) ? value : {};
}

// Encoding: camelCase and epoch milliseconds become snake_case and ISO 8601.

type CamelName<Name> = Name extends `${infer Head}_${infer Tail}` ? `${Head}${Capitalize<CamelName<Tail>>}` : Name;

/** Value in the program whose JSON a schema describes. Fields that the schema does not name are left out. */
export type Source<Shape> = Shape extends z.ZodISODateTime
  ? number
  : Shape extends z.ZodNullable<infer Inner>
    ? Source<Inner> | null
    : Shape extends z.ZodOptional<infer Inner>
      ? Source<Inner> | undefined
      : Shape extends z.ZodReadonly<infer Inner>
        ? Source<Inner>
        : Shape extends z.ZodArray<infer Inner>
          ? readonly Source<Inner>[]
          : Shape extends z.ZodObject<infer Fields>
            ? SourceFields<Fields>
            : z.input<Shape>;

type SourceFields<Fields> = {
  readonly [Name in keyof Fields as Fields[Name] extends z.ZodOptional ? never : CamelName<Name>]: Source<Fields[Name]>;
} & {
  readonly [Name in keyof Fields as Fields[Name] extends z.ZodOptional ? CamelName<Name> : never]?: Source<
    Fields[Name]
  >;
};

export function jsonOf<Shape extends z.ZodType>(shape: Shape, value: Source<Shape>): z.input<Shape> {
  return encoded(shape, value) as z.input<Shape>;
}

function encoded(shape: unknown, value: unknown): unknown {
  if (value === null || value === undefined) return value;
  if (shape instanceof z.ZodISODateTime) return new Date(value as number).toISOString();
  if (shape instanceof z.ZodNullable || shape instanceof z.ZodOptional || shape instanceof z.ZodReadonly) {
    return encoded(shape.unwrap(), value);
  }
  if (shape instanceof z.ZodArray) return (value as readonly unknown[]).map((item) => encoded(shape.element, item));
  if (!(shape instanceof z.ZodObject)) return value;
  const fields = Object.entries(shape.shape).map(([name, inner]) => {
    const camelName = name.replace(/_(\w)/g, (_all, letter: string) => letter.toUpperCase());
    return [name, encoded(inner, (value as Readonly<Record<string, unknown>>)[camelName])];
  });
  return Object.fromEntries(fields);
}
