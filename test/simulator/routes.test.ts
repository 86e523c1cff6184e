// The routes, with the fields and types of the API's document, what they refuse, and the four ways of counting requests.
import { expect, test } from 'vitest';
import { demoKey } from '../../tools/simulator/keys.ts';
import { movedClock } from '../../tools/simulator/moved-clock.ts';
import { createLimiter } from '../../tools/simulator/rate-limit.ts';
import { ann, hourMs, serve } from './served.ts';

const hours = 10;

test.each([
  [
    'the list',
    '/v1/mailboxes',
    ['mailboxes', '0'],
    'id email provider status health_score daily_limit warmup_day created_at',
  ],
  [
    'a warm-up',
    '/v1/warmup',
    [],
    'mailbox_id email status health_score daily_limit warmup_day warmup_mode config recent_emails',
  ],
  [
    'its settings',
    '/v1/warmup',
    ['config'],
    'target_daily_limit reply_rate thread_rate weekdays_only send_window_start send_window_end',
  ],
  [
    'its emails',
    '/v1/warmup',
    ['recent_emails', '9'],
    'id status landed_in subject scheduled_at sent_at bounce_type bounce_category',
  ],
  [
    'a day',
    '/v1/stats',
    ['stats', '6'],
    'date sent delivered opened replied bounced spam_landed inbox_rate bounce_rate reply_rate health_score',
  ],
] as const)('%s has exactly the fields of the document', async (_, route, place, fields) => {
  await using served = await serve();
  await served.clock.advance(hours * hourMs);
  const { body } = await served.ask(`${route}?mailbox_id=${served.idOf(ann.email)}`);
  expect(Object.keys(place.reduce((part, key) => part[key], body))).toEqual(fields.split(' '));
});

test('statistics cover seven days unless asked otherwise, today last, rates as strings', async () => {
  await using served = await serve();
  await served.clock.advance(hours * hourMs);
  const { body } = await served.ask(`/v1/stats?mailbox_id=${served.idOf(ann.email)}`);
  const today = body.stats[6];
  expect([body.stats.length, body.stats[0].date, today.date]).toEqual([7, '2026-03-04', '2026-03-10']);
  expect(today).toMatchObject({ sent: 40, reply_rate: ((today.replied / 40) * 100).toFixed(2) });
  expect(body.stats[3]).toMatchObject({ sent: 0, bounce_rate: '0.00', inbox_rate: '0.00', reply_rate: '0.00' });
});

test('request 101 within sixty seconds is a 429 that says when the next one is welcome, health apart', async () => {
  const keys = [{ key: demoKey, permissions: ['read', 'write'], plan: 'pro' }] as const;
  await using served = await serve({ keys });
  for (let request = 1; request <= 100; request += 1) {
    const { headers } = await served.ask(request % 2 ? '/v1/mailboxes' : '/v1/nothing');
    expect(headers).toMatchObject({ 'x-ratelimit-limit': '100', 'x-ratelimit-remaining': String(100 - request) });
    if (request === 1) await served.clock.advance(10_500);
  }
  const { status, headers } = await served.ask('/v1/mailboxes');
  expect([status, headers['retry-after'], headers['x-ratelimit-remaining']]).toEqual([429, '50', '0']);
  expect((await served.ask('/v1/health')).status).toBe(200);
});

const limit = 60;

test.each([
  ['sliding', [60, 0, 60]],
  ['fixed', [60, 60, 0]],
  ['token_bucket', [60, 30, 30]],
  ['small_bucket', [6, 6, 6]],
] as const)(
  'a %s limiter lets %j through at once: after half a minute, one, and one and a half',
  async (kind, admitted) => {
    const clock = movedClock(Date.UTC(2026, 2, 10, 8, 30));
    const limiter = createLimiter(kind, limit, clock);
    const counts: number[] = [];
    for (const _ of admitted) {
      await clock.advance(30_000);
      const burst = Array.from({ length: 3 * limit }, () => limiter.knock());
      counts.push(burst.filter((knock) => knock.admitted).length);
    }
    expect(counts).toEqual(admitted);
  },
);
