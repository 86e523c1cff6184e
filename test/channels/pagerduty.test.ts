// PagerDuty: one key from the trigger to the resolve, and nothing pages that only happened, except a pause.
import { expect, test } from 'vitest';
import type { GroupMessage } from '../../src/alerts/grouping.ts';
import { pagerdutyChannel } from '../../src/channels/pagerduty.ts';
import type { Delivery } from '../../src/core/delivery.ts';
import { minuteMs } from '../../src/core/time.ts';
import { movedClock } from '../../tools/simulator/moved-clock.ts';
import { firing, resolved, sampleAlert, start } from '../alerts/samples.ts';
import { sampleDelivery } from '../outbox/sample-delivery.ts';
import { PagerDutyReceiver, routingKey } from '../support/strict-receivers.ts';
import { alertNamed, attacking, ended, incidentMessage, messageWith, one, pauseOf, people, storm } from './people.ts';

async function stage(key = routingKey) {
  const clock = movedClock(start);
  const receiver = await PagerDutyReceiver.start(clock.now);
  const channel = pagerdutyChannel({ name: 'pager', url: receiver.url, routingKey: key, ...people }, clock);
  const send = (message: GroupMessage, change: { readonly [Field in keyof Delivery]?: Delivery[Field] } = {}) => {
    const payload = channel.render(message)?.payload ?? '[]';
    expect(payload).not.toContain(key);
    return channel.send(sampleDelivery({ payload, ...change }), AbortSignal.timeout(60_000));
  };
  return { clock, receiver, channel, send, [Symbol.asyncDispose]: () => receiver[Symbol.asyncDispose]() };
}

const actions = ({ receiver }: Awaited<ReturnType<typeof stage>>) =>
  receiver.taken().map(({ event_action: action, dedup_key: key }) => `${action} ${key}`);

test("an alert's trigger and its resolve have one key, and say who", async () => {
  await using at = await stage();
  expect(await at.send(one)).toMatchObject({ kind: 'sent' });
  expect(await at.send(ended)).toMatchObject({ kind: 'sent' });
  expect(actions(at)).toEqual(['trigger stale_data|acme|m1|', 'resolve stale_data|acme|m1|']);
  expect(at.receiver.taken()[0]).toMatchObject({ payload: { source: 'bob1@acme.example' } });
});

test('an incident is one alert from its beginning to its end, whatever is in it', async () => {
  await using at = await stage();
  for (const step of ['began', 'grew', 'ended'] as const) await at.send(incidentMessage(step));
  expect(actions(at)).toEqual(['trigger inc_sample', 'trigger inc_sample', 'resolve inc_sample']);
  const [first] = at.receiver.taken();
  expect(JSON.stringify(first)).toContain('and 11 more: see the page.');
  expect(first).toMatchObject({ payload: { severity: 'critical', source: 'google', class: 'block (policy_block)' } });
});

test('what was triggered before it belonged to the incident is resolved with it, under its own key', async () => {
  await using at = await stage();
  const own = { ...resolved(sampleAlert(1)), alone: true as const };
  await at.send({ ...incidentMessage('ended'), transitions: [own, resolved(sampleAlert(2)), firing(sampleAlert(3))] });
  expect(actions(at)).toEqual(['resolve inc_sample', 'resolve stale_data|acme|m1|']);
});

test('what only happened pages nobody, except a pause that Warmwarden made', async () => {
  await using at = await stage();
  const event = (message: GroupMessage) => at.channel.render(message);
  expect(event(messageWith([pauseOf('confirmed', 'recovery')]))).toBeNull();
  expect(event(messageWith([pauseOf('refused')]))).toBeNull();
  expect(at.channel.renderNotice({ name: 'digest', title: 'The day', at: start, sections: [] })).toBeNull();
  await at.send(messageWith([pauseOf('confirmed')]));
  expect(actions(at)).toEqual(['trigger guard_acted|acme|m1|a1:confirmed']);
});

test('a storm triggers the twenty worst, each of which says how many more there are', async () => {
  await using at = await stage();
  expect(await at.send(storm)).toMatchObject({ kind: 'sent' });
  expect(at.receiver.taken()).toHaveLength(20);
  const others = 'and 1,980 more: see the page.';
  expect(at.receiver.taken()[0]).toMatchObject({ payload: { custom_details: { others } } });
  expect(await at.send(attacking)).toMatchObject({ kind: 'sent' });
  const long = alertNamed('bob', { object: 'x'.repeat(300) });
  await at.send(messageWith([firing({ ...long, fingerprint: `stale_data|acme|m1|${'x'.repeat(300)}` })]));
  expect(String(at.receiver.taken().at(-1)?.['dedup_key'])).toMatch(/^[0-9a-f]{64}$/);
});

test('an attempt that was throttled in the middle goes on where it stopped, after the wait', async () => {
  await using at = await stage();
  const ends = messageWith(Array.from({ length: 200 }, (_, number) => resolved(sampleAlert(number))));
  const first = await at.send(ends);
  expect(first).toMatchObject({ kind: 'accepted', receipt: '120', againInMs: 2 * minuteMs });
  await at.clock.advance(2 * minuteMs);
  expect(await at.send(ends, { state: 'accepted', receipt: '120' })).toMatchObject({ kind: 'sent' });
  expect(new Set(actions(at)).size).toBe(200);
  at.receiver.fault = () => ({ status: 429 });
  expect(await at.send(one)).toMatchObject({ kind: 'failed', retryAfterMs: 2 * minuteMs });
});

test('a routing key that is refused is about the channel, and stands in no answer', async () => {
  const wrong = 'W0123456789abcdef0123456789abcde';
  await using at = await stage(wrong);
  const result = await at.send(one);
  expect(result).toMatchObject({ kind: 'failed', setup: true });
  expect(result.detail).toContain("PagerDuty answered 400 (Event object is invalid; 'routing_key' is invalid): write");
  expect(await at.channel.check?.(AbortSignal.timeout(60_000))).toMatchObject({ kind: 'failed', setup: true });
  at.receiver.fault = () => ({ status: 400, body: { message: `bad ${wrong}`, errors: ['summary is missing'] } });
  expect(await at.send(one)).toMatchObject({ kind: 'refused', detail: expect.not.stringContaining(wrong) });
});

test('the test of the channel proves the key and pages nobody', async () => {
  await using at = await stage();
  expect(await at.channel.check?.(AbortSignal.timeout(60_000))).toMatchObject({
    kind: 'sent',
    detail: expect.stringContaining('did not page anyone'),
    answer: { status: 202 },
  });
  expect(actions(at)).toEqual(['resolve warmwarden-test']);
});
