// What an operator gets wrong about an API, told by the daemon: one clear sentence, and what to check. Secrets: secrets.slow.ts.
import { expect, it } from 'vitest';
import { startServer } from '../support/loopback.ts';
import { OtherApi } from '../support/other-api.ts';
import { runDaemon, Workplace } from '../support/process.ts';
import { until } from '../support/until.ts';

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
