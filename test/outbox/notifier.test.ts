// Messages reach real receivers: in order, under one id, through failures; nothing is lost and nothing told twice.
import { Webhook } from 'standardwebhooks';
import { expect, test } from 'vitest';
import { alertmanagerChannel } from '../../src/channels/alertmanager.ts';
import type { Channel } from '../../src/channels/channel.ts';
import { webhookChannel } from '../../src/channels/webhook.ts';
import { hourMs, minuteMs, secondMs } from '../../src/core/time.ts';
import { movedClock } from '../../tools/simulator/moved-clock.ts';
import { firing, sampleAlert, start } from '../alerts/samples.ts';
import { resend } from '../operations/rooms.ts';
import { startReceiver, status } from './receiver.ts';
import { hookChannel, hookTo, staged as it, rigWith, secret, slackTo, stage } from './rig.ts';
import { sampleDelivery } from './sample-delivery.ts';
import { testStore } from './test-store.ts';

const fires = (account: string) => firing(sampleAlert(1, { account }));

it('a receiver that fails for an hour gets every message within four minutes of its first answer, each under one id with the same bytes', async (at) => {
  const { rig, receiver } = at;
  receiver.answer = status(503);
  rig.commit(fires('acme1'), fires('acme2'), fires('acme3'));
  await rig.clock.advance(hourMs);
  expect(rig.states()).toEqual(['pending', 'pending', 'pending']);
  expect([...rig.fleet.channels()][0]).toMatchObject({ pending: 3, lastFailure: 'the receiver answered 503' });
  receiver.answer = status(204);
  const failedTries = receiver.received.length;
  expect(failedTries).toBeGreaterThan(5);
  expect(await rig.clock.advanceUntil(() => rig.states().every((state) => state === 'sent'), 4 * minuteMs)).toBe(true);
  // However often each was tried, it was under one id and with the same bytes.
  const messages = new Set(receiver.received.map(({ headers, body }) => `${headers['webhook-id']} ${body}`));
  expect(messages.size).toBe(3);
  const accounts = at.bodies().map(({ data }) => data.account);
  expect(accounts.slice(0, 3)).toEqual(['acme1', 'acme2', 'acme3']);
  expect(receiver.received.length).toBe(failedTries + 3);
  await rig.clock.advance(minuteMs);
  expect([...rig.fleet.channels()][0]).toMatchObject({ pending: 0, oldestPendingAt: null, lastFailure: null });
  expect(rig.logged.filter((line) => line.includes('does not accept messages'))).toHaveLength(1);
  expect(rig.logged.filter((line) => line.includes('accepts messages again'))).toHaveLength(1);
  expect(rig.logged.join()).not.toMatch(/T0P-SECRET|127\.0\.0\.1|whsec/);
});

test("signatures verify with the receiver's library, also while one secret takes over from another", async () => {
  await using receiver = await startReceiver();
  // The library compares with the machine's own clock, so this clock begins there.
  const clock = movedClock(Date.now());
  const old = 'whsec_b2xkb2xkb2xkb2xkb2xkb2xkb2xkb2xk';
  const settings = { name: 'hook', url: receiver.url };
  const channel = webhookChannel({ ...settings, secrets: [secret, old] }, clock);
  const delivery = sampleDelivery({ payload: '{"a":"ü"}' });
  const answer = { status: 200, text: 'ok' };
  expect(await channel.send(delivery, AbortSignal.timeout(120_000))).toMatchObject({ kind: 'sent', answer });
  const { body = '', headers = {} } = receiver.received[0] ?? {};
  const verify = (one: string, text: string) => new Webhook(one).verify(text, headers as Record<string, string>);
  for (const one of [secret, old]) expect(verify(one, body)).toEqual({ a: 'ü' });
  expect(() => verify(secret, `${body} `)).toThrow('No matching signature');
  expect(headers['webhook-timestamp']).toBe(String(Math.floor(clock.now() / 1_000)));
});

const itsClock = { date: 'Mon, 01 Jan 2001 00:00:00 GMT' };

test.each([
  ['in the body', {}, '{"retry_after": 120}'],
  ['in seconds', { 'retry-after': '120', ...itsClock }, ''],
  ["as a date against the answer's own clock", { 'retry-after': 'Mon, 01 Jan 2001 00:02:00 GMT', ...itsClock }, ''],
])('Retry-After is honoured, %s', async (_, headers, body) => {
  await using at = await stage();
  at.receiver.answer = status(429, headers, body);
  at.rig.commit(fires('acme'));
  await at.rig.clock.advance(31 * secondMs);
  at.receiver.answer = status(200);
  await at.rig.clock.advance(5 * minuteMs);
  expect(at.receiver.received.map((one) => one.at - start)).toEqual([30 * secondMs, 150 * secondMs]);
});

it("a person's resend does not send before the Retry-After of the receiver is over", async ({ rig, receiver }) => {
  receiver.answer = status(410);
  rig.commit(fires('one'));
  await rig.clock.advance(26 * hourMs);
  receiver.answer = status(429, {}, '{"retry_after": 1800}');
  rig.commit(fires('two'));
  await rig.clock.advance(10 * minuteMs);
  const before = receiver.received.length;
  receiver.answer = status(200);
  const { undelivered } = rig.notifier;
  const { plan } = await resend(undelivered, { channel: 'hook', dry_run: true });
  expect(await resend(undelivered, { channel: 'hook', plan: plan ?? '' })).toMatchObject({ result: 'done' });
  await rig.clock.advance(15 * minuteMs);
  expect(receiver.received.length).toBe(before);
  await rig.clock.advance(30 * minuteMs);
  expect(rig.states()).toEqual(['sent', 'sent']);
});

it('410 for a day: all of it is visible, and a person can have it sent again', async ({ rig, receiver }) => {
  receiver.answer = status(410);
  rig.commit(fires('one'), fires('two'));
  await rig.clock.advance(minuteMs);
  rig.commit(fires('three'));
  await rig.clock.advance(minuteMs);
  expect([receiver.received.length, rig.states()]).toEqual([1, ['pending', 'pending', 'pending']]);
  await rig.clock.advance(26 * hourMs);
  const dead = { state: 'undelivered', detail: 'the receiver answered 410: it accepts no more messages' };
  expect(rig.store.deliveries()).toMatchObject([dead, dead, dead]);
  expect(rig.tallied.filter((line) => line === 'hook undelivered')).toHaveLength(3);
  expect([...rig.fleet.channels()][0]).toMatchObject({ pending: 0, undelivered: 3, failingSince: expect.any(Number) });
  receiver.answer = status(200);
  const { undelivered } = rig.notifier;
  expect(await resend(undelivered, { channel: 'nobody' })).toMatchObject({ result: 'invalid' });
  const planned = await resend(undelivered, { channel: 'hook', dry_run: true });
  expect(planned.messages).toEqual(['Warmwarden will send 3 undelivered messages again: 3 to hook.']);
  const plan = planned.plan ?? '';
  const [one] = rig.store.deliveries();
  const other = await resend(undelivered, { channel: 'hook', delivery: one?.id ?? '', plan });
  expect([other.result, rig.states()[0]]).toEqual(['changed', 'undelivered']);
  expect(await resend(undelivered, { channel: 'hook', plan })).toMatchObject({ result: 'done' });
  expect(await resend(undelivered, { channel: 'hook' })).toMatchObject({ result: 'no_change' });
  await rig.clock.advance(minuteMs);
  expect(rig.states()).toEqual(['sent', 'sent', 'sent']);
  const ids = receiver.received.slice(-3).map(({ headers }) => headers['webhook-id']);
  expect(ids).toEqual(rig.store.deliveries().map(({ id }) => id));
  expect([...rig.fleet.channels()][0]).toMatchObject({ undelivered: 0, failingSince: null });
});

test('of many messages that the set-up of a receiver keeps back, none is pending after a day', async () => {
  await using at = await stage({ groupWaitMs: 0 });
  at.receiver.answer = status(410);
  for (let number = 1; number <= 90; number += 1) {
    at.rig.commit(fires(`acme${number}`));
    await at.rig.clock.advance(30 * secondMs);
  }
  await at.rig.clock.advance(25 * hourMs);
  expect(at.rig.states().length).toBeGreaterThan(40);
  expect(new Set(at.rig.states())).toEqual(new Set(['undelivered']));
});

it('what the receiver blames on the request is given up after five attempts, and the next message goes on meanwhile', async (at) => {
  at.receiver.answer = (response, { body }) =>
    response.writeHead(JSON.parse(body).data.account === 'bad' ? 400 : 200).end();
  at.rig.commit(fires('bad'), fires('good'));
  await at.rig.clock.advance(minuteMs);
  expect(at.rig.states()).toEqual(['pending', 'sent']);
  await at.rig.clock.advance(hourMs);
  expect(at.rig.store.deliveries()).toMatchObject([
    { state: 'undelivered', attempts: 5 },
    { state: 'sent', attempts: 1 },
  ]);
  expect(at.rig.logged.filter((line) => line.includes('A message is undelivered'))).toHaveLength(1);
});

test('a message that comes while the channel rests after a failure is sent first when it works again', async () => {
  await using at = await stage({}, { random: () => 0.999 });
  at.receiver.answer = status(503);
  at.rig.commit(fires('old'));
  await at.rig.clock.advance(2 * hourMs);
  at.receiver.answer = status(200);
  const before = at.receiver.received.length;
  at.rig.commit(fires('new'));
  await at.rig.clock.advance(15 * minuteMs);
  expect(at.bodies(before).map(({ data }) => data.account)).toEqual(['new', 'old']);
});

test('a message that one of two recipients has is not sent to it again', async () => {
  const got: string[] = [];
  let isDeferred = true;
  const channel: Channel = {
    ...{ name: 'mail', type: 'email', minGapMs: 0, renderNotice: () => null },
    render: () => ({ payload: 'a letter', title: 'mail' }),
    send: async ({ receipt }) => {
      if (receipt === null) got.push('a');
      if (isDeferred) return { kind: 'accepted', receipt: 'a', againInMs: minuteMs, detail: 'b is deferred' };
      got.push('b');
      return { kind: 'sent' };
    },
  };
  await using rig = rigWith(() => [channel]);
  rig.commit(fires('acme'));
  await rig.clock.advance(hourMs);
  isDeferred = false;
  await rig.clock.advance(hourMs);
  expect([got, rig.states()]).toEqual([['a', 'b'], ['sent']]);
});

test('a redirect and a closed connection are failures, and nothing is sent elsewhere', async () => {
  await using elsewhere = await startReceiver();
  await using at = await stage();
  at.receiver.answer = status(307, { location: elsewhere.url });
  at.rig.commit(fires('acme'));
  await at.rig.clock.advance(31 * secondMs);
  expect(at.rig.store.deliveries()[0]?.detail).toContain('307');
  at.receiver.answer = (response) => void response.destroy();
  await at.rig.clock.advance(minuteMs);
  expect(at.rig.store.deliveries()[0]?.detail).toMatch(/^the connection was lost before the receiver answered/);
  expect(elsewhere.received).toHaveLength(0);
});

test('messages to Slack are a second apart', async () => {
  await using at = await stage({}, {}, (url, clock) => [slackTo(url, clock)]);
  for (let number = 1; number <= 3; number += 1) at.rig.commit(fires(`acme${number}`));
  await at.rig.clock.advance(2 * minuteMs);
  const times = at.receiver.received.map((one) => one.at);
  expect(times).toHaveLength(3);
  for (const [index, time] of times.slice(1).entries())
    expect(time - (times[index] ?? 0)).toBeGreaterThanOrEqual(secondMs);
});

it('what no channel wants is marked told without a message', async (at) => {
  at.rig.commit(firing(sampleAlert(1, { severity: 'info', rule: 'budget_too_small' })));
  await at.rig.clock.advance(minuteMs);
  expect([at.rig.store.unnotified(), at.rig.states()]).toEqual([0, []]);
});

it('what was sent while nothing could be recorded is sent once, and recorded as sent afterwards', async (at) => {
  const { rig, receiver } = at;
  receiver.answer = status(503);
  for (let number = 1; number <= 3; number += 1) rig.commit(fires(`acme${number}`));
  await rig.clock.advance(31 * secondMs);
  rig.store.full = new Error('database or disk is full');
  receiver.received.length = 0;
  receiver.answer = status(200);
  await rig.clock.advance(hourMs);
  // Without the alert that the store is failing, which stands in no outbox.
  const accounts = () => at.bodies().flatMap(({ data: { account } }) => (account.startsWith('acme') ? [account] : []));
  expect(accounts().sort()).toEqual(['acme1', 'acme2', 'acme3']);
  expect(rig.states()).toEqual(['pending', 'pending', 'pending']);
  rig.store.full = null;
  await rig.clock.advance(10 * secondMs);
  expect(rig.states().slice(0, 3)).toEqual(['sent', 'sent', 'sent']);
  await rig.clock.advance(minuteMs);
  expect(accounts()).toHaveLength(3);
});

const left = { id: 'msg_1', group: 'g', payload: '{}', title: 't', alerts: [] };

test('what an earlier configuration left for a channel that is gone stays visible', async () => {
  const store = testStore();
  await store.outbox.recordDeliveries({ transitionIds: [], deliveries: [{ ...left, channel: 'old' }], now: start });
  await using rig = rigWith(() => [], {}, { store });
  await rig.clock.advance(secondMs);
  const shown = { name: 'old', type: 'removed', pending: 1, oldestPendingAt: start };
  expect([...rig.fleet.channels()]).toMatchObject([shown]);
  expect(rig.logged.join()).toContain('a channel that is no longer configured');
});

test('a clock that was set back by hours delays nothing', async () => {
  const store = testStore();
  const later = start + 5 * hourMs;
  await store.outbox.recordDeliveries({ transitionIds: [], deliveries: [{ ...left, channel: 'hook' }], now: later });
  await using at = await stage({}, { store });
  await at.rig.clock.advance(secondMs);
  expect(at.receiver.received).toHaveLength(1);
});

test('a channel that takes nothing for 15 minutes is told through the others, and so is its recovery', async () => {
  await using broken = await startReceiver();
  broken.answer = status(503);
  await using at = await stage({}, {}, (url, clock) => [slackTo(broken.url, clock), hookChannel(url, clock)]);
  at.rig.commit(fires('acme'));
  await at.rig.clock.advance(14 * minuteMs);
  expect(at.receiver.received).toHaveLength(1);
  await at.rig.clock.advance(3 * minuteMs);
  const notified = () => at.bodies(1);
  const told = { type: 'alerts.firing', data: { rule: 'channel_failing', severity: 'critical' } };
  expect(notified()).toMatchObject([told]);
  expect(notified()[0].data.alerts[0]).toMatchObject({ object: 'ops', title: 'channel ops does not accept messages' });
  expect(notified()[0].data.alerts[0].sentences).toContain('Slack answered 503.');
  expect(JSON.stringify(notified())).not.toMatch(/T0P-SECRET|127\.0\.0\.1/);
  broken.answer = status(200, {}, 'ok');
  await at.rig.clock.advance(hourMs);
  expect(notified().map(({ type }) => type)).toEqual(['alerts.firing', 'alerts.resolved']);
  expect(broken.received.every(({ body }) => !body.includes('channel_failing'))).toBe(true);
});

test('an alert about a failing channel goes on over a restart, and ends when the channel is not configured any more', async () => {
  await using broken = await startReceiver();
  broken.answer = status(503);
  const shown = (rig: ReturnType<typeof rigWith>) => [...rig.fleet.alerts()].map(({ rule, status: is }) => [rule, is]);
  const failing = [['channel_failing', 'firing']];
  const store = testStore();
  const kept = await (async () => {
    await using rig = rigWith(hookTo(broken.url), {}, { store });
    rig.commit(fires('acme'));
    await rig.clock.advance(20 * minuteMs);
    expect(shown(rig)).toEqual(failing);
    return [...rig.fleet.alerts()];
  })();
  await using rig = rigWith(hookTo(broken.url), {}, { store, at: start + 21 * minuteMs });
  for (const alert of kept) rig.fleet.putAlert(alert);
  await rig.clock.advance(minuteMs);
  expect(shown(rig)).toEqual(failing);
  await rig.reconfigure([]);
  await rig.clock.advance(minuteMs);
  expect(shown(rig)).toEqual([]);
});

test('no attempt begins that could still be under way when another replica sends; then each message is sent once', async () => {
  let isOurs = false;
  await using at = await stage({}, { maySend: () => isOurs });
  at.rig.commit(fires('acme'));
  await at.rig.clock.advance(10 * minuteMs);
  expect([at.receiver.received.length, at.rig.states()]).toEqual([0, ['pending']]);
  isOurs = true;
  await at.rig.clock.advance(minuteMs);
  expect([at.receiver.received.length, at.rig.states()]).toEqual([1, ['sent']]);
});

test('an alert that is repeated for Alertmanager, which takes the newest version, keeps its links', async () => {
  const pageUrl = 'https://warmwarden.example';
  await using at = await stage({}, { pageUrl }, (url, clock) => [alertmanagerChannel({ name: 'am', url }, clock)]);
  at.rig.fleet.putAlert(sampleAlert(1));
  at.rig.commit(firing(sampleAlert(1)));
  await at.rig.clock.advance(10 * minuteMs);
  const links = at.bodies().map(([{ generatorURL, annotations }]) => `${generatorURL} ${annotations.runbook_url}`);
  expect(links.length).toBeGreaterThan(2);
  expect(new Set(links).size).toBe(1);
  expect(links[0]).toMatch(/^https:\/\/warmwarden\.example\/mailboxes\/\S+ https:\S+\/runbooks#/);
});
