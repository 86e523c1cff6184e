// While others hold all connections, a probe is answered: one that is not would restart a daemon that guards. The stream of live pages
// says that something changed, to as many readers as there is room for.

import { get, type IncomingMessage } from 'node:http';
import { request } from 'node:https';
import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect, onTestFinished, test } from 'vitest';
import { Fleet } from '../../src/core/fleet/fleet.ts';
import { usualLimits } from '../../src/web/live.ts';
import { ownCertificate } from '../support/certificates.ts';
import { sha256 } from '../support/sha256.ts';
import { until } from '../support/until.ts';
import { exampleFleet, mailbox } from './example-fleet.ts';
import { ask, serve } from './running-server.ts';

const fewConnections = { connections: 2, stallMs: 60_000 };

/** Opens so many connections and asks for nothing. */
async function hold(port: number, count: number): Promise<readonly Socket[]> {
  return Promise.all(
    Array.from({ length: count }, async () => {
      const socket = connect(port, '127.0.0.1');
      onTestFinished(() => void socket.destroy());
      socket.on('error', () => {});
      await new Promise((resolve) => socket.once('connect', resolve));
      return socket;
    }),
  );
}

const statusOf = (url: string) =>
  ask(url).then(
    ({ status }) => status,
    () => 'closed',
  );

test('probes and scrapes are answered, and nothing else', async () => {
  await using server = await serve(new Fleet(), { connectionLimits: fewConnections, pathPrefix: '/guard' });
  const [first] = await hold(server.port, 2);
  for (const path of ['/healthz', '/readyz', '/metrics', '/guard/readyz'])
    expect([path, await statusOf(`${server.url}${path}`)]).toEqual([path, 200]);
  expect(await statusOf(`${server.url}/api/deliveries`)).toBe(503);
  first?.destroy();
  await until('room for others', async () => (await statusOf(`${server.url}/api/deliveries`)) === 200);
});

test('a probe in HTTP/1.0 names no host, and is answered; what needs a token or our host is not', async () => {
  await using server = await serve(new Fleet());
  const answerTo = async (path: string) => {
    const [socket] = await hold(server.port, 1);
    socket?.write(`GET ${path} HTTP/1.0\r\n\r\n`);
    return socket ? (await text(socket)).split('\r\n')[0] : '';
  };
  expect(await answerTo('/readyz')).toBe('HTTP/1.1 200 OK');
  expect(await answerTo('/api/fleet')).toBe('HTTP/1.1 403 Forbidden');
});

test('is closed for the next one when nothing was asked on it, so a probe still comes through', async () => {
  await using server = await serve(new Fleet(), { connectionLimits: fewConnections });
  const held = await hold(server.port, 100);
  expect(await statusOf(`${server.url}/readyz`)).toBe(200);
  await until('those beyond the limit to be closed', () => held.filter(({ closed }) => !closed).length <= 22);
  expect(held.slice(0, 2).map(({ closed }) => closed)).toEqual([false, false]);
});

test('the same with TLS, where a client that begins no handshake does not hold up the end either', async () => {
  await using server = await serve(new Fleet(), { connectionLimits: fewConnections, tls: ownCertificate });
  await hold(server.port, 2);
  const secure = (path: string) =>
    new Promise((resolve) => {
      const asked = request(`${server.url}${path}`, { rejectUnauthorized: false }, ({ statusCode }) =>
        resolve(statusCode),
      );
      asked.on('error', () => resolve('closed')).end();
    });
  expect([await secure('/readyz'), await secure('/api/deliveries')]).toEqual([200, 503]);
  const closing = performance.now();
  await server.close();
  expect(performance.now() - closing).toBeLessThan(5_000);
});

test('a client that reads nothing of an answer is disconnected, which makes room for others', async () => {
  await using server = await serve(new Fleet(), { connectionLimits: { connections: 1, stallMs: 200 } });
  const [stalled] = await hold(server.port, 1);
  // More than the kernel keeps for a connection.
  const question = 'GET /openapi.json HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept-Encoding: identity\r\n\r\n';
  await new Promise<void>((resolve) => void stalled?.pause().write(question.repeat(500), () => resolve()));
  const isAnswered = async () => (await statusOf(`${server.url}/api/deliveries`)) === 200;
  expect(await isAnswered()).toBe(false);
  await until('room for another connection', isAnswered);
});

const never = 3_600_000;
const limits = { ...usualLimits, tickMs: 5, beatMs: never };

/** The events of a stream, one by one. */
async function listen(url: string) {
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    get(`${url}/events`, resolve).on('error', reject);
  });
  async function* blocks(): AsyncGenerator<string> {
    let waiting = '';
    for await (const chunk of response.setEncoding('utf8')) {
      const whole = (waiting + chunk).split('\n\n');
      waiting = whole.pop() ?? '';
      yield* whole;
    }
  }
  const all = blocks();
  const next = async () => (await all.next()).value;
  expect(await next()).toBe(': live');
  return { response, next };
}

test('a page hears that something changed, once a look, and nothing while all is the same', async () => {
  const fleet = exampleFleet();
  await using server = await serve(fleet, { liveLimits: limits });
  const stream = await listen(server.url);
  expect(stream.response.headers).toMatchObject({ 'content-type': 'text/event-stream; charset=utf-8' });
  expect(stream.response.headers['content-encoding']).toBeUndefined();
  for (const id of ['m9', 'm5', 'm9']) {
    fleet.putMailbox(mailbox(id, `${id}@acme.example`));
    fleet.putMailbox(mailbox(id, `${id}@acme.example`));
    expect(await stream.next()).toBe('data: changed');
  }
  stream.response.destroy();
});

test('time changes a view, too: readers hear of it now and then', async () => {
  await using server = await serve(exampleFleet(), { liveLimits: { ...limits, beatMs: 10 } });
  const stream = await listen(server.url);
  expect([await stream.next(), await stream.next()]).toEqual(['data: changed', 'data: changed']);
  stream.response.destroy();
});

test('no more readers than there is room for; one that leaves makes room, and the end of the server ends them all', async () => {
  const server = await serve(exampleFleet(), { liveLimits: { ...limits, readers: 1 } });
  const first = await listen(server.url);
  const refused = await ask(`${server.url}/events`);
  expect([refused.status, refused.headers['retry-after']]).toEqual([503, '30']);
  expect(JSON.parse(refused.body.toString()).error).toBe('too_many_readers');
  first.response.destroy();
  await expect.poll(async () => (await ask(`${server.url}/events`, {}, 'HEAD')).status).toBe(200);
  const second = await listen(server.url);
  await server[Symbol.asyncDispose]();
  expect(await second.next()).toBeUndefined();
});

test('a script is offered no sign-in in a window of the browser', async () => {
  const auth = () => ({ tokens: [{ name: 'eve', role: 'viewer' as const, sha256: sha256('secret') }] });
  await using server = await serve(exampleFleet(), { auth });
  for (const path of ['/events', '/']) {
    const { status, headers } = await ask(server.url + path, {
      accept: 'text/event-stream, text/html',
      authorization: 'Bearer of-before',
    });
    expect([path, status, headers['www-authenticate']]).toEqual([path, 401, 'Bearer realm="Warmwarden"']);
  }
});
