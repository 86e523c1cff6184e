// When a message is tried again, and when no more. What receivers ask for: notifier.test.ts.
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { slackChannel } from '../../src/channels/slack.ts';
import { deliveryAfter } from '../../src/core/delivery.ts';
import { dayMs, secondMs } from '../../src/core/time.ts';
import { type SettledAttempt, settlementOf } from '../../src/outbox/channel-outbox.ts';
import { guardedAttempt } from '../../src/outbox/sender.ts';
import { systemClock } from '../../src/world/world.ts';
import { people } from '../channels/people.ts';
import { sampleDelivery } from './sample-delivery.ts';

const now = Date.parse('2026-03-20T10:00:00Z');

const delivery = sampleDelivery({ createdAt: now, nextAttemptAt: now });
const failed = { kind: 'failed', detail: 'no', retryAfterMs: null, final: false } as const;

/** The delivery after an attempt. */
const after = (attempt: SettledAttempt) => deliveryAfter(attempt.delivery, settlementOf(attempt));

function waitAfter(attempts: number, random: number): number {
  const attempt = { outcome: failed, refusals: 0, random, now };
  return after({ ...attempt, delivery: { ...delivery, attempts } }).nextAttemptAt - now;
}

test('waits grow exponentially with full jitter, between 1 s and 4 min', () => {
  expect([0, 1, 2, 3, 9, 10, 5_000].map((attempts) => waitAfter(attempts, 1))).toEqual(
    [1, 2, 4, 8, 240, 240, 240].map((seconds) => seconds * secondMs),
  );
  expect(waitAfter(10, 0.5)).toBe(120 * secondMs);
  expect(waitAfter(10, 0)).toBe(secondMs);
});

test('a day ends a delivery that was really tried, and not one that slept with the machine', () => {
  const attempt = { outcome: failed, refusals: 0, random: 0.5, now: now + dayMs };
  expect(after({ ...attempt, delivery: { ...delivery, attempts: 4 } }).state).toBe('undelivered');
  expect(after({ ...attempt, delivery: { ...delivery, attempts: 3 } }).state).toBe('pending');
  expect(after({ ...attempt, now: attempt.now - 1, delivery: { ...delivery, attempts: 500 } }).state).toBe('pending');
});

test('an error of our own blames the attempt, and gives up what must not be sent twice, without its words', async () => {
  const channel = slackChannel({ name: 'team', url: 'https://hooks.example/T', ...people }, systemClock());
  const throws = () => Promise.reject(new Error('https://hooks.example/T'));
  const outcome = (of: typeof channel) =>
    guardedAttempt(of, throws, { mayGoOn: () => true }, pino({ level: 'silent' }));
  const detail = expect.not.stringContaining('hooks.example');
  expect(await outcome(channel)).toEqual({ kind: 'refused', detail, retryAfterMs: null });
  expect(await outcome({ ...channel, once: true })).toMatchObject({ kind: 'failed', detail, final: true });
});
