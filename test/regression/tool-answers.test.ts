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

  test('is told from a run that acted, and from one that only asks', async () => {
    await using service = await connected();
    const { host, rpc } = service;
    withRun(host, { recipe: 'pause-domain', apply: true });
    const { structuredContent: acted } = await rpc.call('pause-domain', { apply: true });
    expect(acted).toMatchObject({ apply: true, note: expect.not.stringContaining('dry run') });
    withRun(host, { recipe: 'at-risk', apply: false });
    const { structuredContent: asked } = await rpc.call('at-risk');
    expect(asked).toMatchObject({ note: expect.not.stringContaining('dry run') });
    expect(asked).not.toHaveProperty('apply');
  });

  test('of a service that does not say whether it acted is none that we vouch for', async () => {
    await using service = await connected();
    const { host, rpc } = service;
    withRun(host, { recipe: 'pause-domain' });
    const { structuredContent } = await rpc.call('pause-domain', {});
    expect(structuredContent).not.toHaveProperty('apply');
    expect(structuredContent.note).not.toContain('dry run');
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

  test('says of a run that had ended that nothing was cancelled', async () => {
    const { structured } = await said(true, run('succeeded'));
    const note = 'The run had already ended, so nothing was cancelled.';
    expect(structured).toMatchObject({ status: 'succeeded', note });
  });

  test('says of a service without a way to cancel that the run continues', async () => {
    const { isError, text } = await said(true, () => ({ status: 404, body: { error: 'no such path' } }));
    expect([isError, text]).toEqual([true, 'The service cannot cancel a run, so the run continues.']);
  });

  test('says in the words of the service why it refuses', async () => {
    const message = 'There is no run run-1.';
    const { isError, text } = await said(true, () => ({ status: 404, body: { error: 'unknown_run', message } }));
    expect([isError, text]).toEqual([true, message]);
  });
});
