// What hosts of models send to the tool server, and the limits that Claude, OpenAI and Gemini put on tools.
import { expect, test } from 'vitest';
import { parametersSchema } from '../../src/core/recipe.ts';
import { readCatalogue } from '../../src/recipes/catalogue.ts';
import { recipeTool, runTools } from '../../src/recipes/mcp/tools.ts';
import { connected } from '../support/served-tools.ts';

const long = { id: '7-long', title: 'Long', description: 'a'.repeat(3_000), operation: 'pause', parameters: {} };
const { definitions } = await readCatalogue('/nowhere');
const builtIn = [...definitions.values()].map(({ recipe }) => ({
  ...recipe,
  parameters: parametersSchema(recipe.parameters),
}));
const tools = [
  ...[...builtIn, long].flatMap((recipe) => [true, false].map((foreign) => recipeTool(recipe, foreign))),
  ...runTools,
];

test.each(tools)('every host takes the tool $name', ({ name, description = '', inputSchema }) => {
  expect(name).toMatch(/^[A-Za-z_][A-Za-z0-9_-]{0,63}$/);
  expect(description.length).toBeLessThanOrEqual(1_024);
  // Gemini's SDK for Python fails at additionalProperties, and OpenAI's strict mode at any that is not false.
  expect(Object.keys(inputSchema).sort()).toEqual(['properties', 'required', 'type']);
  for (const [key, property] of Object.entries(inputSchema.properties ?? {})) {
    expect(key).toMatch(/^[A-Za-z0-9_.-]{1,64}$/);
    const {
      type,
      description: _,
      enum: words = [],
      default: __,
      minimum: ___,
      maximum: ____,
      ...others
    } = property as Record<string, unknown>;
    expect(['string', 'integer', 'number', 'boolean']).toContain(type);
    expect((words as unknown[]).filter((word) => typeof word !== 'string')).toEqual([]);
    expect(Object.keys(others).filter((word) => word !== 'minLength')).toEqual([]);
  }
});

const ends = { run_id: 'run-1' };

test.each([
  ['tools/list', { cursor: null }],
  ['tools/list', null],
  ['tools/call', { name: 'at-risk', arguments: null }],
  ['tools/call', { name: 'at-risk', arguments: { apply: null } }],
  ['tools/call', { name: 'at-risk', arguments: { days: null } }],
  ['tools/call', { name: 'get_run', arguments: { ...ends, cursor: '', limit: null } }],
  ['tools/call', { name: 'get_run', arguments: { ...ends, cursor: null } }],
])('null is taken as absent: %s %j', async (method, params) => {
  await using service = await connected();
  const { rpc, host } = service;
  const { error, result } = await rpc.answerTo(rpc.ask(method, params as object));
  expect([error, result?.['isError']]).toEqual([undefined, undefined]);
  const bodies = host.of('POST', /runs$/).map(({ body }) => body);
  expect(bodies.filter((body) => body.includes('null'))).toEqual([]);
});

test.each([
  ['tools/call', { name: 'at-risk', arguments: [] }, 'params.arguments: expected record, received array.'],
  ['tools/call', { name: 7 }, 'params.name: expected string, received number.'],
  ['tools/call', { name: 'get_run', arguments: { ...ends, limits: 5 } }, 'There is no parameter limits.'],
  ['tools/list', { cursor: 7 }, 'params.cursor: expected string, received number.'],
])('a mistake is said in one sentence: %s %j', async (method, params, sentence) => {
  await using service = await connected();
  const { rpc } = service;
  const { error, result } = await rpc.answerTo(rpc.ask(method, params));
  const [content] = (result?.['content'] ?? []) as readonly { readonly text: string }[];
  const said = error?.message ?? content?.text ?? '';
  expect(said).toContain(sentence);
  expect(said).not.toMatch(/[\n[{]/);
});
