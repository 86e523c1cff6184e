// The settings in force, as `check --show` prints them: a file of their own, with origins and without secrets.
import { describe, expect, test } from 'vitest';
import { settingsText } from '../../src/cli/check.ts';
import { hideIn, KnownSecrets } from '../../src/config/hiding.ts';
import { changesBetween } from '../../src/config/settings.ts';
import { ConfigFolder } from '../support/config-folder.ts';

const place = new ConfigFolder();
place.write('key', 'sk_live_hush_of_a_file\n');
const environment = { KEY: 'sk_live_hush_of_the_environment', RATE: '70' };
const variable = (name: string) => `\${${name}}`;
const hook = `whsec_${Buffer.from('a hook with thirty-two characters').toString('base64')}`;
const account = (name: string, rest: string) => `  - {name: ${name}, base_url: "https://m.example", ${rest}}\n`;
const vip = '{match: "*@vip.example", guard: {profile: literal, enforce: false}}';
const file = [
  'accounts:\n',
  account('acme', `api_key: "${variable('KEY')}", requests_per_minute: "${variable('RATE')}", overrides: [${vip}]`),
  account('second', 'api_key_file: key, mailboxes: {exclude: ["*@vip.example"]}'),
  'alerts:\n  channels:\n',
  `    - {name: hook, type: webhook, url: "https://x.example/hush", secret: ["${hook}"]}\n`,
  'guard: {near_limit: 70%}\n',
].join('');

const load = (text: string) => place.accept(text, environment);
const lines = (text: string) => text.split('\n').map((line) => line.replace(/ +/g, ' ').trim());

describe('the settings in force', () => {
  test('name where each value came from', () => {
    const text = lines(settingsText(load(file).settings()));
    expect(text).toContain(`api_key: "[hidden]" # line 2, from ${variable('KEY')}`);
    expect(text).toContain(`requests_per_minute: "70" # line 2, from ${variable('RATE')}`);
    expect(text).toContain('api_key: "[hidden]" # line 3, from the file that it names');
    expect(text).toContain('near_limit: 70% # line 7');
    expect(text).toContain('window_days: 7 # default');
    expect(text.filter((line) => line.startsWith('plan:'))).toEqual(['plan: pro # default']);
  });

  test('hold no secret, in lists neither', () => {
    const text = settingsText(load(file).settings());
    for (const secret of ['hush', hook]) expect(text).not.toContain(secret);
  });

  test('have the values of the profile, unless they are written', () => {
    const literal = file.replace('near_limit: 70%', 'profile: literal, window_max_days: 9');
    const text = lines(settingsText(load(literal).settings()));
    expect(text).toContain('min_bounces: 1 # profile literal');
    expect(text).toContain('window_max_days: 9 # line 7');
    expect(text).toContain('enforce: false # line 2');
  });

  test('have a maximum that a higher number beside it raises', () => {
    const raising = file.replace('near_limit: 70%', 'window_days: 40, breaker: {min_mailboxes: 900}');
    const text = lines(settingsText(load(raising).settings()));
    expect(text).toContain('window_max_days: 40 # raised to window_days');
    expect(text).toContain('max_mailboxes: 900 # raised to min_mailboxes');
  });
});

describe('the difference of two configurations', () => {
  test('goes by name, so an account in front of another changes nothing of it', () => {
    const more = file.replace('accounts:\n', `accounts:\n${account('zero', 'api_key: sk_live_0000')}`);
    const changes = changesBetween(load(file).settings(), load(more).settings());
    expect(new Set(changes.map(({ name }) => name.split('.')[0]))).toEqual(new Set(['accounts[zero]']));
  });

  test('names a route and a digest by its channels and its match, also two alike', () => {
    const at = (routes: readonly string[]) => {
      const alerts = `alerts:\n  channels:\n    - {name: north, type: slack, url: "https://x.example/a"}\n`;
      const digests = `  digests: [{channels: [north]}]\n`;
      return load(
        `accounts:\n${account('zero', 'api_key: sk_live_0000')}${alerts}${digests}  routes: [${routes.join(', ')}]\n`,
      );
    };
    const north = '{match: {tag: client=north}, channels: [north]}';
    const critical = '{match: {severity: critical}, channels: [north]}';
    const changes = changesBetween(at([north, north]).settings(), at([critical, north, north]).settings());
    expect(changes.map(({ name, before }) => [name, before])).toEqual(
      ['match.severity', 'channels'].map((key) => [`alerts.routes[severity critical [north]].${key}`, null]),
    );
  });

  test('tells that a secret is another one, and neither of the two', () => {
    const other = file.replace('x.example/hush', 'x.example/hush2');
    expect(changesBetween(load(file).settings(), load(other).settings())).toEqual([
      { name: 'alerts.channels[hook].url', before: '"[hidden]"', after: '"[hidden]"' },
    ]);
  });
});

test('known secrets are taken out of any text, also those of a configuration before', () => {
  const known = new KnownSecrets();
  known.learn(load(file).secrets);
  known.learn(load(file.replace('x.example/hush', 'x.example/other')).secrets);
  const text = `${environment.KEY} https://x.example/hush https://x.example/other ${hook} sk_live_unknown`;
  expect(known.hide(text)).toBe('[hidden] [hidden] [hidden] [hidden] [hidden]');
});

test.each([
  ['an API key', 'sk_live_unknown'],
  ['a Slack address', 'hooks.slack.com/services/T0/B0/hush'],
  ['a Discord address', 'discord.com/api/webhooks/1/hush'],
  ['an older Discord address', 'discordapp.com/api/webhooks/1/hush'],
  ['a signing key', hook],
  ['the password of a mail server', 'smtp://user:hush@'],
  ['the signature of a workflow', 'sig=hush-hush_hush'],
])('%s is hidden wherever it stands, even if no configuration has it', (_, secret) => {
  expect(hideIn(`it's "${secret}", twice: ${secret}`, [])).toBe(`it's "[hidden]", twice: [hidden]`);
});

test('known secrets are found in a line of JSON, too, and the frame of a certificate is none', () => {
  const known = new KnownSecrets();
  const frame = '-----BEGIN CERTIFICATE-----';
  known.learn(['pa"ss\\word12', `${frame}\nMIIBszCCAVmg`]);
  const line = JSON.stringify({ msg: 'pa"ss\\word12', ca: frame, body: 'MIIBszCCAVmg' });
  expect(known.hide(line)).toBe(JSON.stringify({ msg: '[hidden]', ca: frame, body: '[hidden]' }));
});
