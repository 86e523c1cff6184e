// The OpenAPI document keeps to forms that generators of clients read: openapi-typescript, openapi-python-client, oapi-codegen, ogen and
// OpenAPI Generator each fail at one of these. test/web/clients.slow.ts generates the clients.
import { expect, test } from 'vitest';
import { openApiDocument } from '../../src/web/json/document.ts';

const document = openApiDocument({ version: '0.1.0', server: 'http://127.0.0.1:7025' });

interface Place {
  readonly path: string;
  readonly value: Readonly<Record<string, unknown>>;
}

/** Objects below a value, with their paths; an `example` is no schema. */
function* objectsIn(value: unknown, path: string): Generator<Place> {
  if (typeof value !== 'object' || value === null) return;
  if (!Array.isArray(value)) yield { path, value: value as Place['value'] };
  for (const [key, inner] of Object.entries(value)) yield* objectsIn(inner, `${path}/${key}`);
}

const objects = [...objectsIn(document.paths, 'paths'), ...objectsIn(document.components, 'components')];
const where = (wrong: (place: Place) => boolean) => objects.filter(wrong).map(({ path }) => path);

test('a schema has one type beside null', () => {
  const types = (type: unknown) => (Array.isArray(type) ? type.filter((one) => one !== 'null').length : 1);
  expect(where(({ value }) => types(value['type']) > 1)).toEqual([]);
});

test.each(['const', 'exclusiveMinimum', 'exclusiveMaximum'])('no schema has %s', (word) => {
  expect(where(({ value }) => word in value)).toEqual([]);
});

test('each number is a double', () => {
  expect(where(({ value }) => value['type'] === 'number').length).toBeGreaterThan(10);
  expect(where(({ value }) => value['type'] === 'number' && value['format'] !== 'double')).toEqual([]);
});

test('what may be left out of a body has no default, which would make it mandatory in TypeScript', () => {
  const bodies = ({ path }: Place) =>
    path.includes('/requestBody/') || path.startsWith('components/schemas/RunRequest');
  expect(where((place) => bodies(place) && 'default' in place.value)).toEqual([]);
  const { required, properties } = document.components.schemas['RunRequest'] as {
    required?: string[];
    properties: object;
  };
  expect([required, Object.keys(properties)]).toEqual([undefined, ['parameters', 'apply', 'plan']]);
});

test('the document says that words may be added to the enums of answers', () => {
  expect(document.info.description).toContain('words\nto the enums of answers');
  expect(JSON.stringify(document.paths)).toContain('Words may be added.');
});
