// Ways out through an HTTP proxy and to servers with a private authority: the names in this file lead nowhere without the proxy.
import { writeFileSync } from 'node:fs';
import { createServer as createProxy, request } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import { createServer, type TLSSocket } from 'node:tls';
import { expect, onTestFinished, test } from 'vitest';
import { minuteMs } from '../../src/core/time.ts';
import { RecipeApi } from '../../src/recipes/client/client.ts';
import { startMovedDaemon } from '../scenario/moved-daemon.ts';
import { privateAuthority } from '../support/certificates.ts';
import { close, listen, portOf as portOfServer } from '../support/loopback.ts';
import { newFolder } from '../support/new-folder.ts';
import { emergencyWeek, OtherApi } from '../support/other-api.ts';
import { Running, Workplace } from '../support/process.ts';
import { Receiver } from '../support/receiver.ts';
import { silentWorld } from '../support/silent-world.ts';

const poll = { health: '* * * * *', mailboxes: '* * * * *', stats: '*/5 * * * *', warmup: '*/5 * * * *' };
const portOf = (url: string) => new URL(url).port;

/** CONNECT for https, absolute addresses for plain http. Every name leads to this machine. */
class HttpProxy implements AsyncDisposable {
  /** `CONNECT mailboxes.test:443`, `GET http://hook.test/`, in order. */
  readonly asked: string[] = [];
  /** `user:password` that it wants; null: it asks for none. */
  wants: string | null = null;
  readonly #server = createProxy((asked, answer) => {
    this.asked.push(`${asked.method} ${asked.url}`);
    if (!this.#admits(asked.headers['proxy-authorization'])) return void answer.writeHead(407).end();
    const { port, pathname, search, host } = new URL(asked.url ?? '', 'http://not-absolute.test');
    const { 'proxy-authorization': _, ...headers } = asked.headers;
    const there = request(
      { port, path: `${pathname}${search}`, method: asked.method, headers: { ...headers, host } },
      (got) => {
        answer.writeHead(got.statusCode ?? 502, got.headers);
        got.pipe(answer);
      },
    );
    there.on('error', () => answer.writeHead(502).end());
    asked.pipe(there);
  });

  static async start(): Promise<HttpProxy> {
    const proxy = new HttpProxy();
    proxy.#server.on('connect', ({ url = '', headers }, socket) => {
      proxy.asked.push(`CONNECT ${url}`);
      socket.on('error', () => {});
      if (!proxy.#admits(headers['proxy-authorization'])) {
        socket.end('HTTP/1.1 407 Proxy Authentication Required\r\nProxy-Authenticate: Basic\r\n\r\n');
        return;
      }
      const there = connect(Number(url.split(':').at(-1)), '127.0.0.1', () => {
        socket.write('HTTP/1.1 200 Connection Established\r\n\r\n');
        socket.pipe(there).pipe(socket);
      });
      there.on('error', () => socket.destroy());
      socket.on('close', () => there.destroy());
    });
    await listen(proxy.#server);
    return proxy;
  }

  get port(): number {
    return portOfServer(this.#server);
  }

  /** The hosts that were asked for, each once, in the order of the alphabet. */
  hosts(): readonly string[] {
    return [...new Set(this.asked.map((line) => /([a-z.]+):\d+/.exec(line)?.[1] ?? line))].sort();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return close(this.#server);
  }

  #admits(authorization: string | undefined): boolean {
    return this.wants === null || authorization === `Basic ${Buffer.from(this.wants).toString('base64')}`;
  }
}

/** TLS with the certificate of the private authority in front of a server on loopback; resolves to its port. */
async function withTls(port: string): Promise<number> {
  const { cert, key } = privateAuthority;
  const open = new Set<TLSSocket>();
  const server = createServer({ cert, key }, (socket) => {
    open.add(socket.on('error', () => {}));
    const there = connect(Number(port), '127.0.0.1');
    socket
      .pipe(there)
      .on('error', () => socket.destroy())
      .pipe(socket);
  });
  await listen(server);
  onTestFinished(() => {
    server.close();
    for (const socket of open) socket.destroy();
  });
  return portOfServer(server);
}

function fileWith(text: string): string {
  const file = join(newFolder(), 'ca.crt');
  writeFileSync(file, text);
  return file;
}

test('polls, the POST, messages and the heartbeat go through the proxy of the file, plain http and https', async () => {
  await using api = await OtherApi.start();
  await using proxy = await HttpProxy.start();
  await using receiver = await Receiver.start();
  proxy.wants = 'warden:pass word';
  api.add('ann@d2.example', { days: emergencyWeek });
  const ca_file = fileWith(privateAuthority.ca);
  const hook = await withTls(portOf(receiver.hookUrl));
  await using stage = await startMovedDaemon({
    other: api,
    poll,
    account: { base_url: `http://mailboxes.test:${portOf(api.url)}`, allow_http: true },
    file: {
      proxy: `http://warden:pass%20word@127.0.0.1:${proxy.port}`,
      alerts: {
        group_wait: '0s',
        channels: [
          { name: 'hook', type: 'webhook', url: `https://hook.test:${hook}/hook`, secret: receiver.secret, ca_file },
        ],
        heartbeat: { url: `http://beat.test:${portOf(receiver.slackUrl)}/beat`, allow_http: true },
      },
    },
  });
  await stage.run(20 * minuteMs);
  expect(api.posts()).toHaveLength(1);
  expect(receiver.alerts().some(({ rule }) => rule === 'guard_acted')).toBe(true);
  expect(proxy.hosts()).toEqual(['beat.test', 'hook.test', 'mailboxes.test']);
  expect(proxy.asked).toContain(`CONNECT hook.test:${hook}`);
  expect(proxy.asked).toContain(`GET http://mailboxes.test:${portOf(api.url)}/v1/mailboxes`);
});

test('https to an API with a private authority: with ca_file it is polled, without it the failure says what to do', async () => {
  await using api = await OtherApi.start();
  await using proxy = await HttpProxy.start();
  api.add('ann@d2.example', { days: emergencyWeek });
  const base_url = `https://mailboxes.test:${await withTls(portOf(api.url))}`;
  const account = { base_url };
  const file = { proxy: `http://127.0.0.1:${proxy.port}` };
  await using stage = await startMovedDaemon({ other: api, poll, account, file, expectErrors: ['API'] });
  await stage.run(5 * minuteMs);
  expect([...stage.fleet().accounts()][0]?.lastFailure).toContain(
    `${base_url}, through the proxy 127.0.0.1:${proxy.port}: its certificate is signed by an authority that this machine does not know; name that authority in ca_file`,
  );
  await stage.reload((config) => {
    config.accounts = config.accounts.map((one) => ({ ...one, ca_file: fileWith(privateAuthority.ca) }));
  });
  await stage.run(15 * minuteMs);
  expect(api.posts()).toHaveLength(1);
  expect(proxy.asked).toContain(`CONNECT ${new URL(base_url).host}`);
});

test('a proxy that refuses is what the failure names, without its password', async () => {
  await using api = await OtherApi.start();
  await using proxy = await HttpProxy.start();
  proxy.wants = 'warden:right';
  const account = { base_url: `https://mailboxes.test:${portOf(api.url)}` };
  const file = { proxy: `http://warden:wrong-secret@127.0.0.1:${proxy.port}` };
  await using stage = await startMovedDaemon({ other: api, poll, account, file, expectErrors: ['API'] });
  const failure = () => [...stage.fleet().accounts()][0]?.lastFailure;
  await stage.run(5 * minuteMs);
  const said = `through the proxy 127.0.0.1:${proxy.port}: the proxy answered 407: it wants a user name and a password`;
  expect(failure()).toContain(said);
  await stage.reload((config) => {
    config.accounts = config.accounts.map((one) => ({ ...one, base_url: 'http://mailboxes.test:1', allow_http: true }));
  });
  await stage.run(5 * minuteMs);
  expect(failure()).toContain(said);
  const page = await stage.text('/');
  expect(`${page}${failure()}${JSON.stringify(stage.receiver.alerts())}`).not.toContain('wrong-secret');
});

test('recipe services are asked through it', async () => {
  await using proxy = await HttpProxy.start();
  const proxies = { http: `http://127.0.0.1:${proxy.port}`, https: null, except: [] };
  const world = silentWorld();
  const api = new RecipeApi({ baseUrl: 'http://recipes.test:1/v1', apiKey: 'k', egress: { proxies, ca: null } }, world);
  expect(await api.recipes(AbortSignal.timeout(60_000))).toMatchObject({ ok: false });
  await api.close();
  expect(proxy.asked[0]).toBe('GET http://recipes.test:1/v1/recipes');
});

test.each([
  ['HTTPS_PROXY', 'NO_PROXY'],
  ['https_proxy', 'no_proxy'],
])('doctor obeys %s, %s and NODE_EXTRA_CA_CERTS', async (variable, except) => {
  await using api = await OtherApi.start();
  await using proxy = await HttpProxy.start();
  using workplace = new Workplace();
  api.add('ann@d2.example');
  const port = await withTls(portOf(api.url));
  const config = workplace.configure({
    accounts: [{ name: 'acme', base_url: `https://mailboxes.test:${port}`, api_key: api.addKey() }],
    alerts: { channels: [{ name: 'ops', type: 'slack', url: `https://hook.test:${port}/services/a` }] },
    server: { public_url: 'https://w.example' },
  });
  const own = { [variable]: `http://127.0.0.1:${proxy.port}`, NODE_EXTRA_CA_CERTS: fileWith(privateAuthority.ca) };
  const run = async (command: readonly string[], more: Record<string, string> = {}) => {
    await using running = new Running([...command, '--config', config], { ...own, ...more });
    await running.ended;
    return running.output;
  };
  const doctor = await run(['doctor']);
  expect(doctor).toMatch(/ok +Account acme: the API answers/);
  expect(doctor).toMatch(/ok +Channel ops: the receiver accepts connections/);
  expect(proxy.hosts()).toEqual(['hook.test', 'mailboxes.test']);
  const asked = proxy.asked.length;
  expect(await run(['doctor'], { [except]: '.test' })).toMatch(/FAILED: .*(unknown|looked up)/);
  expect(proxy.asked).toHaveLength(asked);
});
