// A daemon as a process: it ends at its signals, at the first within its steps, at the second at once; and what an operator gets wrong about
// an API is told in one clear sentence, with what to check. Secrets: secrets.slow.ts.
import { describe, expect, it } from 'vitest';
import { Stage } from '../support/guarded.ts';
import { startServer } from '../support/loopback.ts';
import { emergencyWeek, OtherApi } from '../support/other-api.ts';
import { runDaemon, Workplace } from '../support/process.ts';
import { until } from '../support/until.ts';

describe.concurrent('a daemon', () => {
  it('ends at once at a second signal', async () => {
    await using stage = await Stage.open();
    // A write is given its time when the daemon stops, for its answer matters: so it would wait.
    stage.api.fault = ({ method }) => (method === 'POST' ? { kind: 'delay', ms: 30_000 } : undefined);
    stage.api.add('a@a.example', { days: emergencyWeek });
    stage.start();
    await until('a write that hangs', () => stage.api.log.some(({ method }) => method === 'POST'));
    stage.daemon.kill('SIGINT');
    await stage.daemon.said('stopping');
    stage.daemon.kill('SIGINT');
    expect(await stage.daemon.ended).toEqual({ code: 1, signal: null });
    expect(stage.daemon.stderr).toBe('');
  });

  it('ends at SIGTERM without waiting for an API that hangs', async () => {
    await using stage = await Stage.open();
    stage.api.add('a@a.example');
    stage.start();
    await until('the first readings', () => stage.api.reads('/v1/stats').length > 0);
    stage.api.fault = () => ({ kind: 'delay', ms: 30_000 });
    const asked = stage.api.log.length;
    await until('a request that hangs', () => stage.api.log.length > asked);
    stage.daemon.kill('SIGTERM');
    expect(await stage.daemon.ended).toEqual({ code: 0, signal: null });
    expect(stage.daemon.output).not.toContain('did not stop');
  });
});

/** A server that gives every request the same answer. */
const sayingAlways = (status: number, type: string, body: string) =>
  startServer((_, response) => {
    response.writeHead(status, { 'content-type': type, location: 'https://example.com/' }).end(body);
  });

it('an API that can’t be used is told once for each account, with what to check; it is not hammered, and the daemon stays up', async () => {
  using workplace = new Workplace();
  await using page = await sayingAlways(200, 'text/html', '<html><h1>Welcome</h1></html>');
  await using nothing = await sayingAlways(404, 'text/html', '<html><h1>Not here</h1></html>');
  await using moved = await sayingAlways(302, 'text/plain', '');
  await using api = await OtherApi.start(['a']);
  const cases: readonly [name: string, baseUrl: string, said: RegExp][] = [
    ['refused', 'http://127.0.0.1:1', /does not answer.*http:\/\/127\.0\.0\.1:1.*refused/],
    ['unknown', 'https://no-such-host.invalid', /does not answer.*no-such-host\.invalid.*host name/],
    ['page', page.url, /Welcome.*check base_url/],
    ['nothing', nothing.url, /404.*check base_url/],
    ['moved', moved.url, /302/],
    ['keyless', api.url, /refuses the key.*api_key/],
  ];
  const accounts = cases.map(([name, base_url]) => ({ name, base_url, api_key: 'sk_live_any' }));
  const poll = { health: '*/2 * * * * *', mailboxes: '*/2 * * * * *' };
  await using daemon = runDaemon(workplace.configure({ accounts, poll, server: { listen: '127.0.0.1:0' } }));
  await daemon.onDuty();
  const errors = (account: string) =>
    daemon.log.filter((line) => line.level === 'error' && line['account'] === account).map(({ msg }) => msg);
  await until('an error of each', () => cases.every(([name]) => errors(name).length > 0));
  const asked = api.log.length;
  await until('another try', () => api.log.length > asked);
  for (const [name, , said] of cases) expect(errors(name)).toEqual([expect.stringMatching(said)]);
  expect(api.log.every(({ path }) => path === '/v1/health' || path === '/v1/mailboxes')).toBe(true);
  daemon.kill('SIGTERM');
  expect((await daemon.ended).code).toBe(0);
  expect(daemon.output).not.toMatch(/^\s+at .+:\d+|node:internal/m);
});
