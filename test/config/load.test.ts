// What a right file becomes: defaults, substitution, secrets and their files, certificates, units, routes, warnings.
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
// Its schema marks secrets, too, and another test of the same process may have loaded it.
import '../../src/cli/connect-file.ts';
import { loadConfig } from '../../src/config/load.ts';
import { defaultRuleSettings } from '../../src/core/alert-rules.ts';
import { usualDnsWords } from '../../src/core/answers.ts';
import { readDocument } from '../../src/world/schema/document.ts';
import { secret, secretKeys, section } from '../../src/world/schema/section.ts';
import { ownCertificate, privateAuthority } from '../support/certificates.ts';
import { ConfigFolder } from '../support/config-folder.ts';

const place = new ConfigFolder();
const { folder } = place;
const load = (text: string, environment = {}) => place.load(text, environment);
const accepted = (text: string, environment = {}) => place.accept(text, environment).config;

/** As it is when nobody wrote anything. */
const server = { publicUrl: null, pathPrefix: '', trustedProxies: [], allowedHosts: [], tls: null, auth: 'none' };
const account = 'accounts:\n  - name: acme\n    base_url: https://mailboxes.example/\n    api_key: sk_live_1234\n';
const reachable = 'server: {public_url: "https://warmwarden.example"}\n';
const slack = 'alerts:\n  channels: [{name: ops, type: slack, url: "https://hooks.slack.com/services/a"}]\n';

function warnings(text: string): string[] {
  const loaded = load(text);
  return loaded.ok ? loaded.warnings.map((warning) => `${warning.path}: ${warning.message}`) : ['refused'];
}

describe('defaults', () => {
  // config.example.yaml shows every default, and example.test.ts proves that leaving one out changes nothing.
  test('one account is enough', () => {
    const egress = { proxies: { http: null, https: null, except: [] }, ca: null };
    expect(accepted(account)).toMatchObject({
      accounts: [{ baseUrl: 'https://mailboxes.example', egress, requestsPerMinute: 100, guard: {} }],
      alerts: { channels: [], routes: [], digests: [], heartbeat: null, rules: defaultRuleSettings },
      store: join(folder, 'data/warmwarden.db'),
      server: { ...server, host: '127.0.0.1', port: 7025 },
      api: { dnsWords: usualDnsWords },
      recipes: { directory: join(folder, 'recipes'), apiKeys: [] },
    });
  });

  test('without routes every channel gets critical and warning', () => {
    expect(accepted(account + slack).alerts.routes).toEqual([
      { match: { severity: ['critical', 'warning'] }, channels: ['ops'] },
    ]);
  });
});

test('the examples of docs/configuration.md load', () => {
  mkdirSync(join(folder, 'secrets'), { recursive: true });
  const secrets = {
    acme: 'sk_live_1234',
    slack: 'https://hooks.slack.com/services/a',
    db: 'hush',
    anna: createHash('sha256').update('a token').digest('hex'),
  };
  for (const [name, text] of Object.entries(secrets)) place.write(`secrets/${name}`, text);
  const page = readFileSync(new URL('../../docs/configuration.md', import.meta.url), 'utf8');
  const sections = (page.split('\n## Keys\n')[1] ?? '').split(/^### /m).slice(1);
  const examples = sections.flatMap((section) =>
    [...section.matchAll(/^```yaml\n(.*?)```/gms)].map(
      ([, text = '']) => [section.split('\n')[0] ?? '', text] as const,
    ),
  );
  expect(examples.length).toBeGreaterThan(10);
  for (const [section, text] of examples) {
    expect(text.startsWith(`${section}:`), text).toBe(true);
    accepted(section === 'accounts' ? text : account + text);
  }
});

// biome-ignore-start lint/suspicious/noTemplateCurlyInString: the braces are the configuration's, not TypeScript's.
describe('the environment', () => {
  const withKey = (key: string) => account.replace('sk_live_1234', key);

  test('${NAME} is replaced inside a value', () => {
    expect(accepted(withKey('sk_live_${PART}'), { PART: 'abcd' }).accounts[0]?.apiKey).toBe('sk_live_abcd');
  });

  test('${NAME:-default} is the default when the variable is missing or empty', () => {
    const text = withKey('${KEY:-sk_live_default}');
    expect(accepted(text).accounts[0]?.apiKey).toBe('sk_live_default');
    expect(accepted(text, { KEY: '' }).accounts[0]?.apiKey).toBe('sk_live_default');
    expect(accepted(text, { KEY: 'sk_live_other' }).accounts[0]?.apiKey).toBe('sk_live_other');
  });

  test('a value cannot bring YAML of its own', () => {
    expect(load(withKey('${KEY}'), { KEY: 'sk_live_1\nlog: {level: debug}' }).ok).toBe(false);
  });
});
// biome-ignore-end lint/suspicious/noTemplateCurlyInString: end of the configuration's braces.

describe('units', () => {
  test.each([
    ['10%', 100_000],
    ['0.5%', 5_000],
    ['0.0001%', 1],
    ['0.2900%', 2_900],
    ['100%', 1_000_000],
  ])('the share %s is exactly %i parts per million', (share, ppm) => {
    expect(accepted(`${account}guard: {limits: {slow: ${share}}}\n`).accounts[0]?.guard.limitsPpm?.slow).toBe(ppm);
  });

  test.each([
    ['0s', 0],
    ['250ms', 250],
    ['30s', 30_000],
    ['5m', 300_000],
    ['4h', 14_400_000],
    ['1d', 86_400_000],
  ])('the duration %s is %i ms', (duration, ms) => {
    expect(accepted(`${account}alerts: {group_wait: ${duration}}\n`).alerts.groupWaitMs).toBe(ms);
  });
});

describe('the server', () => {
  test('an IPv6 address stands in brackets', () => {
    expect(accepted(`${account}server: {listen: "[::1]:0"}\n`).server).toEqual({
      ...server,
      host: '::1',
      port: 0,
    });
  });

  test('may be open to other machines with tokens, or when auth: none is written', () => {
    const open = 'server: {listen: "0.0.0.0:7025", auth: ';
    const token = `{tokens: [{name: me, sha256: ${'AB'.repeat(32)}, role: viewer}]}`;
    expect(accepted(`${account}${open}none}\n`).server.auth).toBe('none');
    expect(accepted(`${account}${open}${token}}\n`).server.auth).toEqual({
      tokens: [{ name: 'me', sha256: 'ab'.repeat(32), role: 'viewer', limits: null }],
      proxyHeader: null,
    });
  });
});

describe('a server behind a proxy', () => {
  const serverOf = (text: string) => accepted(`${account}server: {${text}}\n`).server;

  test('has the path of its public address in front of its own paths', () => {
    expect(serverOf('public_url: "https://ops.example.com/warm/warden/"').pathPrefix).toBe('/warm/warden');
    expect(serverOf('public_url: "https://ops.example.com"').pathPrefix).toBe('');
  });

  test('trusts addresses and networks', () => {
    expect(serverOf('trusted_proxies: [127.0.0.1, 10.0.0.0/8, "::1", "fd00::/8"]').trustedProxies).toEqual([
      { address: '127.0.0.1', bits: 32, family: 'ipv4' },
      { address: '10.0.0.0', bits: 8, family: 'ipv4' },
      { address: '::1', bits: 128, family: 'ipv6' },
      { address: 'fd00::', bits: 8, family: 'ipv6' },
    ]);
  });
});

describe('the way out', () => {
  const environment = { HTTPS_PROXY: 'http://p.example:1', no_proxy: 'a.example' };
  const proxiesOf = (text: string, more: Record<string, string> = environment) => {
    const loaded = load(text, more);
    return loaded.ok && loaded.config.accounts[0]?.egress.proxies;
  };

  test('is what the environment says, unless the file has a proxy, or none', () => {
    const http = 'http://user:secret-word@q.example:2';
    expect(proxiesOf(account)).toEqual({ http: null, https: 'http://p.example:1', except: ['a.example'] });
    expect(proxiesOf(`${account}proxy: ${http}\n`)).toEqual({ http, https: http, except: ['a.example'] });
    expect(proxiesOf(`${account}proxy: none\n`)).toEqual({ http: null, https: null, except: [] });
  });

  test('is shown, but never its password', () => {
    const shown = (text: string) => {
      const loaded = load(text);
      return loaded.ok && loaded.settings().find(({ path }) => path[0] === 'proxy')?.value;
    };
    expect(shown(`${account}proxy: http://user:secret-word@q.example:2\n`)).toBe('[hidden]');
    expect(shown(`${account}proxy: http://q.example:2\n`)).toBe('http://q.example:2');
    expect(shown(`${account}proxy: none\n`)).toBe('none');
  });

  const unusable = ['socks5://user:secret-word@p.example', 'http://user:50%off@p.example:3128'];
  test.each(unusable)('a proxy of the environment that cannot be used is a warning: %s', (url) => {
    const loaded = load(account + reachable + slack, { HTTPS_PROXY: url });
    expect(loaded.ok && loaded.warnings.map(({ message }) => message)).toEqual([
      'the environment variable HTTPS_PROXY is not used, because it is not the address of an HTTP proxy (a % in its password is written as %25): write proxy, or proxy: none',
    ]);
  });
});

describe('plain http', () => {
  test.each(['http://127.0.0.1:8080', 'http://localhost', 'http://[::1]:1'])('%s is accepted', (url) => {
    expect(accepted(account.replace('https://mailboxes.example/', url)).accounts[0]?.baseUrl).toBe(url);
  });

  test('is accepted beyond loopback with allow_http: true next to it', () => {
    const text = `${account.replace('https:', 'http:')}    allow_http: true\n`;
    expect(accepted(text).accounts[0]?.baseUrl).toBe('http://mailboxes.example');
  });
});

describe('warnings', () => {
  test('a key of another form than usual is one, which does not quote it', () => {
    expect(warnings(account.replace(/api_key: .*/, 'api_key: hush_1234') + reachable + slack)).toEqual([
      'accounts[0].api_key: does not begin with sk_live_: make sure that it is the key of this API',
    ]);
  });

  test('tokens that can only scrape close the page to everyone, and a warning says so', () => {
    const having = (...roles: readonly string[]) => {
      const tokens = roles.map((role, index) => `{name: t${index}, sha256: "${'a1'.repeat(32)}", role: ${role}}`);
      const server = `server: {public_url: "https://w.example", auth: {tokens: [${tokens}]}}\n`;
      return warnings(account + server + slack);
    };
    expect(having('scraper')).toEqual([
      'server.auth.tokens: no token can open the page: add one with the role operator or viewer',
    ]);
    expect([having('scraper', 'viewer'), having('operator')]).toEqual([[], []]);
    const limited = having('viewer, tags: [client=nroth], accounts: acme');
    expect(limited).toEqual(['server.auth.tokens[0].tags: "client=nroth" matches none']);
  });

  test('a variable without braces is a warning where it is accepted as the value', () => {
    const fix = '{name: fix, type: recipe, base_url: "https://r.example/v1/", api_key: $RECIPE_KEY, recipe: r1}';
    const text = `${account}${reachable}alerts:\n  channels: [${fix}]\n  routes: [{match: {}, channels: [fix]}]\n`;
    expect(warnings(text)).toEqual([
      'alerts.channels: there are only recipes: no alert is sent to people',
      `alerts.channels[0].api_key: an environment variable needs braces: write \${NAME}, not $NAME`,
    ]);
  });

  test('a secret that a comment may have cut is a warning, which does not quote it', () => {
    const message =
      'ends at a #, which begins a comment: if the # is part of the value, put the value in quotes; if not, write a space after it';
    const keyed = (written: string) => warnings(account.replace('sk_live_1234', written) + reachable + slack);
    expect(keyed('sk_live_abc #def123')).toEqual([`accounts[0].api_key: ${message}`]);
    for (const sound of ['sk_live_abc # of acme', '"sk_live_abc" #def123', 'sk_live_abc#def123'])
      expect(keyed(sound)).toEqual([]);
    const secrets = [1, 2].map((byte) => `whsec_${Buffer.alloc(32, byte).toString('base64')}`);
    const hook = `alerts:\n  channels:\n    - name: hook\n      type: webhook\n      url: https://h.example/a #b\n      secret:\n        - ${secrets[0]} #x\n        - ${secrets[1]}\n`;
    expect(warnings(account + reachable + hook)).toEqual([
      `alerts.channels[0].url: ${message}`,
      `alerts.channels[0].secret[0]: ${message}`,
    ]);
  });
});

test('text that is nested beyond what the parser can follow is refused in plain words', () => {
  const loaded = load(`${account}x: ${'['.repeat(100_000)}\n`);
  const problems = loaded.ok ? [] : loaded.problems.map(({ message }) => message);
  expect(problems[0]).toBe('YAML: the file is nested too deeply, or is too large');
});

function treeOf(text: string): unknown {
  const read = readDocument(text);
  if (!('tree' in read)) throw new Error(read.map(({ message }) => message).join('\n'));
  return read.tree;
}

test('many aliases are read at once', { timeout: 60_000 }, () => {
  expect(treeOf(`base: &base {a: 1}\nall:\n${'  - *base\n'.repeat(20_000)}`)).toMatchObject({ base: { a: 1 } });
});

test('an alias stands for the last value before it with its anchor, as in yaml itself', () => {
  const text = 'first: &a [1, &b 2]\nsecond: *a\nthird: &a {b: *b}\nfourth: [*a, *b]\nfifth: *a\n';
  expect(treeOf(text)).toEqual(parse(text));
});

function loadTls(cert: string, key: string) {
  place.write('a.crt', cert);
  place.write('a.key', key);
  return place.load(`${account}server: {tls: {cert_file: a.crt, key_file: a.key}}\n`);
}

test('a certificate and its key are read from their files, which are then watched', () => {
  const loaded = loadTls(ownCertificate.cert, ownCertificate.key);
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.problems));
  const { cert, key } = ownCertificate;
  expect(loaded.config.server.tls).toEqual({ cert: cert.trimEnd(), key: key.trimEnd() });
  expect([...loaded.secretFiles]).toEqual([
    [join(place.folder, 'a.crt'), cert],
    [join(place.folder, 'a.key'), key],
  ]);
  const shown = loaded
    .settings()
    .map(({ value }) => String(value))
    .join('\n');
  expect(shown).not.toContain('BEGIN');
});

test('the key of another certificate is refused, and not quoted', () => {
  const loaded = loadTls(ownCertificate.cert, privateAuthority.key);
  const said = loaded.ok ? [] : loaded.problems.map(({ path, message }) => `${path}: ${message}`);
  expect(said).toEqual([
    'server.tls.key_file: is not the private key of the certificate, in PEM and without a passphrase',
  ]);
});

test('the keys of secrets are those that the schema marks', () => {
  expect(loadConfig('/no/such/file', {}).ok).toBe(false);
  expect([...secretKeys].toSorted()).toEqual(
    [
      ...['api_key', 'ca', 'cert', 'critical_url', 'imap_pass', 'info_url', 'key', 'password', 'proxy', 'routing_key'],
      ...['secret', 'sha256', 'smtp_pass', 'token', 'topic', 'url', 'user_key', 'warning_url'],
    ].toSorted(),
  );
});

test('a secret of a new channel is hidden and may be in a file, without another word', () => {
  const bot = section({ botToken: secret(z.string().describe('The token of the bot.')) });
  expect(secretKeys).toContain('bot_token');
  expect(bot.parse({ bot_token: 'abc', bot_token_file: './token' })).toEqual({ botToken: 'abc' });
  const { properties } = z.toJSONSchema(bot, { io: 'input' });
  expect(properties?.['bot_token']).toEqual({ description: 'The token of the bot.', type: 'string', writeOnly: true });
  expect(properties?.['bot_token_file']).toMatchObject({ type: 'string' });
});
