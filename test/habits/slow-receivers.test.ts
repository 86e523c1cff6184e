// Receivers that are slow, or that acknowledge in words of their own: each message once, and none lost without a mark. A dead man's switch
// that does not take the ping protects nobody: people hear of it, and doctor and a test show it.
import type { ServerResponse } from 'node:http';
import { createServer } from 'node:net';
import { createInterface } from 'node:readline';
import { expect, test } from 'vitest';
import type { Channel } from '../../src/channels/channel.ts';
import { discordChannel } from '../../src/channels/discord.ts';
import { emailChannel, smtpPatience } from '../../src/channels/email.ts';
import { pagerdutyChannel } from '../../src/channels/pagerduty.ts';
import { slackChannel } from '../../src/channels/slack.ts';
import { teamsChannel } from '../../src/channels/teams.ts';
import { shapes } from '../../src/cli/shapes/shapes.ts';
import { hourMs, minuteMs } from '../../src/core/time.ts';
import type { MovedClock } from '../../tools/simulator/moved-clock.ts';
import { firing, sampleAlert, start } from '../alerts/samples.ts';
import { one, people } from '../channels/people.ts';
import { startReceiver, status } from '../outbox/receiver.ts';
import { hookChannel, hookTo, rigWith, stage } from '../outbox/rig.ts';
import { sampleDelivery } from '../outbox/sample-delivery.ts';
import { commandLine } from '../support/command-line.ts';
import { listen, portOf } from '../support/loopback.ts';
import { Workplace } from '../support/process.ts';
import { until } from '../support/until.ts';
import { account } from '../web/example-fleet.ts';

type SmtpStep = 'greeting' | 'EHLO' | 'MAIL' | 'RCPT' | 'DATA' | 'end';

/** A mail server that no longer answers from a step on, or closes the connection there: smtp-server always greets at once. */
async function startSlowSmtp(silentAt: SmtpStep, how: 'waits' | 'closes' = 'waits') {
  const server = createServer(async (socket) => {
    smtp.connections += 1;
    const say = (step: string, line: string) => {
      if (step !== silentAt) socket.write(`${line}\r\n`);
      else if (how === 'closes') socket.end();
    };
    say('greeting', '220 slow.example');
    let inData = false;
    for await (const line of createInterface({ input: socket.on('error', () => {}) })) {
      if (inData && line !== '.') continue;
      const step: string = inData ? 'end' : line.slice(0, 4).toUpperCase();
      if (step === 'end') smtp.whole += 1;
      inData = step === 'DATA';
      say(step, inData ? '354 go on' : step === 'QUIT' ? '221 bye' : '250 well');
    }
  });
  await listen(server);
  /** `whole`: emails that came with the dot at their end. */
  const smtp = { url: `smtp://127.0.0.1:${portOf(server)}`, whole: 0, connections: 0 };
  return Object.assign(smtp, { [Symbol.asyncDispose]: async () => void server.close() });
}

const noAnswer = /^the receiver did not answer in time: .* counts as sent/;
const silent = () => {};
/** Real milliseconds, in place of a minute. */
const shortMs = 500;

type Make = (url: string, clock: MovedClock) => Channel;
const chats: readonly (readonly [string, Make])[] = [
  ['slack', (url, clock) => slackChannel({ name: 'team', url, ...people }, clock)],
  ['teams', (url, clock) => teamsChannel({ name: 'team', url, ...people }, clock)],
  ['discord', (url, clock) => discordChannel({ name: 'team', url, ...people }, clock)],
];

test.each(chats)(
  '%s that answers too late, or with 504, gets a message once, and it is marked',
  async (_kind, make) => {
    await using receiver = await startReceiver(() => start);
    receiver.answer = silent;
    await using rig = rigWith((clock) => [{ ...make(receiver.url, clock), longestMs: shortMs }]);
    rig.commit(firing(sampleAlert(1)));
    await rig.clock.advance(10 * minuteMs);
    expect(receiver.received).toHaveLength(1);
    expect(rig.store.deliveries()).toMatchObject([
      { state: 'sent', attempts: 1, detail: expect.stringMatching(noAnswer) },
    ]);
    expect(rig.logged.filter((line) => line.includes('counts it as sent'))).toHaveLength(1);
    // One late answer is no failing channel; the next one in a row is, and a message that is acknowledged ends it.
    expect([...rig.fleet.channels()][0]).toMatchObject({ failingSince: null });
    receiver.answer = status(504);
    rig.commit(firing(sampleAlert(2, { account: 'second' })));
    await rig.clock.advance(2 * hourMs);
    expect(receiver.received).toHaveLength(2);
    const detail = expect.stringMatching(/ answered 504: .* counts as sent/);
    expect(rig.store.deliveries()[1]).toMatchObject({ state: 'sent', attempts: 1, detail });
    expect([...rig.fleet.alerts()].map(({ rule, object }) => [rule, object])).toEqual([['channel_failing', 'team']]);
    receiver.answer = status(200);
    rig.commit(firing(sampleAlert(3, { account: 'third' })));
    await rig.clock.advance(2 * minuteMs);
    expect([[...rig.fleet.alerts()], receiver.received.length]).toEqual([[], 3]);
  },
);

const lost = (response: ServerResponse) => void response.destroy();

test.each(chats)(
  '%s that could not be reached, is busy, or loses the connection is tried again',
  async (_kind, make) => {
    const receiver = await startReceiver(() => start);
    await receiver[Symbol.asyncDispose]();
    await using busy = await startReceiver(() => start);
    const answers = [status(503), status(502), lost];
    busy.answer = (response) => (answers[busy.received.length - 1] ?? lost)(response);
    await using rig = rigWith((clock) => [make(receiver.url, clock), { ...make(busy.url, clock), name: 'busy' }]);
    rig.commit(firing(sampleAlert(1)));
    await rig.clock.advance(10 * minuteMs);
    const tried = rig.store.deliveries().map(({ state, attempts }) => [state, attempts > 3]);
    expect(tried).toEqual([
      ['pending', true],
      ['pending', true],
    ]);
  },
);

test.each([
  ['webhook', hookChannel],
  [
    'pagerduty',
    (url: string, clock: MovedClock) => pagerdutyChannel({ name: 'pager', url, routingKey: 'R0123', ...people }, clock),
  ],
] as const)('%s, whose receiver can tell, is tried again whatever happened', async (_kind, make) => {
  await using receiver = await startReceiver(() => start);
  const answers = [lost, status(502), status(504), status(202)];
  receiver.answer = (response) => answers[receiver.received.length - 1]?.(response);
  await using rig = rigWith((clock) => [make(receiver.url, clock)]);
  rig.commit(firing(sampleAlert(1)));
  await rig.clock.advance(10 * minuteMs);
  expect(rig.store.deliveries()).toMatchObject([{ state: 'sent', attempts: 4 }]);
});

test('a receiver that never answers delays neither another channel nor the end of Warmwarden', async () => {
  await using slow = await startReceiver(() => start);
  await using quick = await startReceiver(() => start);
  slow.answer = silent;
  const both: Parameters<typeof rigWith>[0] = (clock) => [
    slackChannel({ name: 'team', url: slow.url, ...people }, clock),
    hookChannel(quick.url, clock),
  ];
  const rig = rigWith(both, { groupWaitMs: 0 }, { alwaysMs: shortMs });
  rig.commit(firing(sampleAlert(1)));
  await until('both get the message', () => slow.received.length === 1 && quick.received.length === 1);
  await rig[Symbol.asyncDispose]();
  expect(rig.store.deliveries().map(({ channel, state }) => [channel, state])).toEqual([
    ['team', 'sent'],
    ['hook', 'sent'],
  ]);
});

const mail = (url: string, patience = smtpPatience) => {
  const addresses = { from: 'alerts@acme.example', to: ['ops@acme.example'] };
  return emailChannel({ name: 'mail', url, ...addresses, allowPlain: true, ...people }, patience);
};

test.each([
  ['greeting', 'greetingMs', 'failed'],
  ['EHLO', 'answerMs', 'failed'],
  ['MAIL', 'answerMs', 'failed'],
  ['RCPT', 'answerMs', 'failed'],
  ['DATA', 'answerMs', 'failed'],
  ['end', 'answerMs', 'unanswered'],
] as const)('a mail server that is silent at %s has %s, and the attempt %s', async (step, deadline, kind) => {
  await using server = await startSlowSmtp(step);
  const channel = mail(server.url, { ...smtpPatience, [deadline]: shortMs });
  const payload = channel.render(one)?.payload ?? '';
  const result = await channel.send(sampleDelivery({ payload }), new AbortController().signal);
  expect(result.kind).toBe(kind);
  expect(result.detail).toMatch(/^the mail server did not answer in time/);
  expect(server.whole).toBe(step === 'end' ? 1 : 0);
});

test('a mail server that closes the connection at DATA got no email, which is tried again', async () => {
  await using server = await startSlowSmtp('DATA', 'closes');
  await using rig = rigWith(() => [mail(server.url)]);
  rig.commit(firing(sampleAlert(1)));
  await rig.clock.advance(hourMs);
  expect([server.whole, server.connections > 1]).toEqual([0, true]);
  const detail = expect.stringMatching(/^the mail server could not be reached \(\w+\)$/);
  expect(rig.store.deliveries()).toMatchObject([{ state: 'pending', detail }]);
});

test.each([
  ['Rocket.Chat', 200, '{"success":true}', 'sent'],
  ['a workflow of Slack', 200, '{"ok":true}', 'sent'],
  ['an empty answer', 200, '', 'sent'],
  ['204', 204, '', 'sent'],
  ['Mattermost', 200, 'ok', 'sent'],
  ['a page of a proxy', 200, '<html>Thank you</html>', 'sent'],
  ['Rocket.Chat that refuses', 200, '{"success":false,"error":"no"}', 'failed'],
  ['Slack that refuses in JSON', 200, '{"ok":false,"error":"invalid_blocks"}', 'failed'],
  ['a known word of Slack', 200, 'invalid_blocks', 'failed'],
  ['Slack without the hook', 404, 'no_service', 'failed'],
  ['an archived channel of Slack', 410, 'channel_is_archived', 'failed'],
  ['an error of Slack', 500, 'rollup_error', 'failed'],
] as const)('slack: %s (%i %s) is %s', async (_who, code, body, kind) => {
  await using receiver = await startReceiver(() => start);
  receiver.answer = status(code, {}, body);
  const channel = slackChannel({ name: 'team', url: receiver.url, ...people }, { now: () => start } as MovedClock);
  expect(await channel.send(sampleDelivery(), AbortSignal.timeout(minuteMs))).toMatchObject({ kind });
});

test('410 is told within a minute and asked again every five; what waited is sent, and that ends it', async () => {
  await using at = await stage();
  at.receiver.answer = status(410);
  at.rig.commit(firing(sampleAlert(1, { account: 'one' })));
  await at.rig.clock.advance(1.5 * minuteMs);
  expect([...at.rig.fleet.alerts()]).toMatchObject([{ rule: 'channel_failing', object: 'hook', status: 'firing' }]);
  at.rig.commit(firing(sampleAlert(2, { account: 'two' })));
  await at.rig.clock.advance(57 * minuteMs);
  const states = () => at.rig.store.deliveries().map(({ state }) => state);
  expect([at.receiver.received.length < 13, states()]).toEqual([true, ['pending', 'pending']]);
  at.receiver.answer = status(200);
  await at.rig.clock.advance(16 * minuteMs);
  expect([states(), [...at.rig.fleet.alerts()]]).toEqual([['sent', 'sent'], []]);
  const accounts = at.receiver.received.map(({ body }) => JSON.parse(body).data.account);
  expect(new Set(accounts)).toEqual(new Set(['one', 'two']));
  expect(at.rig.logged.filter((line) => line.includes('undelivered'))).toEqual([]);
});

test.each([
  ['404 is told within two minutes', 404, 2, true],
  ['503 may pass: not yet after ten minutes', 503, 10, false],
  ['503 is told after a quarter of an hour', 503, 18, true],
] as const)('a heartbeat that answers %s', async (_what, code, minutes, told) => {
  await using hook = await startReceiver(() => start);
  await using switchOf = await startReceiver(() => start);
  switchOf.answer = status(code);
  await using rig = rigWith(hookTo(hook.url), { heartbeat: { url: switchOf.url, intervalMs: minuteMs / 2 } });
  const polled = async (count: number) => {
    for (let minute = 0; minute < count; minute += 1) {
      rig.fleet.putAccount(account('acme', { lastSuccessAt: rig.clock.now() }));
      await rig.clock.advance(minuteMs);
    }
  };
  await polled(minutes);
  await rig.clock.advance(minuteMs / 2);
  const alerts = () => hook.received.flatMap(({ body }) => JSON.parse(body).data.alerts as Record<string, unknown>[]);
  const failing = { rule: 'channel_failing', status: 'firing', object: 'the heartbeat' };
  const sentences = expect.arrayContaining([`The receiver answered ${code}.`]);
  expect(alerts()).toMatchObject(told ? [{ ...failing, sentences }] : []);
  expect(JSON.stringify(alerts())).not.toMatch(/T0P-SECRET|127\.0\.0\.1/);
  if (!told) return;
  switchOf.answer = status(200);
  await polled(7);
  expect(alerts().map((one) => one['status'])).toEqual(['firing', 'resolved']);
});

test('doctor and `channels test heartbeat` ping it', async () => {
  await using switchOf = await startReceiver(() => start);
  using place = new Workplace();
  const config = place.configure({
    accounts: [{ name: 'acme', base_url: 'http://127.0.0.1:9', api_key: 'sk_live_0123456789abcdef' }],
    alerts: { heartbeat: { url: switchOf.url } },
  });
  const ask = async (...args: readonly string[]) => {
    const { stdout, stderr, code } = await commandLine([...args, '--config', config]);
    expect(stdout + stderr).not.toContain('T0P-SECRET');
    return { stdout, stderr, code };
  };
  const doctor = async () => {
    const { checks } = shapes.doctor.parse(JSON.parse((await ask('doctor', '--json')).stdout));
    return checks
      .filter(({ message }) => message.includes('heartbeat') && !message.includes('holds secrets'))
      .map(({ result, message }) => [result, message]);
  };
  const tryIt = () => ask('channels', 'test', 'heartbeat');
  expect(await doctor()).toEqual([['ok', 'The heartbeat was pinged: the receiver answered 200.']]);
  expect((await tryIt()).stdout).toMatch(/^The test of the heartbeat succeeded after [\d.]+ m?s: HTTP 200\.\n/);
  switchOf.answer = status(404, {}, 'not found');
  expect(await doctor()).toEqual([['problem', 'The heartbeat does not get through: the receiver answered 404.']]);
  expect(await tryIt()).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/: HTTP 404\..*\nThe receiver answered 404\.\n/s),
  });
  expect(switchOf.received).toHaveLength(4);
});
