// How a message leaves: on a connection of its own.
import { expect, onTestFinished, test } from 'vitest';
import { alertmanagerChannel } from '../../src/channels/alertmanager.ts';
import type { Channel } from '../../src/channels/channel.ts';
import { discordChannel } from '../../src/channels/discord.ts';
import { pagerdutyChannel } from '../../src/channels/pagerduty.ts';
import { slackChannel } from '../../src/channels/slack.ts';
import { teamsChannel } from '../../src/channels/teams.ts';
import { webhookChannel } from '../../src/channels/webhook.ts';
import { movedClock } from '../../tools/simulator/moved-clock.ts';
import { start } from '../alerts/samples.ts';
import { sampleDelivery } from '../outbox/sample-delivery.ts';
import { startServer } from '../support/loopback.ts';
import { one, people } from './people.ts';

const clock = movedClock(start);
const hook = { name: 'hook', secrets: [] };

/** Each channel over HTTP, at this address. */
const channels: Readonly<Record<string, (url: string) => Channel>> = {
  webhook: (url) => webhookChannel({ ...hook, url }, clock),
  alertmanager: (url) => alertmanagerChannel({ name: 'am', url }, clock),
  teams: (url) => teamsChannel({ name: 'team', url, ...people }, clock),
  discord: (url) => discordChannel({ name: 'team', url, ...people }, clock),
  pagerduty: (url) => pagerdutyChannel({ name: 'pager', url, routingKey: 'key', ...people }, clock),
  slack: (url) => slackChannel({ name: 'team', url, ...people }, clock),
};

/** A receiver whose answer begins with `status` and some text, and never ends. Its last answer's connection is `closed`. */
async function stalling(status: number, headers = {}, text = 'o') {
  const closed = Promise.withResolvers<void>();
  const server = await startServer((_, response) => {
    response.on('close', closed.resolve).writeHead(status, headers).write(text);
  });
  onTestFinished(() => server[Symbol.asyncDispose]());
  return { url: `${server.url}/hook`, closed: closed.promise };
}

function sendOne(channel: Channel | undefined, deadlineMs: number) {
  const payload = channel?.render(one)?.payload ?? '';
  return channel?.send(sampleDelivery({ payload }), AbortSignal.timeout(deadlineMs));
}

const byStatus = Object.keys(channels).filter((kind) => kind !== 'slack');

test.each(byStatus)('%s: a 2xx is a success although its body never ends, and the connection ends', async (kind) => {
  const receiver = await stalling(202);
  expect(await sendOne(channels[kind]?.(receiver.url), 10_000)).toMatchObject({ kind: 'sent' });
  await receiver.closed;
});

const noService = { kind: 'failed', detail: 'Slack answered 200 with an error (no_service)', final: false };

test.each([
  ['webhook', 503, {}, 'o', { kind: 'failed', detail: 'the receiver answered 503', final: false }],
  ['slack', 503, {}, 'o', { kind: 'failed', detail: 'Slack answered 503 (o)', final: false }],
  ['webhook', 200, {}, 'o', { kind: 'sent', answer: { status: 200, text: 'o' } }],
  ['slack', 200, {}, 'o', { kind: 'sent' }],
  ['slack', 200, {}, '', { kind: 'sent' }],
  ['slack', 200, {}, 'no_service', noService],
  ['webhook', 429, { 'retry-after': '60' }, 'o', { kind: 'failed', retryAfterMs: 60_000 }],
  ['webhook', 410, {}, 'o', { kind: 'failed', setup: true }],
])(
  '%s: a %i whose body never ends means what it means with an end: %#',
  async (kind, status, headers, text, expected) => {
    const { url } = await stalling(status, headers, text);
    expect(await sendOne(channels[kind]?.(url), 10_000)).toMatchObject(expected);
  },
);
