// The proxies of docs/access.md for real: what it prints for nginx and Caddy, in front of a server as it says to configure one.
import { spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { request } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { Store } from '../../src/store/store.ts';
import { hasBrowser, openBrowser } from '../support/browser.ts';
import { ownCertificate } from '../support/certificates.ts';
import { isInstalled } from '../support/debian.ts';
import { freePort } from '../support/free-port.ts';
import { newFolder } from '../support/new-folder.ts';
import { root } from '../support/process.ts';
import { sha256 } from '../support/sha256.ts';
import { until } from '../support/until.ts';
import { exampleFleet, mailbox, now } from './example-fleet.ts';
import { serve } from './running-server.ts';

const page = readFileSync(join(root, 'docs/access.md'), 'utf8');

/** The block in this language below this heading, as it is printed. */
function printed(heading: string, language: string): string {
  const [, below = ''] = page.split(`\n## ${heading}\n`);
  const [, block = ''] = new RegExp(`\`\`\`${language}\n([^]*?)\`\`\``).exec(below.split('\n## ')[0] ?? '') ?? [];
  if (block === '') throw new Error(`docs/access.md has no ${language} below ${heading}`);
  return block;
}

const token = 'ann-token';
const auth = () => ({ tokens: [{ name: 'ann', role: 'operator' as const, sha256: sha256(token) }] });
const trustedProxies = () => [{ address: '127.0.0.1', bits: 32, family: 'ipv4' as const }];

interface Place {
  readonly folder: string;
  readonly port: number;
  readonly to: string;
}
const tls = ({ folder }: Place) => [join(folder, 'tls.crt'), join(folder, 'tls.key')] as const;

/** A whole configuration of nginx around a server block. */
function nginx(server: string, place: Place): string {
  const [cert, key] = tls(place);
  const filled = server
    .replace('listen 443 ssl', `listen 127.0.0.1:${place.port} ssl`)
    .replace('/etc/nginx/warmwarden.crt', cert)
    .replace('/etc/nginx/warmwarden.key', key)
    .replace('127.0.0.1:7025', place.to);
  const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
  const temporary = paths.map((path) => `${path}_temp_path ${join(place.folder, path)};`).join(' ');
  return `daemon off; pid ${join(place.folder, 'pid')}; error_log stderr; events {} http { access_log off; ${temporary} ${filled} }`;
}
const aServer = (locations: string) =>
  `server { listen 443 ssl; ssl_certificate /etc/nginx/warmwarden.crt; ssl_certificate_key /etc/nginx/warmwarden.key; ${locations} }`;

function caddy(site: string, place: Place): string {
  const filled = site
    .replace(/^\S+ \{/, `https://localhost:${place.port} {\n  tls ${tls(place).join(' ')}`)
    .replace('127.0.0.1:7025', place.to);
  return `{\n  admin off\n  auto_https disable_redirects\n}\n${filled}`;
}

const single = 'Behind a reverse proxy';
const below = 'Below a path';
const ways = [
  ['nginx', '', (place: Place) => nginx(printed(single, 'nginx'), place)],
  ['Caddy', '', (place: Place) => caddy(printed(single, 'caddyfile'), place)],
  ['nginx that passes the path on', '/warmwarden', (place: Place) => nginx(aServer(printed(below, 'nginx')), place)],
  [
    'nginx that removes the path',
    '/warmwarden',
    (place: Place) => nginx(aServer(printed(below, 'nginx').replace(':7025;', ':7025/;')), place),
  ],
  ['Caddy', '/warmwarden', (place: Place) => caddy(printed(below, 'caddyfile'), place)],
] as const;

/** The proxy with this configuration, until it is disposed. */
function started(name: string, folder: string, text: string): AsyncDisposable & { said(): string; over(): boolean } {
  const file = join(folder, name.startsWith('nginx') ? 'nginx.conf' : 'Caddyfile');
  writeFileSync(file, text);
  const [command, ...args] = name.startsWith('nginx')
    ? ['nginx', '-c', file, '-p', folder, '-e', 'stderr']
    : ['caddy', 'run', '--config', file, '--adapter', 'caddyfile'];
  const proxy = spawn(command ?? '', args, {
    env: { ...process.env, HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder },
  });
  const ended = new Promise((resolve) => proxy.once('close', resolve));
  let said = '';
  for (const output of [proxy.stdout, proxy.stderr]) output.on('data', (bytes) => (said += String(bytes)));
  return {
    said: () => said,
    over: () => proxy.exitCode !== null,
    [Symbol.asyncDispose]: async () => {
      proxy.kill('SIGTERM');
      await ended;
    },
  };
}

/** The status of an answer to these headers, sent from this address. */
function statusOf(url: string, headers: Record<string, string>, localAddress = '127.0.0.1') {
  const options = { headers, localAddress, family: 4, rejectUnauthorized: false, agent: false };
  return new Promise<number | undefined>((resolve, reject) => {
    request(url, options, (answer) => {
      answer.resume().once('end', () => resolve(answer.statusCode));
    })
      .once('error', reject)
      .end();
  });
}
const guessFrom = (url: string, address: string) => statusOf(`${url}/`, { authorization: 'Bearer guessed' }, address);

test.skipIf(!hasBrowser() || !isInstalled('nginx') || !isInstalled('caddy')).each(ways)(
  'behind %s at "%s", a browser signs in, sees changes live, and guesses count by its own address',
  { timeout: 180_000 },
  async (name, path, configure) => {
    const folder = newFolder();
    writeFileSync(join(folder, 'tls.crt'), ownCertificate.cert);
    writeFileSync(join(folder, 'tls.key'), ownCertificate.key);
    const port = await freePort();
    const publicUrl = `https://localhost:${port}${path}`;
    const fleet = exampleFleet();
    const store = await Store.open(join(folder, 'warmwarden.db'), now);
    await using server = await serve(fleet, {
      ...{ auth, sessionKey: await store.sessionKey(), trustedProxies },
      ...{ publicUrl, pathPrefix: path },
    });
    await using proxy = started(name, folder, configure({ folder, port, to: `127.0.0.1:${server.port}` }));
    await using browser = await openBrowser();
    const context = await browser.newContext({ ignoreHTTPSErrors: true });
    const tab = await context.newPage();
    await until(`${name} to answer`, () => {
      if (proxy.over()) throw new Error(proxy.said());
      return tab.goto(`${publicUrl}/alerts`).catch(() => null);
    });
    await tab.locator('input[name=token]').fill(token);
    await tab.keyboard.press('Enter');
    await tab.locator('html[data-live=on]').waitFor();
    expect(tab.url()).toBe(`${publicUrl}/alerts`);
    const [cookie] = await context.cookies();
    expect(cookie).toMatchObject({ secure: true, httpOnly: true, name: expect.stringMatching(/^__(Host|Secure)-/) });

    // A change arrives while the answer of the stream is open.
    await tab.goto(`${publicUrl}/`);
    await tab.locator('html[data-live=on]').waitFor();
    fleet.putMailbox(mailbox('m77', 'new@acme.example'));
    await tab.locator('[id="row-acme/m77"]').waitFor();

    for (let count = 0; count < 10; count += 1) expect(await guessFrom(publicUrl, '127.0.0.2')).toBe(401);
    expect(await guessFrom(publicUrl, '127.0.0.2')).toBe(429);
    expect(await guessFrom(publicUrl, '127.0.0.3')).toBe(401);
    await store.close();
  },
);

test.skipIf(!isInstalled('caddy'))(
  'behind Caddy with forward_auth, users have the role of their group, and forged headers count for nothing',
  { timeout: 60_000 },
  async () => {
    const signedIn: Record<string, Record<string, string>> = {
      ann: { 'remote-user': 'ann', 'remote-groups': 'staff' },
      nora: { 'remote-user': 'nora', 'remote-groups': 'north' },
      eve: {},
    };
    const gate = createServer((asking, answer) => answer.writeHead(200, signedIn[`${asking.headers['x-test']}`]).end());
    await new Promise<void>((resolve) => gate.listen(0, '127.0.0.1', resolve));
    const folder = newFolder();
    writeFileSync(join(folder, 'tls.crt'), ownCertificate.cert);
    writeFileSync(join(folder, 'tls.key'), ownCertificate.key);
    const port = await freePort();
    const roles = [
      { group: 'staff', role: 'operator' },
      { group: 'north', role: 'viewer', limits: { account: ['northwind'] } },
    ] as const;
    const proxyHeader = { user: 'Remote-User', groups: 'Remote-Groups', roles, trusted: trustedProxies() };
    await using server = await serve(exampleFleet(), { auth: () => ({ tokens: [], proxyHeader }), trustedProxies });
    const site = printed('Sign-in at a proxy', 'caddyfile').replace(
      '127.0.0.1:9091',
      `127.0.0.1:${(gate.address() as AddressInfo).port}`,
    );
    await using proxy = started('Caddy', folder, caddy(site, { folder, port, to: `127.0.0.1:${server.port}` }));
    const url = `https://localhost:${port}`;
    await until('Caddy to answer', () => {
      if (proxy.over()) throw new Error(proxy.said());
      return statusOf(`${url}/healthz`, { 'x-test': 'ann' }).catch(() => null);
    });
    // Without a user, Debian's Caddy sends the placeholder of the header, which is a user without a role.
    const forged = { 'remote-user': 'ann', 'remote-groups': 'staff' };
    const asks = [
      [{ 'x-test': 'ann' }, '/api/deliveries', 200],
      [{ 'x-test': 'nora' }, '/api/fleet', 200],
      [{ 'x-test': 'nora', ...forged }, '/api/deliveries', 403],
      [{ 'x-test': 'eve', ...forged }, '/api/fleet', 403],
    ] as const;
    for (const [headers, path, status] of asks)
      expect([headers, await statusOf(url + path, headers)]).toEqual([headers, status]);
    gate.close();
  },
);
