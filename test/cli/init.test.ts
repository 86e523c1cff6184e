// `warmwarden init`: a first configuration of twelve lines, with its secrets in files of their own; it overwrites nothing.
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { expect, test, vi } from 'vitest';
import { commandLine } from '../support/command-line.ts';
import { workInEmptyFolder } from '../support/new-folder.ts';

const key = 'sk_live_0123456789';
const slack = 'https://hooks.slack.com/services/T0/B0/secret';
const init = (...more: readonly string[]) =>
  commandLine(['init', '--base-url', 'https://mailboxes.example.com', ...more]);
const lines = (file = 'config.yaml') => readFileSync(file, 'utf8').trimEnd().split('\n');
const settings = async () => {
  const { code, stdout } = await commandLine(['check', '--json', '--config', 'config.yaml']);
  const { settings: all } = JSON.parse(stdout) as { settings: { path: string; value: unknown }[] };
  return { code, of: (path: string) => all.find((one) => one.path === path)?.value };
};

test('on a terminal it asks; the key and the webhook are in files that only their owner reads', async () => {
  workInEmptyFolder();
  const { code, stdout, stderr } = await commandLine(['init'], ['https://mailboxes.example.com', key, slack]);
  expect([code, lines().length, readdirSync('.').sort()]).toEqual([
    0,
    12,
    ['api_key', 'channel_url', 'config.schema.json', 'config.yaml'],
  ]);
  expect(lines()[0]).toBe('# yaml-language-server: $schema=./config.schema.json');
  expect(existsSync(lines()[1]?.replace(/.*: /, '') ?? '')).toBe(true);
  expect(['api_key', 'channel_url'].map((file) => [lines(file), statSync(file).mode & 0o777])).toEqual([
    [[key], 0o600],
    [[slack], 0o600],
  ]);
  for (const secret of [key, slack]) expect(lines().join() + stdout + stderr).not.toContain(secret);
  const { of } = await settings();
  expect(of('accounts[0].base_url')).toBe('https://mailboxes.example.com');
  expect([of('guard.enforce'), of('alerts.channels[0].type')]).toEqual([false, 'slack']);
});

test('without a terminal it takes options, and says which where they lack', async () => {
  workInEmptyFolder();
  const without = await commandLine(['init']);
  expect([without.code, without.stderr]).toEqual([2, expect.stringContaining('--key-env')]);
  expect(readdirSync('.')).toEqual([]);
  const { code, stdout } = await init('--key-env', 'MAILBOX_KEY');
  expect([code, stdout]).toEqual([0, expect.stringContaining('environment variable MAILBOX_KEY')]);
  expect(readdirSync('.').sort()).toEqual(['config.schema.json', 'config.yaml']);
  vi.stubEnv('MAILBOX_KEY', key);
  expect((await settings()).code).toBe(0);
  vi.unstubAllEnvs();
});

test.each([
  ['https://discord.com/api/webhooks/1/x', 'discord'],
  ['https://prod-1.westeurope.logic.azure.com:443/workflows/1', 'teams'],
])('the type of a channel follows from its address: %s', async (channel, type) => {
  workInEmptyFolder();
  writeFileSync('key', key);
  const { stderr } = await init('--key-file', 'key', '--channel', channel);
  expect([stderr, (await settings()).of('alerts.channels[0].type')]).toEqual(['', type]);
});

test.each(['config.yaml', 'channel_url'])('it overwrites nothing: %s', async (file) => {
  workInEmptyFolder();
  writeFileSync(file, 'mine');
  const { code, stderr } = await init('--key-env', 'K', '--channel', slack);
  expect([code, stderr, lines(file)]).toEqual([2, expect.stringContaining(`${file} exists already`), ['mine']]);
  expect(readdirSync('.')).toEqual([file]);
});

test('a channel of another kind is refused before anything is written', async () => {
  workInEmptyFolder();
  const { code, stderr } = await init('--key-env', 'K', '--channel', 'https://a.example/hook');
  expect([code, stderr, readdirSync('.')]).toEqual([2, expect.stringContaining('config.example.yaml'), []]);
});

test('what cannot be used is a problem with its place, and leaves no file behind', async () => {
  workInEmptyFolder();
  const { code, stderr } = await commandLine(['init'], ['mailboxes', key, slack]);
  expect([code, stderr]).toEqual([2, expect.stringMatching(/config\.yaml:\d+:\d+ accounts\[0\]\.base_url: /)]);
  expect(readdirSync('.')).toEqual([]);
});
