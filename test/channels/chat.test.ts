// Discord and Teams take what we send: within their limits, without a mention, and with the most important of it first.
import { expect, test } from 'vitest';
import type { GroupMessage } from '../../src/alerts/grouping.ts';
import type { Channel, SendResult } from '../../src/channels/channel.ts';
import { discordChannel } from '../../src/channels/discord.ts';
import { teamsChannel } from '../../src/channels/teams.ts';
import { movedClock } from '../../tools/simulator/moved-clock.ts';
import { start } from '../alerts/samples.ts';
import { sampleDelivery } from '../outbox/sample-delivery.ts';
import { discordFaults, StrictReceiver, teamsFaults } from '../support/strict-receivers.ts';
import { attacking, ended, incidentMessage, one, page, people, storm } from './people.ts';

const kinds = [
  ['discord', discordChannel],
  ['teams', teamsChannel],
] as const;
const clock = movedClock(start);

async function stage(kind: 'discord' | 'teams') {
  const receiver = await StrictReceiver.start(kind, clock.now);
  const make = kind === 'discord' ? discordChannel : teamsChannel;
  const channel = make({ name: 'team', url: receiver.url, ...people }, clock);
  const send = (message: GroupMessage) => sendTo(channel, message);
  return { receiver, channel, send, [Symbol.asyncDispose]: () => receiver[Symbol.asyncDispose]() };
}

async function sendTo(channel: Channel, message: GroupMessage): Promise<SendResult> {
  const payload = channel.render(message)?.payload ?? '';
  return channel.send(sampleDelivery({ payload }), AbortSignal.timeout(60_000));
}

/** Everything that people read of a payload, in order. */
function wordsOf(payload: unknown): string {
  const words: string[] = [];
  const walk = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return;
    for (const [key, inner] of Object.entries(value)) {
      if (typeof inner === 'string' && ['content', 'title', 'description', 'text'].includes(key)) words.push(inner);
      else walk(inner);
    }
  };
  walk(payload);
  return words.join('\n');
}

test.each(kinds)('%s: a message, its end, an incident, a storm and an attack are taken', async (kind) => {
  await using at = await stage(kind);
  for (const message of [one, ended, incidentMessage('began'), storm, attacking]) {
    await clock.advance(60_000);
    expect(await at.send(message)).toMatchObject({ kind: 'sent' });
  }
  const [first, last, incident, many, attack] = at.receiver.taken().map(wordsOf);
  expect(first).toMatch(/^Warning: bob@acme\.example: stale/);
  expect(first?.match(/20 March 10:02 UTC/g)).toHaveLength(1);
  expect(last).toMatch(/^Resolved: /);
  expect(incident).toMatch(/acme\/box\d@g\d\.example/);
  expect(incident).toContain('and 11 more: see the page.');
  const listed = many?.match(/bob\d+@acme\.example: stale/g)?.length ?? 0;
  expect(listed).toBeGreaterThan(1);
  expect(many).toContain(`and ${(2_000 - listed).toLocaleString('en-US')} more: see the page.`);
  expect(attack).not.toContain('\u202e');
  expect(attack).toContain('U+202E');
});

test('Discord: names format nothing, link nowhere and ring nobody', async () => {
  await using at = await stage('discord');
  await at.send(attacking);
  const [payload] = at.receiver.taken();
  expect(payload?.['allowed_mentions']).toEqual({ parse: [] });
  expect(wordsOf(payload)).not.toMatch(/[^\\]<[@!]|[^\\]\[safe|[^\\]\*\*x|https:\/\/evil/);
  expect(wordsOf(payload)).toContain('`warmwarden resume acme/bob@acme.example`');
  expect(at.receiver.attempts[0]?.path).toContain('?wait=true');
});

test('Teams: links are buttons, and text is in runs, which are read as nothing else', async () => {
  await using at = await stage('teams');
  await at.send(one);
  const [payload] = at.receiver.taken();
  const { attachments = [] } = payload as { attachments?: { content: { actions: unknown[]; body: unknown[] } }[] };
  const { actions, body } = attachments[0]?.content ?? {};
  expect(actions).toEqual([
    { type: 'Action.OpenUrl', title: 'Open', url: `${page}/mailboxes/acme/m1` },
    { type: 'Action.OpenUrl', title: 'What to do', url: `${page}/runbooks#stale_data` },
    expect.objectContaining({ title: 'Acknowledge' }),
    expect.objectContaining({ title: 'Silence 4 h' }),
  ]);
  expect(JSON.stringify(body)).toContain('"text":"warmwarden resume acme/bob@acme.example","fontType":"monospace"');
});

test.each(kinds)('%s: too many messages are throttled, and the wait that it asks for is taken', async (kind) => {
  await using at = await stage(kind);
  let result: SendResult = { kind: 'sent' };
  for (let count = 0; count < 40 && result.kind === 'sent'; count += 1) result = await at.send(one);
  const waits = { discord: 60_000, teams: 1_000 };
  expect(result).toMatchObject({ kind: 'failed', retryAfterMs: waits[kind], answer: { status: 429 } });
});

test.each([
  ['discord', 404, { code: 10_015 }, 'Discord answered 404 (code 10015): create a webhook'],
  ['discord', 401, { code: 50_027 }, 'Discord answered 401 (code 50027): create a webhook'],
  ['teams', 401, { error: { code: 'Direct' } }, 'Teams answered 401 (Direct): find the workflow'],
  ['teams', 400, { error: { code: 'WorkflowTriggerIsNotEnabled' } }, 'IsNotEnabled): find the workflow'],
] as const)('%s: %i %o is about the channel, not about the message', async (kind, status, body, detail) => {
  await using at = await stage(kind);
  at.receiver.fault = () => ({ status, body });
  const result = await at.send(one);
  expect(result).toMatchObject({ kind: 'failed', setup: true, detail: expect.stringContaining(detail) });
  expect(JSON.stringify(result)).not.toMatch(/T0P-SECRET|SIGNATURE/);
});

test.each(kinds)('%s: 410, 503 and a lost answer are tried again, another 4xx blames the message', async (kind) => {
  await using at = await stage(kind);
  const outcomes: string[] = [];
  for (const status of [410, 503, 0, 400]) {
    at.receiver.fault = () => ({ status });
    outcomes.push((await at.send(one)).kind);
  }
  expect(outcomes).toEqual(['failed', 'failed', 'failed', 'refused']);
});

test.each(kinds)('%s: a digest and a test message are taken, whatever the lines hold', async (kind) => {
  await using at = await stage(kind);
  const section = { heading: '@everyone & so on', lines: ['x & <y>'.repeat(900), ''] };
  const sections = Array.from({ length: 60 }, () => section);
  const notice = at.channel.renderNotice({ name: 'digest', title: 'The day', at: start, sections });
  const delivery = sampleDelivery({ payload: notice?.payload ?? '' });
  expect(await at.channel.send(delivery, AbortSignal.timeout(60_000))).toMatchObject({ kind: 'sent' });
  expect(wordsOf(at.receiver.taken()[0])).toContain('more: see the page.');
});

test('the stand-ins of these tests see what they should (their own control)', () => {
  const mentions = { allowed_mentions: { parse: [] } };
  const embed = (change: object) => {
    return { content: 'x', embeds: [{ description: 'x', color: 1, ...change }], ...mentions };
  };
  expect(discordFaults(embed({}))).toEqual([]);
  expect(discordFaults({ ...embed({}), content: 'x'.repeat(2_001) })).toEqual(['content of 2001']);
  expect(discordFaults(embed({ description: 'x'.repeat(4_097) }))).toEqual(['description of 4097']);
  expect(discordFaults({ content: 'x' })).toEqual(['mentions are allowed']);
  const block = { type: 'RichTextBlock', inlines: [{ type: 'TextRun', text: 'x' }] };
  const card = (body: readonly object[]) => {
    const content = { type: 'AdaptiveCard', version: '1.4', body };
    return { type: 'message', attachments: [{ contentType: 'application/vnd.microsoft.card.adaptive', content }] };
  };
  expect(teamsFaults(card([block]), 100)).toEqual([]);
  expect(teamsFaults(card([block]), 28_673)).toEqual(['28673 bytes']);
  expect(teamsFaults(card([{ type: 'TextBlock', text: 'x' }]), 100)).toEqual([
    'a TextBlock, which reads its text as Markdown',
  ]);
});
