// A shape of --json as a table for readers: one row a field, shapes that several commands share by name.
import { z } from 'zod';

interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly format?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Schema[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: Schema | boolean;
  readonly description?: string;
  readonly $defs?: Readonly<Record<string, Schema>>;
}

/** A closed set of more words than these is named only. */
const maxWordsShown = 11;

/** The name of a shape that several commands share; null for any other. */
export function idOf(shape: z.ZodType): string | null {
  return (z.globalRegistry.get(shape)?.id as string | undefined) ?? null;
}

/** Without a line break at the end. */
export function shapeTable(shape: z.ZodType): string {
  return tableOf(schemaOf(shape));
}

/** Every shape with a name that these use, by name. */
export function sharedShapes(
  of: readonly z.ZodType[],
): readonly { readonly id: string; readonly description: string; readonly table: string }[] {
  const found = new Map<string, Schema>();
  for (const shape of of) {
    const schema = schemaOf(shape);
    const id = idOf(shape);
    if (id !== null) found.set(id, schema);
    for (const [name, inner] of Object.entries(schema.$defs ?? {})) found.set(name, inner);
  }
  return [...found]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([id, schema]) => ({
      id,
      description: schema.description ?? '',
      table: tableOf(withoutLinked(schema, linkIn(schema))),
    }));
}

function schemaOf(shape: z.ZodType): Schema {
  const schema = z.toJSONSchema(shape, { io: 'input' }) as Schema;
  const own = schema.$ref?.startsWith('#/$defs/') ? schema.$defs?.[schema.$ref.slice('#/$defs/'.length)] : undefined;
  return own ? { ...own, ...(schema.$defs && { $defs: schema.$defs }) } : schema;
}

function tableOf(schema: Schema): string {
  const variants = schema.anyOf ?? [schema];
  return variants
    .map((variant) => {
      const list = variant.type === 'array' && variant.items !== undefined;
      const rows = rowsOf(list ? (variant.items ?? {}) : variant, list ? '[].' : '');
      const head = variants.length > 1 && variant.description ? `${variant.description}\n\n` : '';
      return `${head}| field | type | meaning |\n| --- | --- | --- |\n${rows.join('\n')}`;
    })
    .join('\n\n');
}

function rowsOf({ properties = {}, required = [] }: Schema, path: string): readonly string[] {
  return Object.entries(properties).flatMap(([name, inner]) => {
    const here = `${path}${name}`;
    const absent = required.includes(name) ? '' : '; may be absent';
    const row = `| \`${here}\` | ${typeOf(inner)}${absent} | ${inner.description ?? ''} |`;
    return [row, ...belowOf(inner, here)];
  });
}

/** Shapes with a name, by name. */
const named = z.toJSONSchema(z.globalRegistry, { io: 'input', unrepresentable: 'any' }).schemas as Readonly<
  Record<string, Schema>
>;

/** The fields of what stands at a path, unless another table has them: of an action with a target, only the target. */
function belowOf(schema: Schema, path: string, link = linkIn(schema)): readonly string[] {
  const whole = (schema.anyOf ?? []).find(({ type }) => type !== 'null') ?? schema;
  if (whole.items) return belowOf(whole.items, `${path}[]`, link);
  if (whole.$ref || (link !== null && !named[link])) return [];
  return rowsOf(withoutLinked(whole, link), `${path}.`);
}

/** The table to which a description leads. */
function linkIn({ description }: Schema): string | null {
  return /\]\(#(\w+)\)/.exec(description ?? '')?.[1] ?? null;
}

function withoutLinked(schema: Schema, link: string | null): Schema {
  const elsewhere = named[link ?? '']?.properties ?? {};
  const own = Object.entries(schema.properties ?? {}).filter(([name]) => !(name in elsewhere));
  return { ...schema, properties: Object.fromEntries(own) };
}

function typeOf(schema: Schema): string {
  if (schema.$ref) {
    const name = schema.$ref.slice(schema.$ref.lastIndexOf('/') + 1);
    return `[${name}](#${name.toLowerCase()})`;
  }
  if (schema.const !== undefined) return `\`${String(schema.const)}\``;
  if (schema.enum)
    return schema.enum.length > maxWordsShown ? 'word' : schema.enum.map((one) => `\`${one}\``).join(', ');
  if (schema.anyOf) return schema.anyOf.map(typeOf).join(' or ');
  if (schema.items) return `list of ${typeOf(schema.items)}`;
  if (typeof schema.additionalProperties === 'object' && !schema.properties)
    return `mapping to ${typeOf(schema.additionalProperties)}`;
  if (schema.format === 'date-time') return 'time';
  if (schema.format === 'date') return 'date';
  return [schema.type ?? 'any value']
    .flat()
    .map((type) => typeNames[type] ?? type)
    .join(' or ');
}

const typeNames: Readonly<Record<string, string>> = { string: 'text', boolean: 'true or false' };
