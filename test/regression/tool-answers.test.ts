// Answers of tools that an assistant took for something else: a dry run for an action, a refusal behind a route, and a run that
// was to be cancelled although it could have been, or had ended.
import { describe, expect, test } from 'vitest';
import type { RecipeHost } from '../support/recipe-service.ts';
import { connected } from '../support/served-tools.ts';

const pausing = { id: 'pause-domain', title: 'Pause a domain', operation: 'pause', parameters: {} };
const asking = { id: 'at-risk', title: 'At risk', operation: null, parameters: {} };

function withRun(host: RecipeHost, run: object): void {
  host.list = () => ({ status: 200, body: { recipes: [pausing, asking] } });
  host.run = () => ({ status: 200, body: { id: 'run-1', status: 'succeeded', rows: [], ...run } });
}

describe('a dry run', () => {
  test.each([
    ['with rows', [{ operation: 'pause', outcome: 'planned' }]],
    ['without rows', []],
  ])('%s says that nothing was done, and how to do it, also when it is followed', async (_, rows) => {
    await using service = await connected();
    const { host, rpc } = service;
    withRun(host, { recipe: 'pause-domain', apply: false, rows });
    const note = expect.stringMatching(/^Nothing was done: this was a dry run\. .* apply: true\. .*no.* instruction/i);
    const { structuredContent } = await rpc.call('pause-domain', {});
    expect(structuredContent).toMatchObject({ status: 'succeeded', apply: false, note });
    expect((await rpc.call('get_run', { run_id: 'run-1' })).structuredContent).toMatchObject({ apply: false, note });
  });
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
