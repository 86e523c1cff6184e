// Browsers sign in with a token: how a session begins, what it may do, how it ends, and what can't use it.
import { describe, expect, test } from 'vitest';
import { dayMs, hourMs } from '../../src/core/time.ts';
import type { Auth, Role } from '../../src/web/access/auth.ts';
import { movedClock } from '../../tools/simulator/moved-clock.ts';
import { certificateOf, ownCertificate, privateAuthority } from '../support/certificates.ts';
import { sha256 } from '../support/sha256.ts';
import { silentWorld } from '../support/silent-world.ts';
import { TestBrowser } from './browser.ts';
import { exampleFleet, now } from './example-fleet.ts';
import { serve, stillWorld } from './running-server.ts';

const token = (name: string, role: Role) => ({ name, role, sha256: sha256(`${name}-token`) });
const tokens = [token('ann', 'operator'), token('vera', 'viewer'), token('prom', 'scraper')];
const auth = () => ({ tokens });

/** A server with tokens, and a browser in front of it. */
async function open(changes: Parameters<typeof serve>[1] = {}) {
  const server = await serve(exampleFleet(), { auth, ...changes });
  return { server, browser: new TestBrowser(server.url), [Symbol.asyncDispose]: () => server.close() };
}

const it = (name: string, proof: (stage: Awaited<ReturnType<typeof open>>) => Promise<void>) =>
  test(name, async () => {
    await using stage = await open();
    await proof(stage);
  });

const signIn = (browser: TestBrowser, name = 'ann') => browser.post('/sign-in', { token: `${name}-token`, to: '/' });
const keyOf = ({ cookies }: TestBrowser) => [...cookies.values()][0] ?? '';

describe('signing in', () => {
  it('a page asks for it in a form instead of the browser’s own question, and comes back to where one was going', async (stage) => {
    const { status, headers, text } = await stage.browser.get('/mailboxes/acme/m1?do=resume');
    expect([status, headers['www-authenticate']]).toEqual([401, 'Bearer realm="Warmwarden"']);
    expect(text).toContain('<input type="hidden" name="to" value="/mailboxes/acme/m1?do=resume">');
    expect(text).not.toContain('acme.example');
    const sent = await stage.browser.post('/sign-in', { token: 'ann-token', to: '/mailboxes/acme/m1?do=resume' });
    expect([sent.status, sent.headers.location]).toEqual([303, '/mailboxes/acme/m1?do=resume']);
    expect((await stage.browser.get('/')).status).toBe(200);
  });

  it('gives a cookie that no script and no other site can use', async (stage) => {
    const { headers } = await signIn(stage.browser);
    expect(headers['set-cookie']).toEqual([
      expect.stringMatching(
        /^warmwarden=[\w-]{43}\.\d{13}\.\d{13}\.[\w-]{43}; Max-Age=604800; Path=\/; HttpOnly; SameSite=Lax$/,
      ),
    ]);
  });

  it('leads nowhere but to a path of this server', async (stage) => {
    for (const to of ['https://evil.example/', '//evil.example', '/\\evil.example', '/\t/evil.example', 'x', '']) {
      const { headers } = await stage.browser.post('/sign-in', { token: 'ann-token', to });
      expect([to, headers.location]).toEqual([to, '/']);
    }
  });

  it('is refused to a wrong token and to one that may only read the metrics', async (stage) => {
    const wrong = await stage.browser.post('/sign-in', { token: 'ann', to: '/' });
    expect([wrong.status, wrong.headers['set-cookie']]).toEqual([401, undefined]);
    expect(wrong.text).toContain('This token is wrong.');
    const scraper = await signIn(stage.browser, 'prom');
    expect([scraper.status, scraper.headers['set-cookie']]).toEqual([403, undefined]);
    expect((await stage.browser.post('/sign-in', { token: '', to: '/' })).status).toBe(401);
  });
});

describe('a form', () => {
  test('is taken from our own origin only, also from browsers that do not say where a form stands', async () => {
    await using stage = await open({ publicUrl: 'https://ops.example/warmwarden' });
    const statusFrom = async (origin: string) => {
      const body = new URLSearchParams({ token: 'ann-token' });
      const sent = await fetch(`${stage.server.url}/sign-in`, {
        method: 'POST',
        headers: { origin },
        body,
        redirect: 'manual',
      });
      return [origin, sent.status];
    };
    for (const origin of ['https://evil.example', 'null', `${stage.server.url}.evil.example`, 'http://127.0.0.1:1'])
      expect(await statusFrom(origin)).toEqual([origin, 403]);
    for (const origin of [stage.server.url, 'https://ops.example'])
      expect(await statusFrom(origin)).toEqual([origin, 303]);
  });
});

describe('a session', () => {
  it('may do what its token may: a viewer’s reads, and no session operates the API', async (stage) => {
    await signIn(stage.browser, 'vera');
    expect((await stage.browser.get('/api/fleet')).status).toBe(200);
    await signIn(stage.browser, 'ann');
    const json = { 'content-type': 'application/json' };
    expect((await stage.browser.post('/api/operations/pause', {}, json)).status).toBe(403);
    expect((await stage.browser.post('/api/operations/reload', {}, json)).status).toBe(403);
    expect((await stage.browser.get('/v1/recipes')).status).toBe(401);
  });

  it('ends when its browser signs out', async (stage) => {
    await signIn(stage.browser);
    const shown = (await stage.browser.get('/')).text;
    const [, formToken = ''] = /name="form_token" value="([^"]+)"/.exec(shown) ?? [];
    const { status, headers } = await stage.browser.post('/sign-out', { form_token: formToken });
    expect([status, headers.location]).toEqual([303, '/sign-in']);
    expect(stage.browser.cookies.size).toBe(0);
    expect((await stage.browser.get('/')).status).toBe(401);
  });

  it('is not begun with a key that somebody planted', async (stage) => {
    stage.browser.cookies.set('warmwarden', 'A'.repeat(43));
    expect((await stage.browser.get('/')).status).toBe(401);
    await signIn(stage.browser);
    expect(keyOf(stage.browser)).not.toContain('A'.repeat(43));
  });

  it('is only what the server signed: no later time, no other key, no other secret', async (stage) => {
    await signIn(stage.browser);
    const signed = keyOf(stage.browser);
    const [key = '', started = '', used = '', signature = ''] = signed.split('.');
    const opens = async (cookie: string, { url } = stage.server) => {
      const browser = new TestBrowser(url);
      browser.cookies.set('warmwarden', cookie);
      return (await browser.get('/')).status;
    };
    expect(await opens(signed)).toBe(200);
    const later = `${now + 1}`;
    const forged = [key, `${signed}A`, [key, later, used, signature], [key, started, later, signature]];
    for (const one of [...forged, ['A'.repeat(43), started, used, signature], [key, started, used, 'A'.repeat(43)]])
      expect([one, await opens([one].flat().join('.'))]).toEqual([one, 401]);
    await using other = await serve(exampleFleet(), { auth, sessionKey: 'another secret' });
    expect(await opens(signed, other)).toBe(401);
  });

  test('that began while the clock was ahead lasts no longer than one that begins now', async () => {
    const world = stillWorld();
    await using ahead = await open({ world: silentWorld(movedClock(now + 30 * dayMs)) });
    await signIn(ahead.browser);
    await using stage = await open({ world });
    stage.browser.cookies.set('warmwarden', keyOf(ahead.browser));
    expect((await stage.browser.get('/')).status).toBe(200);
    await world.clock.advance(12 * hourMs);
    expect((await stage.browser.get('/')).status).toBe(401);
  });

  test.each<[string, Auth]>([
    ['its token is removed', { tokens: tokens.slice(1) }],
    ['its token loses its role', { tokens: [token('ann', 'viewer')] }],
    ['its token is replaced under the same name', { tokens: [{ ...token('ann', 'operator'), sha256: sha256('new') }] }],
  ])('ends when %s', async (_what, later) => {
    let inForce: Auth = { tokens };
    await using stage = await open({ auth: () => inForce });
    await signIn(stage.browser);
    expect((await stage.browser.get('/')).status).toBe(200);
    inForce = later;
    expect((await stage.browser.get('/')).status).toBe(401);
  });

  test('ends after 12 hours without use, and after 7 days in any case', async () => {
    const world = stillWorld();
    await using stage = await open({ world });
    await signIn(stage.browser);
    for (let day = 0; day < 13; day += 1) {
      await world.clock.advance(dayMs / 2 - 1);
      expect([day, (await stage.browser.get('/')).status]).toEqual([day, 200]);
    }
    await world.clock.advance(dayMs / 2 + 14);
    expect((await stage.browser.get('/')).status).toBe(401);
    await signIn(stage.browser);
    await world.clock.advance(12 * hourMs);
    expect((await stage.browser.get('/')).status).toBe(401);
  });

  it('goes on after a restart', async (stage) => {
    await signIn(stage.browser);
    await using next = await serve(exampleFleet(), { auth });
    const browser = new TestBrowser(next.url);
    browser.cookies.set('warmwarden', keyOf(stage.browser));
    expect((await browser.get('/')).status).toBe(200);
  });
});

describe('behind a proxy', () => {
  const forwarded = { 'x-forwarded-for': '192.0.2.1, 198.51.100.7', 'x-forwarded-proto': 'https' };
  const loopback = [{ address: '127.0.0.1', bits: 32, family: 'ipv4' as const }];

  test('that is trusted, https makes the cookie secure, and a cookie without https counts for nothing', async () => {
    await using stage = await open({ trustedProxies: () => loopback });
    const browser = new TestBrowser(stage.server.url, forwarded);
    const { headers } = await signIn(browser);
    expect(String(headers['set-cookie'])).toMatch(/^__Host-warmwarden=.*; Path=\/; HttpOnly; Secure; SameSite=Lax$/);
    expect((await browser.get('/')).status).toBe(200);
    const planted = new TestBrowser(stage.server.url, forwarded);
    planted.cookies.set('warmwarden', keyOf(browser));
    expect((await planted.get('/')).status).toBe(401);
  });

  test('wrong tokens count by the client’s address, and a right one is never refused', async () => {
    await using stage = await open({ trustedProxies: () => loopback });
    const guess = async (address: string) => {
      const browser = new TestBrowser(stage.server.url, { 'x-forwarded-for': `203.0.113.9, ${address}` });
      return (await browser.post('/sign-in', { token: 'guess', to: '/' })).status;
    };
    for (let count = 0; count < 10; count += 1) expect(await guess('198.51.100.7')).toBe(401);
    expect(await guess('198.51.100.7')).toBe(429);
    expect(await guess('198.51.100.8')).toBe(401);
    const right = new TestBrowser(stage.server.url, { 'x-forwarded-for': '203.0.113.9, 198.51.100.7' });
    expect((await signIn(right)).status).toBe(303);
  });

  test('below a path, the page’s own addresses begin with it, whether the proxy passes it on or not', async () => {
    await using stage = await open({ pathPrefix: '/warmwarden' });
    const { headers } = await signIn(stage.browser);
    expect(headers.location).toBe('/warmwarden/');
    expect(String(headers['set-cookie'])).toMatch(/^warmwarden-warmwarden=.*; Path=\//);
    for (const path of ['/', '/warmwarden', '/warmwarden/?q=acme', '/warmwarden/mailboxes/acme/m1', '/runbooks']) {
      const { status, text } = await stage.browser.get(path);
      expect([path, status]).toEqual([path, 200]);
      const own = [...text.matchAll(/(?:href|src|action)="(\/[^"]*)"/g)].map(([, address = '']) => address);
      expect(own.length).toBeGreaterThan(3);
      expect(own.filter((address) => !address.startsWith('/warmwarden/'))).toEqual([]);
    }
    expect((await stage.browser.get('/warmwardens')).status).toBe(404);
  });
});

test('over https the cookie is secure, and a renewed certificate is used for new connections', async () => {
  await using stage = await open({ tls: ownCertificate });
  expect(stage.server.url).toMatch(/^https:/);
  const { headers } = await signIn(stage.browser);
  expect(String(headers['set-cookie'])).toMatch(/^__Host-warmwarden=/);
  const before = await certificateOf(stage.server.port);
  stage.server.renew(privateAuthority);
  const after = await certificateOf(stage.server.port);
  expect([before, after].map((pem) => pem.trim())).toEqual(
    [ownCertificate, privateAuthority].map(({ cert }) => cert.trim()),
  );
  expect((await stage.browser.get('/')).status).toBe(200);
});
