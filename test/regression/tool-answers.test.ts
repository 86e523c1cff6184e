// Answers of tools that an assistant took for something else: a dry run for an action, a refusal behind a route, and a run that
// was to be cancelled although it could have been, or had ended.
import { describe, expect, test } from 'vitest';
import type { RecipeHost } from '../support/recipe-service.ts';
import { connected } from '../support/served-tools.ts';
import { until } from '../support/until.ts';

const pausing = { id: 'pause-domain', title: 'Pause a domain', operation: 'pause', parameters: {} };
const asking = { id: 'at-risk', title: 'At risk', operation: null, parameters: {} };

function withRun(host: RecipeHost, run: object): void {
  host.list = () => ({ status: 200, body: { recipes: [pausing, asking] } });
  host.run = () => ({ status: 200, body: { id: 'run-1', status: 'succeeded', rows: [], ...run } });
}

test.each([
  ['with rows', [{ operation: 'pause', outcome: 'planned' }]],
  ['without rows', []],
])('a dry run %s says that nothing was done, and how to do it, also when it is followed', async (_, rows) => {
  await using service = await connected();
  const { host, rpc } = service;
  withRun(host, { recipe: 'pause-domain', apply: false, rows });
  const note = expect.stringMatching(/^Nothing was done: this was a dry run\. .* apply: true\. .*no.* instruction/i);
  const { structuredContent } = await rpc.call('pause-domain', {});
  expect(structuredContent).toMatchObject({ status: 'succeeded', apply: false, note });
  expect((await rpc.call('get_run', { run_id: 'run-1' })).structuredContent).toMatchObject({ apply: false, note });
});

test('wrong arguments are answered with what is wrong with them, and nothing before it', async () => {
  await using service = await connected();
  const { host, rpc } = service;
  const message = 'The parameter domain is missing.';
  host.trigger = () => ({ status: 400, body: { error: 'bad_parameters', message } });
  const { isError, content } = await rpc.call('at-risk');
  expect([isError, content[0]?.text]).toEqual([true, `Nothing was started. ${message}`]);
});

describe('cancel_run', () => {
  async function said(foreign: boolean, cancel: RecipeHost['cancel']) {
    await using service = await connected(undefined, foreign);
    service.host.cancel = cancel;
    const { isError = false, content, structuredContent } = await service.rpc.call('cancel_run', { run_id: 'run-1' });
    expect(service.host.of('POST', /^\/v1\/runs\/run-1\/cancel$/)).toHaveLength(1);
    return { isError, text: content[0]?.text, structured: structuredContent };
  }
  const run = (status: string) => () => ({ status: 200, body: { id: 'run-1', recipe: 'at-risk', status } });

  test.each([true, false])('ends a run of a service that can do that (elsewhere: %s)', async (foreign) => {
    const { isError, structured } = await said(foreign, run('cancelled'));
    expect([isError, structured]).toMatchObject([false, { status: 'cancelled', note: 'The run was cancelled.' }]);
  });

  test('says of a service without a way to cancel that the run continues', async () => {
    const { isError, text } = await said(true, () => ({ status: 404, body: { error: 'no such path' } }));
    expect([isError, text]).toEqual([true, 'The service cannot cancel a run, so the run continues.']);
  });
});

test('a line of 50 MB to the tool server is one error, and the rest goes on', async () => {
  await using service = await connected();
  const { host, rpc } = service;
  const head = '{"jsonrpc":"2.0","id":"long","method":"tools/call","params":{"name":"at-risk","arguments":{"a":"';
  for (const part of [head, ...Array<string>(800).fill('x'.repeat(64 * 1024)), '"}}}\n']) rpc.write(part);
  expect((await rpc.tools()).map(({ name }) => name)).toContain('at-risk');
  const error = { code: -32_600, message: 'The line is longer than 1 MiB and was not read.' };
  expect(rpc.messages.filter((message) => message.error)).toEqual([{ jsonrpc: '2.0', id: null, error }]);
  expect(host.of('POST', /runs$/)).toEqual([]);
});

test('of very many calls at once those beyond 1,000 are refused, and each is answered once', async () => {
  await using service = await connected();
  const { host, rpc } = service;
  const gate = Promise.withResolvers<void>();
  host.trigger = () => gate.promise.then(() => ({ status: 403, body: { error: 'not here' } }));
  const ids = Array.from({ length: 1_200 }, () => rpc.ask('tools/call', { name: 'at-risk', arguments: {} }));
  const answers = () => rpc.messages.filter(({ id }) => typeof id === 'number' && ids.includes(id));
  const refused = await until('refusals', () => (answers().length >= 200 ? answers() : null));
  expect(refused.every(({ error }) => error?.message.includes('wait for their answers'))).toBe(true);
  gate.resolve();
  await until('the other answers', () => answers().length === 1_200);
  expect([new Set(answers().map(({ id }) => id)).size, host.of('POST', /runs$/).length]).toEqual([1_200, 1_000]);
});
