// config.schema.json: what an editor needs to help with the configuration file.
import { type FileShape, fileShape, variantsOf } from '../../src/config/settings.ts';

/** Ends with a line break. */
export function editorSchemaText(): string {
  const schema = {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'Warmwarden',
    ...lenient(forParts(fileShape())),
  };
  return `${JSON.stringify(schema, null, 2)}\n`;
}

/**
 * The schema also fits a file that another one includes: it needs no account, and an account of it may only add to one
 * that another file describes.
 */
function forParts(shape: FileShape): FileShape & { readonly patternProperties: unknown } {
  const { required: _, properties: { ...properties } = {}, ...rest } = shape;
  const { accounts = {} } = properties;
  const { required = [], ...item } = accounts.items ?? {};
  const whole = required.filter((key) => key !== 'name');
  const more = ['overrides', 'tags', 'mailboxes'];
  // Strict validators want each required key described beside the list.
  const forms = [whole, ...more.map((key) => [key])].map((keys) => ({
    properties: Object.fromEntries(keys.map((key) => [key, {}])),
    required: keys,
  }));
  const items = { ...item, required: ['name'], anyOf: forms };
  return { ...rest, properties: { ...properties, accounts: { ...accounts, items } }, patternProperties: { '^x-': {} } };
}

/** What ${NAME} stands for is known at run time only: a string with it is right for a number and a word, too. */
const substituted: FileShape = { type: 'string', pattern: '\\$\\{' };

function lenient(shape: FileShape): FileShape {
  const { properties, items, anyOf, oneOf, required = [] } = shape;
  const inner: FileShape = {
    ...shape,
    ...(properties && {
      properties: Object.fromEntries(
        Object.entries(properties).map(([key, value]) => {
          const one = lenient(value);
          return [key, required.includes(key) ? one : orEmpty(one)];
        }),
      ),
    }),
    ...(items && { items: lenient(items) }),
    // The forms of a channel share keys, so more than one may fit while it is being written.
    ...(anyOf || oneOf ? { anyOf: variantsOf(shape).map(lenient) } : {}),
  };
  if (oneOf) return without(inner, 'oneOf');
  const strict = shape.enum || shape.pattern || shape.type === 'integer' || shape.type === 'boolean';
  return strict ? either(inner, substituted) : inner;
}

/** A key without a value counts as absent. */
function orEmpty(shape: FileShape): FileShape {
  if (shape.anyOf) return { ...shape, anyOf: [...shape.anyOf, { type: 'null' }] };
  return shape.type === undefined ? shape : either(shape, { type: 'null' });
}

/** One shape or the other. What an editor shows stays outside. */
function either({ description, default: written, title, ...rest }: FileShape, other: FileShape): FileShape {
  const shown = Object.entries({ description, default: written, title }).filter(([, value]) => value !== undefined);
  return { ...Object.fromEntries(shown), anyOf: [rest, other] };
}

function without(shape: FileShape, key: keyof FileShape): FileShape {
  return Object.fromEntries(Object.entries(shape).filter(([name]) => name !== key));
}
