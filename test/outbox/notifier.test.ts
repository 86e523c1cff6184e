// Messages reach real receivers: in order, under one id, through failures; nothing is lost and nothing told twice.

import { Webhook } from 'standardwebhooks';
import { expect, test } from 'vitest';
import { slackChannel } from '../../src/channels/slack.ts';
import { webhookChannel } from '../../src/channels/webhook.ts';
import { hourMs, minuteMs, secondMs } from '../../src/core/time.ts';
import { movedClock } from '../../src/world/world.ts';
import { firing, resolved, sampleAlert, start } from '../alerts/samples.ts';
import { resend } from '../operations/rooms.ts';
import { memoryOutbox } from './memory-outbox.ts';
import { startReceiver, status } from './receiver.ts';
import { hookChannel, hookTo, rigWith, secret } from './rig.ts';
import { sampleDelivery } from './sample-delivery.ts';

test('a receiver that fails for an hour gets every message as soon as it answers, each under one id with the same bytes', async () => {
  let now = () => start;
  await using receiver = await startReceiver(() => now());
  await using rig = rigWith(hookTo(receiver.url));
  now = rig.clock.now;
  receiver.answer = status(503);
  for (let number = 1; number <= 3; number += 1) rig.commit(firing(sampleAlert(number, { account: `acme${number}` })));
  await rig.clock.advance(hourMs);
  expect(rig.store.deliveries().map(({ state }) => state)).toEqual(['pending', 'pending', 'pending']);
  expect([...rig.fleet.channels()][0]).toMatchObject({ pending: 3, lastFailure: 'the receiver answered 503' });
  receiver.answer = (response) => response.writeHead(204).end();
  const failedTries = receiver.received.length;
  expect(failedTries).toBeGreaterThan(5);
  expect(
    await rig.clock.advanceUntil(() => rig.store.deliveries().every(({ state }) => state === 'sent'), hourMs),
  ).toBe(true);
  // However often each was tried, it was under one id and with the same bytes.
  const bodies = new Set(receiver.received.map(({ headers, body }) => `${headers['webhook-id']} ${body}`));
  expect(bodies.size).toBe(3);
  expect(receiver.received.slice(0, 3).map(({ body }) => JSON.parse(body).data.account)).toEqual([
    'acme1',
    'acme2',
    'acme3',
  ]);
  // Once it answers, nobody waits for a back-off any more.
  const [revived] = receiver.received.slice(failedTries);
  expect(receiver.received.length).toBe(failedTries + 3);
  expect(rig.clock.now() - (revived?.at ?? 0)).toBeLessThan(secondMs);
  await rig.clock.advance(minuteMs);
  expect([...rig.fleet.channels()][0]).toMatchObject({ pending: 0, oldestPendingAt: null, lastFailure: null });
  expect(rig.logged.filter((line) => line.includes('does not accept messages'))).toHaveLength(1);
  expect(rig.logged.filter((line) => line.includes('accepts messages again'))).toHaveLength(1);
  expect(rig.logged.join()).not.toMatch(/T0P-SECRET|127\.0\.0\.1|whsec/);
});

test("signatures verify with the receiver's library, and the time stamp is that of the sending", async () => {
  await using receiver = await startReceiver(() => 0);
  // The library compares with the machine's own clock, so this clock begins there.
  const clock = movedClock(Date.now());
  const [channel] = hookTo(receiver.url)(clock);
  const delivery = sampleDelivery({ payload: '{"a":"ü"}' });
  expect(await channel?.send(delivery, AbortSignal.timeout(120_000))).toMatchObject({
    kind: 'sent',
    answer: { status: 200, text: 'ok' },
  });
  const [got] = receiver.received;
  const verifier = new Webhook(secret);
  expect(verifier.verify(got?.body ?? '', got?.headers as Record<string, string>)).toEqual({ a: 'ü' });
  expect(() => verifier.verify(`${got?.body} `, got?.headers as Record<string, string>)).toThrow(
    'No matching signature',
  );
  expect(got?.headers['webhook-timestamp']).toBe(String(Math.floor(clock.now() / 1_000)));
});

test("Retry-After is honoured, in seconds, as a date against the answer's own clock, and in the body", async () => {
  for (const after of ['', '120', new Date(Date.parse('2001-01-01T00:02:00Z')).toUTCString()]) {
    let now = () => start;
    await using receiver = await startReceiver(() => now());
    await using rig = rigWith(hookTo(receiver.url));
    now = rig.clock.now;
    receiver.answer =
      after === ''
        ? status(429, {}, '{"retry_after": 120}')
        : status(429, { 'retry-after': after, date: 'Mon, 01 Jan 2001 00:00:00 GMT' });
    rig.commit(firing(sampleAlert(1)));
    await rig.clock.advance(31 * secondMs);
    receiver.answer = status(200);
    await rig.clock.advance(5 * minuteMs);
    expect(receiver.received.map(({ at }) => at - start)).toEqual([30 * secondMs, 150 * secondMs]);
  }
});

test("a person's resend does not send before the Retry-After of the receiver is over", async () => {
  let now = () => start;
  await using receiver = await startReceiver(() => now());
  await using rig = rigWith(hookTo(receiver.url));
  now = rig.clock.now;
  receiver.answer = status(410);
  rig.commit(firing(sampleAlert(1, { account: 'one' })));
  await rig.clock.advance(26 * hourMs);
  receiver.answer = status(429, {}, '{"retry_after": 1800}');
  rig.commit(firing(sampleAlert(1, { account: 'two' })));
  await rig.clock.advance(10 * minuteMs);
  const before = receiver.received.length;
  receiver.answer = status(200);
  const { undelivered } = rig.notifier;
  const { plan } = await resend(undelivered, { channel: 'hook', dry_run: true });
  expect(await resend(undelivered, { channel: 'hook', plan: plan ?? '' })).toMatchObject({ result: 'done' });
  await rig.clock.advance(15 * minuteMs);
  expect(receiver.received.length).toBe(before);
  await rig.clock.advance(30 * minuteMs);
  expect(rig.store.deliveries().map(({ state }) => state)).toEqual(['sent', 'sent']);
});

test('of many messages that the set-up of a receiver keeps back, none is pending after a day', async () => {
  await using receiver = await startReceiver(() => 0);
  await using rig = rigWith(hookTo(receiver.url), { groupWaitMs: 0 });
  receiver.answer = status(410);
  for (let number = 1; number <= 90; number += 1) {
    rig.commit(firing(sampleAlert(1, { account: `acme${number}` })));
    await rig.clock.advance(30 * secondMs);
  }
  await rig.clock.advance(25 * hourMs);
  expect(rig.store.deliveries().length).toBeGreaterThan(40);
  expect(new Set(rig.store.deliveries().map(({ state }) => state))).toEqual(new Set(['dead']));
});

test('410 for a day: all of it is visible, and a person can have it sent again', async () => {
  await using receiver = await startReceiver(() => 0);
  await using rig = rigWith(hookTo(receiver.url));
  receiver.answer = status(410);
  rig.commit(firing(sampleAlert(1, { account: 'one' })), firing(sampleAlert(1, { account: 'two' })));
  await rig.clock.advance(minuteMs);
  rig.commit(firing(sampleAlert(1, { account: 'three' })));
  await rig.clock.advance(minuteMs);
  expect([receiver.received.length, rig.store.deliveries().map(({ state }) => state)]).toEqual([
    1,
    ['pending', 'pending', 'pending'],
  ]);
  await rig.clock.advance(26 * hourMs);
  expect(rig.store.deliveries().map(({ state, detail }) => [state, detail])).toEqual(
    Array.from({ length: 3 }, () => ['dead', 'the receiver answered 410: it accepts no more messages']),
  );
  expect(rig.tallied.filter((line) => line === 'hook undelivered')).toHaveLength(3);
  expect([...rig.fleet.channels()][0]).toMatchObject({ pending: 0, undelivered: 3, failingSince: expect.any(Number) });
  receiver.answer = status(200);
  const { undelivered } = rig.notifier;
  expect(await resend(undelivered, { channel: 'nobody' })).toMatchObject({ result: 'invalid' });
  const planned = await resend(undelivered, { channel: 'hook', dry_run: true });
  expect(planned.messages).toEqual(['Warmwarden will send 3 undelivered messages again: 3 to hook.']);
  const [one] = rig.store.deliveries();
  const other = await resend(undelivered, { channel: 'hook', delivery: one?.id ?? '', plan: planned.plan ?? '' });
  expect([other.result, rig.store.deliveries()[0]?.state]).toEqual(['changed', 'dead']);
  const resent = await resend(undelivered, { channel: 'hook', plan: planned.plan ?? '' });
  expect(resent).toEqual({ result: 'done', messages: ['hook: sending 3 messages again.'] });
  expect(await resend(undelivered, { channel: 'hook' })).toMatchObject({ result: 'no_change' });
  await rig.clock.advance(minuteMs);
  expect(rig.store.deliveries().map(({ state }) => state)).toEqual(['sent', 'sent', 'sent']);
  expect(receiver.received.slice(-3).map(({ headers }) => headers['webhook-id'])).toEqual(
    rig.store.deliveries().map(({ id }) => id),
  );
  expect([...rig.fleet.channels()][0]).toMatchObject({ undelivered: 0, failingSince: null });
});

test('what the receiver blames on the request is given up after five attempts, and the next message goes on meanwhile', async () => {
  let now = () => start;
  await using receiver = await startReceiver(() => now());
  await using rig = rigWith(hookTo(receiver.url));
  now = rig.clock.now;
  receiver.answer = (response, { body }) =>
    response.writeHead(JSON.parse(body).data.account === 'bad' ? 400 : 200).end();
  rig.commit(firing(sampleAlert(1, { account: 'bad' })), firing(sampleAlert(1, { account: 'good' })));
  await rig.clock.advance(minuteMs);
  expect(rig.store.deliveries().map(({ state }) => state)).toEqual(['pending', 'sent']);
  await rig.clock.advance(hourMs);
  expect(rig.store.deliveries().map(({ state, attempts }) => [state, attempts])).toEqual([
    ['dead', 5],
    ['sent', 1],
  ]);
  expect(rig.logged.filter((line) => line.includes('A message is undelivered'))).toHaveLength(1);
});

test('a message that its receiver answers with 500 for ever blocks what tells of the same alert, and nothing else', async () => {
  await using receiver = await startReceiver(() => 0);
  await using rig = rigWith(hookTo(receiver.url));
  receiver.answer = (response, { body }) =>
    response.writeHead(JSON.parse(body).data.account === 'poison' ? 500 : 200).end();
  const poison = sampleAlert(1, { account: 'poison' });
  rig.commit(firing(poison));
  await rig.clock.advance(minuteMs);
  rig.commit(resolved(poison, rig.clock.now()), firing(sampleAlert(1, { account: 'good' })));
  await rig.clock.advance(10 * minuteMs);
  rig.commit(firing(sampleAlert(1, { account: 'better' })));
  await rig.clock.advance(minuteMs);
  const notified = receiver.received
    .map(({ body }) => JSON.parse(body))
    .map(({ type, data }) => `${data.account} ${type}`);
  expect(new Set(notified)).toEqual(new Set(['poison alerts.firing', 'good alerts.firing', 'better alerts.firing']));
  receiver.answer = status(200);
  await rig.clock.advance(hourMs);
  const last = receiver.received.slice(-2).map(({ body }) => JSON.parse(body).type);
  expect(last).toEqual(['alerts.firing', 'alerts.resolved']);
});

test('a new message is tried at once although the channel rests after a failure', async () => {
  let now = () => start;
  await using receiver = await startReceiver(() => now());
  await using rig = rigWith(hookTo(receiver.url), {}, { random: () => 0.999 });
  now = rig.clock.now;
  receiver.answer = status(503);
  rig.commit(firing(sampleAlert(1, { account: 'old' })));
  await rig.clock.advance(2 * hourMs);
  receiver.answer = status(200);
  const before = receiver.received.length;
  rig.commit(firing(sampleAlert(1, { account: 'new' })));
  await rig.clock.advance(31 * secondMs);
  expect(receiver.received.slice(before).map(({ body }) => JSON.parse(body).data.account)).toEqual(['new', 'old']);
});

test('what a day of retries does not bring through is given up visibly', async () => {
  await using receiver = await startReceiver(() => 0);
  await using rig = rigWith(hookTo(receiver.url), {}, { random: () => 0.999 });
  receiver.answer = status(500);
  rig.commit(firing(sampleAlert(1)));
  await rig.clock.advance(23 * hourMs);
  expect(rig.store.deliveries()[0]?.state).toBe('pending');
  await rig.clock.advance(2 * hourMs);
  expect(rig.store.deliveries()[0]).toMatchObject({ state: 'dead', detail: 'the receiver answered 500' });
});

test('after an outage, of reminders about one alert only the newest is sent; the message that it is about is sent, too', async () => {
  let now = () => start;
  await using receiver = await startReceiver(() => now());
  const repeatIntervalMs = { critical: 4 * hourMs, warning: 4 * hourMs, info: null };
  await using rig = rigWith(hookTo(receiver.url), { repeatIntervalMs });
  now = rig.clock.now;
  receiver.answer = status(503);
  const [one, other] = [sampleAlert(1), sampleAlert(2, { account: 'acme2' })];
  for (const alert of [one, other]) {
    rig.fleet.putAlert(alert);
    rig.commit(firing(alert));
  }
  await rig.clock.advance(21 * hourMs);
  expect(rig.store.deliveries()).toHaveLength(12);
  receiver.answer = status(200);
  receiver.received.length = 0;
  await rig.clock.advance(20 * minuteMs);
  const kinds = receiver.received
    .map(({ body }) => JSON.parse(body))
    .map(({ type, data }) => `${type} ${data.account}`);
  expect(kinds.sort()).toEqual(
    ['acme', 'acme2'].flatMap((name) => [`alerts.firing ${name}`, `alerts.reminder ${name}`]).sort(),
  );
  const states = rig.store.deliveries().map(({ state }) => state);
  expect(states.filter((state) => state === 'sent')).toHaveLength(4);
  expect(states.filter((state) => state === 'replaced')).toHaveLength(8);
  const reminders = rig.store
    .deliveries()
    .filter(({ alerts }) => alerts.includes(one.fingerprint))
    .slice(1);
  expect(reminders.map(({ state }) => state)).toEqual([...Array(4).fill('replaced'), 'sent']);
});

test('while a channel fails, a reminder waits and is given up as if no newer one were there', async () => {
  await using receiver = await startReceiver(() => 0);
  const repeatIntervalMs = { critical: 4 * hourMs, warning: 4 * hourMs, info: null };
  await using rig = rigWith(hookTo(receiver.url), { repeatIntervalMs });
  receiver.answer = status(503);
  rig.fleet.putAlert(sampleAlert(1));
  rig.commit(firing(sampleAlert(1)));
  await rig.clock.advance(4 * 24 * hourMs);
  const count = (wanted: string) => rig.store.deliveries().filter(({ state }) => state === wanted).length;
  expect([count('replaced'), count('sent')]).toEqual([0, 0]);
  expect(count('dead')).toBeGreaterThan(12);
  expect(count('pending')).toBeLessThan(8);
  receiver.answer = status(200);
  receiver.received.length = 0;
  await rig.clock.advance(20 * minuteMs);
  expect([receiver.received.length, count('pending')]).toEqual([1, 0]);
});

test('a redirect, a closed connection and silence are failures, and nothing is sent elsewhere', async () => {
  await using elsewhere = await startReceiver(() => 0);
  await using receiver = await startReceiver(() => 0);
  await using rig = rigWith(hookTo(receiver.url));
  receiver.answer = status(307, { location: elsewhere.url });
  rig.commit(firing(sampleAlert(1)));
  await rig.clock.advance(31 * secondMs);
  expect(rig.store.deliveries()[0]?.detail).toContain('307');
  receiver.answer = (response) => void response.destroy();
  await rig.clock.advance(minuteMs);
  expect(rig.store.deliveries()[0]?.detail).toMatch(/^the connection was lost before the receiver answered \(\w+\)$/);
  expect(elsewhere.received).toHaveLength(0);
});

test('Slack: 200 with an error is a failure, and messages are a second apart', async () => {
  let now = () => start;
  await using receiver = await startReceiver(() => now());
  await using rig = rigWith((clock) => [
    slackChannel({ name: 'ops', url: receiver.url, pageUrl: null, publicUrl: null, timeZone: () => 'UTC' }, clock),
  ]);
  now = rig.clock.now;
  receiver.answer = status(200, {}, 'invalid_blocks');
  for (let number = 1; number <= 5; number += 1) rig.commit(firing(sampleAlert(number, { account: `acme${number}` })));
  await rig.clock.advance(30 * secondMs);
  expect(rig.store.deliveries()[0]).toMatchObject({
    state: 'pending',
    attempts: 1,
    detail: 'Slack answered 200 with an error (invalid_blocks)',
  });
  receiver.answer = status(200, {}, 'ok');
  await rig.clock.advance(minuteMs);
  expect(rig.store.deliveries().every(({ state }) => state === 'sent')).toBe(true);
  const gaps = receiver.received.slice(1).map(({ at }, index) => at - (receiver.received[index]?.at ?? 0));
  expect(Math.min(...gaps)).toBeGreaterThanOrEqual(secondMs);
});

test('a channel that fails does not keep the other from being told', async () => {
  await using broken = await startReceiver(() => 0);
  await using fine = await startReceiver(() => 0);
  broken.answer = status(500);
  await using rig = rigWith((clock) => [
    slackChannel({ name: 'ops', url: broken.url, pageUrl: null, publicUrl: null, timeZone: () => 'UTC' }, clock),
    hookChannel(fine.url, clock),
  ]);
  rig.commit(firing(sampleAlert(1)));
  await rig.clock.advance(31 * secondMs);
  expect(fine.received).toHaveLength(1);
  expect([...rig.fleet.channels()].map(({ name, pending }) => [name, pending])).toEqual([
    ['ops', 1],
    ['hook', 0],
  ]);
});

test('2,000 mailboxes at once are one message a channel; the next of the group waits for the interval', async () => {
  await using receiver = await startReceiver(() => 0);
  await using rig = rigWith(hookTo(receiver.url));
  const alerts = Array.from({ length: 2_000 }, (_, number) => sampleAlert(number));
  for (const alert of alerts) rig.commit(firing(alert));
  await rig.clock.advance(29 * secondMs);
  expect(receiver.received).toHaveLength(0);
  await rig.clock.advance(secondMs);
  expect(receiver.received).toHaveLength(1);
  const body = JSON.parse(receiver.received[0]?.body ?? '');
  expect([body.type, body.data.total, body.data.alerts.length]).toEqual(['alerts.firing', 2_000, 500]);
  for (const [index, alert] of alerts.entries()) {
    rig.commit(resolved(alert, rig.clock.now()));
    if (index % 20 === 0) await rig.clock.advance(1);
  }
  await rig.clock.advance(4 * minuteMs);
  expect(receiver.received).toHaveLength(1);
  await rig.clock.advance(minuteMs);
  expect(JSON.parse(receiver.received[1]?.body ?? '').type).toBe('alerts.resolved');
  expect(rig.store.unnotified()).toBe(0);
  // Every commit woke the loop; looking each time would read thousands of rows each time.
  expect(rig.store.looks).toBeLessThan(30);
});

test('a message that waits for its next try is sent then, without another word from anybody', async () => {
  await using receiver = await startReceiver(() => 0);
  await using rig = rigWith(hookTo(receiver.url));
  receiver.answer = status(429, { 'retry-after': '95' });
  rig.commit(firing(sampleAlert(1)));
  await rig.clock.advance(31 * secondMs);
  receiver.answer = status(204);
  await rig.clock.advance(93 * secondMs);
  expect(receiver.received).toHaveLength(1);
  await rig.clock.advance(2 * secondMs);
  expect(receiver.received).toHaveLength(2);
});

test('what could not be read of the outbox is read as soon as it can be', async () => {
  await using receiver = await startReceiver(() => 0);
  await using rig = rigWith(hookTo(receiver.url));
  await rig.clock.advance(minuteMs);
  rig.store.broken = new Error('disk I/O error');
  rig.commit(firing(sampleAlert(1)));
  await rig.clock.advance(2 * minuteMs);
  rig.store.broken = null;
  await rig.clock.advance(40 * secondMs);
  const bodies = receiver.received.map(({ body }) => JSON.parse(body).data.alerts[0].rule);
  expect(bodies.filter((rule) => rule !== 'store_failing')).toEqual(['stale_data']);
});

test('what no channel wants is marked told without a message', async () => {
  await using receiver = await startReceiver(() => 0);
  await using rig = rigWith(hookTo(receiver.url));
  rig.commit(firing(sampleAlert(1, { severity: 'info', rule: 'budget_too_small' })));
  await rig.clock.advance(minuteMs);
  expect([rig.store.unnotified(), rig.store.deliveries().length]).toEqual([0, 0]);
});

test('a store that fails for a while stops nothing for good', async () => {
  await using receiver = await startReceiver(() => 0);
  await using rig = rigWith(hookTo(receiver.url));
  rig.store.broken = new Error('disk full');
  rig.commit(firing(sampleAlert(1)));
  await rig.clock.advance(10 * minuteMs);
  rig.store.broken = null;
  await rig.clock.advance(10 * secondMs);
  const rules = receiver.received.map(({ body }) => JSON.parse(body).data.rule);
  expect(rules).toEqual(['store_failing', 'stale_data']);
  expect(rig.logged.filter((line) => line.includes('composing messages works again'))).toHaveLength(1);
});

test('what a stopped daemon left is sent by the next one, under the same id with the same bytes', async () => {
  await using receiver = await startReceiver(() => 0);
  receiver.answer = status(503);
  const store = memoryOutbox();
  {
    await using rig = rigWith(hookTo(receiver.url), {}, { store });
    rig.commit(firing(sampleAlert(1)));
    await rig.clock.advance(31 * secondMs);
  }
  expect(store.deliveries()).toMatchObject([{ state: 'pending' }]);
  const before = receiver.received.at(-1);
  receiver.answer = status(200);
  await using rig = rigWith(hookTo(receiver.url), {}, { store });
  await rig.clock.advance(minuteMs);
  const after = receiver.received.at(-1);
  expect(store.deliveries()).toMatchObject([{ state: 'sent' }]);
  expect([after?.body, after?.headers['webhook-id']]).toEqual([before?.body, before?.headers['webhook-id']]);
});

test('what an earlier configuration left for a channel that is gone stays visible', async () => {
  const store = memoryOutbox();
  const left = { id: 'msg_1', channel: 'old', group: 'g', payload: '{}', title: 't', alerts: [] };
  await store.outbox.recordDeliveries({ transitionIds: [], deliveries: [left], now: start });
  await using rig = rigWith(() => [], {}, { store });
  await rig.clock.advance(secondMs);
  expect([...rig.fleet.channels()]).toMatchObject([
    { name: 'old', type: 'removed', pending: 1, oldestPendingAt: start },
  ]);
  expect(rig.logged.join()).toContain('a channel that is no longer configured');
});

test('a clock that was set back by hours delays nothing', async () => {
  await using receiver = await startReceiver(() => 0);
  const store = memoryOutbox();
  const left = { id: 'msg_1', channel: 'hook', group: 'g', payload: '{}', title: 't', alerts: [] };
  await store.outbox.recordDeliveries({ transitionIds: [], deliveries: [left], now: start + 5 * hourMs });
  await using rig = rigWith(hookTo(receiver.url), {}, { store });
  await rig.clock.advance(secondMs);
  expect(receiver.received).toHaveLength(1);
});

test('while one secret takes over from another, both sign, and a receiver with either verifies', async () => {
  await using receiver = await startReceiver(() => 0);
  const old = 'whsec_b2xkb2xkb2xkb2xkb2xkb2xkb2xkb2xk';
  const settings = {
    name: 'hook',
    url: receiver.url,
    format: 'standard',
    pageUrl: null,
    timeZone: () => 'UTC',
  } as const;
  const channel = webhookChannel({ ...settings, secrets: [secret, old] }, movedClock(start));
  await channel.send(sampleDelivery({ payload: '{"a":1}' }), AbortSignal.timeout(120_000));
  const [got] = receiver.received;
  for (const one of [secret, old]) {
    expect(new Webhook(one).verify(got?.body ?? '', got?.headers as Record<string, string>)).toEqual({ a: 1 });
  }
});

test('a channel that takes nothing for 15 minutes is told through the others, and so is its recovery', async () => {
  await using broken = await startReceiver(() => 0);
  await using fine = await startReceiver(() => 0);
  broken.answer = status(503);
  await using rig = rigWith((clock) => [
    slackChannel({ name: 'ops', url: broken.url, pageUrl: null, publicUrl: null, timeZone: () => 'UTC' }, clock),
    hookChannel(fine.url, clock),
  ]);
  rig.commit(firing(sampleAlert(1)));
  await rig.clock.advance(14 * minuteMs);
  expect(fine.received).toHaveLength(1);
  await rig.clock.advance(3 * minuteMs);
  const notified = () => fine.received.slice(1).map(({ body }) => JSON.parse(body));
  expect(notified()).toMatchObject([
    { type: 'alerts.firing', data: { rule: 'channel_failing', severity: 'critical' } },
  ]);
  expect(notified()[0].data.alerts[0]).toMatchObject({ object: 'ops', title: 'channel ops does not accept messages' });
  expect(notified()[0].data.alerts[0].sentences).toContain('Slack answered 503.');
  expect(JSON.stringify(notified())).not.toMatch(/T0P-SECRET|127\.0\.0\.1/);
  broken.answer = status(200, {}, 'ok');
  await rig.clock.advance(hourMs);
  expect(notified().map(({ type }) => type)).toEqual(['alerts.firing', 'alerts.resolved']);
  expect(broken.received.every(({ body }) => !body.includes('channel_failing'))).toBe(true);
});

test('a failing channel that is taken out of the configuration is no alert any more', async () => {
  await using broken = await startReceiver(() => 0);
  broken.answer = status(503);
  await using rig = rigWith(hookTo(broken.url));
  rig.commit(firing(sampleAlert(1)));
  await rig.clock.advance(20 * minuteMs);
  expect([...rig.fleet.alerts()].map(({ rule, status: is }) => [rule, is])).toEqual([['channel_failing', 'firing']]);
  await rig.reconfigure([]);
  await rig.clock.advance(minuteMs);
  expect([...rig.fleet.alerts()]).toEqual([]);
});

test('no attempt begins that could still be under way when another replica sends; then each message is sent once', async () => {
  let now = () => start;
  await using receiver = await startReceiver(() => now());
  let isOurs = true;
  await using rig = rigWith(hookTo(receiver.url), {}, { maySend: () => isOurs });
  now = rig.clock.now;
  isOurs = false;
  rig.commit(firing(sampleAlert(1)));
  await rig.clock.advance(10 * minuteMs);
  expect([receiver.received.length, rig.store.deliveries().map(({ state }) => state)]).toEqual([0, ['pending']]);
  isOurs = true;
  await rig.clock.advance(minuteMs);
  expect([receiver.received.length, rig.store.deliveries().map(({ state }) => state)]).toEqual([1, ['sent']]);
});
