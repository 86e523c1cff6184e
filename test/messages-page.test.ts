// docs/messages.md shows a message of each rule, of each of its causes, and of each severity that it has by default.
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { alertRules, ruleBook } from '../src/core/alert-rules.ts';
import { messageSamples } from '../tools/docs/message-samples.ts';
import { channelSecrets } from './config/channel-secrets.ts';
import { ConfigFolder } from './support/config-folder.ts';

const aboutOf = (rule: (typeof alertRules)[number]) =>
  messageSamples[rule].map((sample) => {
    if (!sample) throw new Error(`a sample of ${rule} is no message`);
    return 'kind' in sample ? sample.alert : { ...sample.subject, severity: sample.severity };
  });

test.each(alertRules)('%s has a message for each of its causes, and of no other rule', (rule) => {
  const samples = aboutOf(rule);
  expect(new Set(samples.map((one) => one.rule))).toEqual(new Set([rule]));
  const { causes = [], otherSeverities = [], severity } = ruleBook[rule];
  const shown = samples.map(({ object }) => object);
  expect(causes.filter((cause) => !shown.includes(cause))).toEqual([]);
  const severities = new Set(samples.map((one) => one.severity));
  expect([severity, ...otherSeverities].filter((one) => !severities.has(one))).toEqual([]);
});

const pageOf = (name: string) => readFileSync(new URL(`../docs/${name}.md`, import.meta.url), 'utf8');
const blocksOf = (name: string, language: string) =>
  [...pageOf(name).matchAll(/^```(\w*)\n(.*?)^```$/gms)].flatMap(([, of, text = '']) => (of === language ? text : []));

test('the messages that notifications.md quotes are those of the gallery', () => {
  const quoted = blocksOf('notifications', 'text');
  const made = blocksOf('messages', 'text');
  expect(quoted).toHaveLength(3);
  expect(quoted.filter((text) => !made.includes(text))).toEqual([]);
});

const environment = {
  ...channelSecrets,
  WEBHOOK_SECRET: channelSecrets.HOOK_SECRET,
  SMS_TOKEN: 'secret',
  SMS_PIN: '1234',
};

test('the channels, routes, digest and heartbeat of the pages are a configuration', () => {
  const channels = blocksOf('channels', 'yaml').filter((text) => text.startsWith('- '));
  const client = '- {name: client-acme, type: slack, url: "https://hooks.slack.com/services/b"}\n';
  const rest = blocksOf('notifications', 'yaml').map((text) => text.replace(/^alerts:\n/, ''));
  const configOf = (blocks: readonly string[]) => {
    const text = [
      'accounts: [{name: acme, base_url: "https://api.example", api_key: sk_live_1}]\nalerts:\n  channels:\n',
      ...[...channels, client].map((one) => one.replace(/^/gm, '    ')),
      ...blocks,
    ].join('\n');
    return new ConfigFolder().accept(text, environment).config;
  };
  // The example of mute times has routes of its own.
  const isOfMuteTimes = (block: string) => block.includes('mute_times:');
  expect(configOf(rest.filter(isOfMuteTimes)).alerts.routes.map(({ mute }) => mute)).toEqual([['nights']]);
  const { alerts } = configOf(rest.filter((block) => !isOfMuteTimes(block)));
  expect(new Set(alerts.channels.map(({ type }) => type)).size).toBe(18);
  expect([alerts.routes.length, alerts.digests.map(({ channels: names }) => names), alerts.heartbeat !== null]).toEqual(
    [5, [['ops'], ['client-acme']], true],
  );
});

test('numbers of a sample follow from the others: emails of the digest, and the bounces that are shown', () => {
  const all = pageOf('messages');
  const [, sent, bounced] = /(\d+) emails since .*, of which (\d+) bounced/.exec(all) ?? [];
  const done = [...all.matchAll(/confirmed after .* s\. (\d+) bounces in (\d+) emails: /g)];
  const sum = (group: number) => done.reduce((total, match) => total + Number(match[group]), 0);
  expect([sent, bounced].map(Number)).toEqual([sum(2), sum(1)]);
  const blocks = all.split('```').filter((block) => /last (\d+ )?bounces?/.test(block));
  const shown = (block: string) => Number(/last (\d+) bounces/.exec(block)?.[1] ?? 1);
  const told = (block: string) => Number(/(\d+) bounces? in/.exec(block)?.[1]);
  expect(blocks.length).toBeGreaterThan(4);
  expect(blocks.filter((block) => shown(block) > told(block))).toEqual([]);
});
