// What an operator gets wrong, told by the command itself: one clear sentence, the right exit code, no stack, no key.
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it } from 'vitest';
import { OtherApi } from '../support/other-api.ts';
import { type Running, runDaemon, Workplace } from '../support/process.ts';
import { until } from '../support/until.ts';

const key = 'sk_live_THISMUSTNEVERBEPRINTED';
const hookSecret = `whsec_${Buffer.from('this must never be printed either').toString('base64')}`;

function configOf(baseUrl: string, more: object = {}): object {
  return {
    accounts: [{ name: 'acme', base_url: baseUrl, api_key: key }],
    poll: { health: '*/2 * * * * *', mailboxes: '*/2 * * * * *' },
    alerts: { channels: [{ name: 'hook', type: 'webhook', url: 'http://127.0.0.1:1/hook', secret: hookSecret }] },
    store: { url: 'sqlite:./data/warmwarden.db' },
    server: { listen: '127.0.0.1:0' },
    ...more,
  };
}

function expectNoSecretNorStack({ output }: Running): void {
  expect(output).not.toContain(key.slice('sk_live_'.length));
  expect(output).not.toContain(hookSecret.slice('whsec_'.length));
  expect(output).not.toMatch(/^\s+at .+:\d+/m);
  expect(output).not.toContain('node:internal');
}

/** Runs until it ends by itself: its exit code and the lines on stderr. */
async function runToEnd(config: string): Promise<{ readonly code: number | null; readonly lines: readonly string[] }> {
  await using daemon = runDaemon(config);
  const { code } = await daemon.ended;
  expectNoSecretNorStack(daemon);
  return { code, lines: daemon.stderr.trimEnd().split('\n') };
}

/** Runs until it logs an error about the account: that sentence. The daemon must stay up meanwhile, and end at SIGTERM. */
async function firstComplaint(config: string): Promise<string> {
  await using daemon = runDaemon(config);
  await daemon.onDuty();
  const line = await until('a complaint', () => daemon.log.find(({ level }) => level === 'error'));
  expect(line['account']).toBe('acme');
  // Said once, however often it fails.
  const polls = daemon.log.length;
  daemon.kill('SIGTERM');
  expect((await daemon.ended).code).toBe(0);
  expect(polls).toBeLessThanOrEqual(4);
  expectNoSecretNorStack(daemon);
  return line.msg;
}

/** A server that gives every request the same answer. */
async function sayingAlways(
  status: number,
  type: string,
  body: string,
): Promise<AsyncDisposable & { readonly url: string }> {
  const server = createServer((_, response) => {
    response.writeHead(status, { 'content-type': type, location: 'https://example.com/' }).end(body);
  });
  await listening(server);
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function listening(server: Server): Promise<void> {
  return new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
}

describe.concurrent('a configuration that is wrong', () => {
  it('is told with all its problems at once, each with its place, and exits with 2', async () => {
    using workplace = new Workplace();
    const { code, lines } = await runToEnd(
      workplace.configure(`accounts:
  - name: acme
    base_url: not an address
    api_key: ${key}
    pln: pro
poll: {stats: "every day"}
guard: {near_limit: 80, min_bounces: 0}
server: {listen: "0.0.0.0:7025"}
alerts:
  channels: [{name: hook, type: webhook, url: "https://hooks.example.com/", secret: "${hookSecret}x?"}]
`),
    );
    expect(code).toBe(2);
    const expected = [
      [':3:15 ', 'base_url', 'https://'],
      [':5:5 ', 'pln', 'did you mean plan?'],
      [':6:15 ', 'poll.stats', 'cron'],
      [':7:21 ', 'guard.near_limit', '%'],
      [':7:38 ', 'guard.min_bounces', 'at least 1'],
      [':8:18 ', 'server.listen', 'token'],
      [':10:', 'alerts.channels[0].secret', 'openssl rand'],
    ];
    expect(lines).toHaveLength(expected.length);
    for (const [index, parts] of expected.entries()) for (const part of parts) expect(lines[index]).toContain(part);
  });

  it('says what to write instead of a base_url that ends in /v1', async () => {
    using workplace = new Workplace();
    for (const ending of ['/v1', '/v1/']) {
      const { code, lines } = await runToEnd(workplace.configure(configOf(`https://mailboxes.example.com${ending}`)));
      expect(code).toBe(2);
      expect(lines).toHaveLength(1);
      expect(lines[0]).toMatch(/base_url: .*\/v1.*write https:\/\/mailboxes\.example\.com$/);
    }
  });

  it('may be missing, empty, a folder or no YAML', async () => {
    using workplace = new Workplace();
    const cases = [
      [workplace.path('nowhere.yaml'), 'does not exist'],
      [workplace.folder, 'is a folder'],
      [workplace.configure('', 'empty.yaml'), 'is empty'],
      [workplace.configure('accounts:\n\t- name: x\n', 'tabs.yaml'), 'Tabs'],
    ];
    for (const [file = '', said = ''] of cases) {
      const { code, lines } = await runToEnd(file);
      expect(code).toBe(2);
      expect(lines.join('\n')).toContain(said);
      expect(lines[0]).toContain(`${file}:`);
    }
  });
});

describe.concurrent('an API that can’t be used', () => {
  it('is told when the connection is refused, and when the host does not exist', async () => {
    using workplace = new Workplace();
    const refused = await firstComplaint(workplace.configure(configOf('http://127.0.0.1:1')));
    expect(refused).toMatch(/does not answer.*http:\/\/127\.0\.0\.1:1.*refused/);
    const unknown = await firstComplaint(workplace.configure(configOf('https://no-such-host.invalid')));
    expect(unknown).toMatch(/does not answer.*no-such-host\.invalid.*host name/);
  });

  it('is told when something else answers there: a web page, or a server that knows no such path', async () => {
    using workplace = new Workplace();
    await using page = await sayingAlways(200, 'text/html', '<html><h1>Welcome</h1></html>');
    const html = await firstComplaint(workplace.configure(configOf(page.url)));
    expect(html).toMatch(/Welcome.*check base_url/);
    await using nothing = await sayingAlways(404, 'text/html', '<html><h1>Not here</h1></html>');
    const missing = await firstComplaint(workplace.configure(configOf(nothing.url)));
    expect(missing).toMatch(/404.*check base_url/);
  });

  it('never follows a redirect', async () => {
    using workplace = new Workplace();
    await using moved = await sayingAlways(302, 'text/plain', '');
    const said = await firstComplaint(workplace.configure(configOf(moved.url)));
    expect(said).toContain('302');
  });

  it('is told when it refuses the key, and is not hammered with it', async () => {
    using workplace = new Workplace();
    await using api = await OtherApi.start();
    api.add('a@a.example');
    const said = await firstComplaint(workplace.configure(configOf(api.url)));
    expect(said).toMatch(/refuses the key.*api_key/);
    expect(api.log.every(({ path }) => path === '/v1/health' || path === '/v1/mailboxes')).toBe(true);
  });
});

describe.concurrent('a place that can’t be had', () => {
  it('is told when the port is taken', async () => {
    using workplace = new Workplace();
    await using other = await sayingAlways(200, 'text/plain', '');
    const address = other.url.replace('http://', '');
    const { code, lines } = await runToEnd(
      workplace.configure(configOf('http://127.0.0.1:1', { server: { listen: address } })),
    );
    expect(code).toBe(1);
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatch(new RegExp(`^warmwarden: .*${address}.*in use.*server\\.listen`));
  });

  it('is told when the store’s folder can’t be made, is a folder itself, or holds something else', async () => {
    using workplace = new Workplace();
    // A path below a file: root, too, can't make a folder there.
    writeFileSync(
      workplace.path('file'),
      'not a database, and long enough to be taken for none of its pages\n'.repeat(20),
    );
    mkdirSync(workplace.path('folder'));
    for (const path of ['file/store.db', 'folder', 'file']) {
      const store = { url: `sqlite:./${path}` };
      const { code, lines } = await runToEnd(workplace.configure(configOf('http://127.0.0.1:1', { store })));
      expect(code).toBe(1);
      expect(lines).toHaveLength(1);
      expect(lines[0]).toMatch(/^warmwarden: The store .* can't be (opened|used): /);
      expect(lines[0]).toContain(workplace.path(path));
      expect(lines[0]).toContain('store.url');
    }
  });

  it('is told who holds the store, and the holder is not disturbed', async () => {
    using workplace = new Workplace();
    await using api = await OtherApi.start();
    const config = workplace.configure(configOf(api.url));
    await using first = runDaemon(config);
    const url = await first.onDuty();
    const { code, lines } = await runToEnd(config);
    expect(code).toBe(1);
    expect(lines).toHaveLength(1);
    const { pid } = await first.said('on duty');
    expect(lines[0]).toMatch(new RegExp(`^warmwarden: The store .* in use by process ${pid} on `));
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
    await first.killNow();
    // Free at once, also after kill -9.
    await using next = runDaemon(config);
    await next.onDuty();
  });
});
