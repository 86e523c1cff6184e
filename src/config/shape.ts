// The schema as JSON Schema: what editors, the documentation and `check --show` read, from the one place of every key.
import { z } from 'zod';
import { configSchema } from './schema.ts';

/** As much of JSON Schema as the schema of the file uses. */
export interface Shape {
  readonly type?: string;
  /** What people call the kind of value: duration, share, cron. */
  readonly title?: string;
  readonly description?: string;
  /** As the file would write it. */
  readonly default?: unknown;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly pattern?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly properties?: Readonly<Record<string, Shape>>;
  readonly required?: readonly string[];
  readonly items?: Shape;
  readonly anyOf?: readonly Shape[];
  readonly oneOf?: readonly Shape[];
}

let made: Shape | null = null;

/** The shape of the file: what a person writes, with the defaults. */
export function fileShape(): Shape {
  made ??= z.toJSONSchema(configSchema, {
    io: 'input',
    override: ({ zodSchema, jsonSchema }) => {
      const written = z.globalRegistry.get(zodSchema)?.['default'];
      if (written !== undefined) jsonSchema.default = written as never;
    },
  }) as Shape;
  return made;
}

/** The alternatives of a union, or the shape itself. */
export function variantsOf(shape: Shape): readonly Shape[] {
  return shape.anyOf ?? shape.oneOf ?? [shape];
}
