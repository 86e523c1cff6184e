// Who is let in: tokens and roles, host names, and how the server starts and ends.
import { Agent, request } from 'node:http';
import { connect } from 'node:net';
import { describe, expect, test } from 'vitest';
import { type Auth, isOwnHost } from '../../src/web/access/auth.ts';
import { sha256 } from '../support/sha256.ts';
import { exampleFleet } from './example-fleet.ts';
import { ask, serve } from './running-server.ts';

const tokens: Auth = {
  tokens: [
    { name: 'ops', sha256: sha256('operator-token'), role: 'operator' },
    { name: 'eyes', sha256: sha256('viewer-token'), role: 'viewer' },
    { name: 'prom', sha256: sha256('scraper-token'), role: 'scraper' },
  ],
};
const auth = () => tokens;
const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
const basic = (token: string) => ({ authorization: `Basic ${Buffer.from(`anybody:${token}`).toString('base64')}` });

describe('tokens', () => {
  test('are asked for everywhere but at the probes', async () => {
    await using server = await serve(exampleFleet(), { auth });
    for (const path of ['/', '/metrics', '/api/fleet', '/mailboxes/acme/m1', '/nowhere']) {
      const answer = await ask(server.url + path);
      expect([path, answer.status]).toEqual([path, 401]);
      expect(String(answer.headers['www-authenticate'])).toMatch(/Basic realm.*Bearer realm/);
      expect(answer.body.toString()).not.toContain('acme.example');
    }
    for (const path of ['/healthz', '/readyz', '/assets/style.css', '/sign-in'])
      expect((await ask(server.url + path)).status).toBe(200);
  });

  test('open by role: a scraper reads metrics and nothing else', async () => {
    await using server = await serve(exampleFleet(), { auth });
    const statusOf = async (path: string, headers: Record<string, string>) =>
      (await ask(server.url + path, headers)).status;
    for (const way of [bearer, basic]) {
      for (const path of ['/', '/api/fleet', '/metrics']) {
        expect(await statusOf(path, way('viewer-token'))).toBe(200);
        expect(await statusOf(path, way('operator-token'))).toBe(200);
      }
      expect(await statusOf('/metrics', way('scraper-token'))).toBe(200);
      expect(await statusOf('/', way('scraper-token'))).toBe(403);
      expect(await statusOf('/api/alerts', way('scraper-token'))).toBe(403);
    }
  });

  test('are refused when they are wrong, empty, or only the digest', async () => {
    await using server = await serve(exampleFleet(), { auth });
    const wrong = [bearer('viewer-toke'), bearer(sha256('viewer-token')), basic(''), { authorization: 'Bearer' }];
    for (const headers of [...wrong, { authorization: 'Basic !!!' }, { authorization: 'Digest viewer-token' }])
      expect((await ask(`${server.url}/`, headers)).status).toBe(401);
  });
});

describe('without tokens', () => {
  test('a name that was turned to us is refused', async () => {
    await using server = await serve(exampleFleet());
    expect((await ask(`${server.url}/`, { host: 'evil.example' })).status).toBe(403);
    expect((await ask(`${server.url}/metrics`, { host: 'evil.example:80' })).status).toBe(403);
    for (const host of ['localhost', '127.0.0.1:7025', '[::1]:7025'])
      expect((await ask(`${server.url}/`, { host })).status).toBe(200);
  });

  test.each([
    ['localhost:7025', true],
    ['LOCALHOST.', true],
    ['192.0.2.7', true],
    ['guard.internal:7025', true],
    ['localhost.evil.example', false],
    ['127.0.0.1.evil.example', false],
    ['[evil]', false],
    ['', false],
    [undefined, false],
  ])('the host %s is ours: %s', (host, ours) => {
    expect(isOwnHost(host, 'guard.internal')).toBe(ours);
  });
});

describe('the server', () => {
  test('guards every answer with headers against script, sniffing and frames', async () => {
    await using server = await serve(exampleFleet());
    for (const path of ['/', '/nowhere', '/api/fleet', '/metrics']) {
      const { headers } = await ask(server.url + path);
      expect(headers['content-security-policy']).toMatch(/default-src 'none'.*frame-ancestors 'none'/);
      expect(headers['content-security-policy']).not.toContain('unsafe');
      expect(headers['x-content-type-options']).toBe('nosniff');
      expect(headers['x-frame-options']).toBe('DENY');
      expect(headers['referrer-policy']).toBe('same-origin');
    }
  });

  test('lives before it is ready, and says what it waits for', async () => {
    const reasons = ['the first sweep of acme has not begun'];
    await using server = await serve(exampleFleet(), { ready: () => ({ ready: false, reasons }) });
    expect((await ask(`${server.url}/healthz`)).status).toBe(200);
    const answer = await ask(`${server.url}/readyz`);
    expect([answer.status, answer.body.toString()]).toEqual([503, `not ready: ${reasons[0]}\n`]);
  });

  test('says in one sentence that its port is taken', async () => {
    await using first = await serve(exampleFleet());
    await expect(serve(exampleFleet(), { port: first.port })).rejects.toThrow(
      `127.0.0.1:${first.port} is in use by another process. Stop that process or set another server.listen`,
    );
  });

  test('closes although connections are open, idle or in the middle of a request', async () => {
    const server = await serve(exampleFleet());
    const agent = new Agent({ keepAlive: true });
    await new Promise<void>((resolve) => {
      request(`${server.url}/healthz`, { agent }, (response) => response.resume().on('end', resolve)).end();
    });
    const halfAsked = connect(server.port, '127.0.0.1');
    halfAsked.on('error', () => {});
    await new Promise<void>((resolve) => halfAsked.write('GET / HTTP/1.1\r\nHost: localhost\r\n', () => resolve()));
    await server.close();
    agent.destroy();
    halfAsked.destroy();
    await expect(ask(`${server.url}/healthz`)).rejects.toThrow('ECONNREFUSED');
  });
});
