// config.schema.json: what an editor needs to help with the configuration file.
import { type FileShape, fileShape, variantsOf } from '../../src/config/settings.ts';

/** Ends with a line break. */
export function editorSchemaText(): string {
  const schema = {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'Warmwarden',
    ...lenient(fileShape()),
  };
  return `${JSON.stringify(schema, null, 2)}\n`;
}

/** What ${NAME} stands for is known at run time only: a string with it is right for a number and a word, too. */
const substituted: FileShape = { type: 'string', pattern: '\\$\\{' };

function lenient(shape: FileShape): FileShape {
  const { properties, items, anyOf, oneOf } = shape;
  const inner: FileShape = {
    ...shape,
    ...(properties && {
      properties: Object.fromEntries(Object.entries(properties).map(([key, value]) => [key, lenient(value)])),
    }),
    ...(items && { items: lenient(items) }),
    // The forms of a channel share keys, so more than one may fit while it is being written.
    ...(anyOf || oneOf ? { anyOf: variantsOf(shape).map(lenient) } : {}),
  };
  if (oneOf) return without(inner, 'oneOf');
  const strict = shape.enum || shape.pattern || shape.type === 'integer' || shape.type === 'boolean';
  if (!strict) return inner;
  const { description, default: written, title, ...rest } = inner;
  const notified = { description, default: written, title };
  const kept = Object.fromEntries(Object.entries(notified).filter(([, value]) => value !== undefined));
  return { ...kept, anyOf: [rest, substituted] };
}

function without(shape: FileShape, key: keyof FileShape): FileShape {
  return Object.fromEntries(Object.entries(shape).filter(([name]) => name !== key));
}
