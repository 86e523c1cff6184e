// While others hold all connections, a probe is answered: one that is not would restart a daemon that guards.
import { request } from 'node:https';
import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect, onTestFinished, test } from 'vitest';
import { Fleet } from '../../src/core/fleet/fleet.ts';
import { firstCertificate } from '../support/certificates.ts';
import { until } from '../support/until.ts';
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
  await using server = await serve(new Fleet(), { connectionLimits: fewConnections, tls: firstCertificate });
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
