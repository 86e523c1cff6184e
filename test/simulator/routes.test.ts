// The routes, with the fields and types of the API's document, what they refuse, and the four ways of counting requests.
import { expect, test } from 'vitest';
import { demoKey } from '../../tools/simulator/keys.ts';
import { movedClock } from '../../tools/simulator/moved-clock.ts';
import { createLimiter, type LimiterKind, limiterKinds } from '../../tools/simulator/rate-limit.ts';
import { hourMs, type Json, serve } from './served.ts';

const isoTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const decimals = expect.stringMatching(/^\d+\.\d\d$/);
test('the list shows every mailbox with exactly the documented fields', async () => {
  await using served = await serve();
  const { status, body, headers } = await served.ask('/v1/mailboxes');
  expect(status).toBe(200);
  expect(headers['content-type']).toContain('application/json');
  expect(body.mailboxes).toHaveLength(2);
  expect(body.mailboxes[0]).toEqual({
    id: expect.stringMatching(uuid),
    email: 'ann@one.example',
    provider: 'google',
    status: 'active',
    health_score: expect.any(Number),
    daily_limit: 40,
    warmup_day: 41,
    created_at: expect.stringMatching(isoTime),
  });
});

test('the warm-up status shows mode, config and the last ten emails, newest first', async () => {
  await using served = await serve();
  const body = await served.warmup('ann@one.example');
  expect(body).toEqual({
    mailbox_id: served.idOf('ann@one.example'),
    email: 'ann@one.example',
    status: 'active',
    health_score: expect.any(Number),
    daily_limit: 40,
    warmup_day: 41,
    warmup_mode: 'balanced',
    config: {
      target_daily_limit: 40,
      reply_rate: 30,
      thread_rate: 20,
      weekdays_only: true,
      send_window_start: 9,
      send_window_end: 17,
    },
    recent_emails: expect.any(Array),
  });
  expect(body.recent_emails).toHaveLength(10);
  for (const mail of body.recent_emails) {
    expect(mail).toEqual({
      id: expect.any(String),
      status: expect.stringMatching(/^(sent|bounced)$/),
      landed_in: expect.any(String),
      subject: expect.any(String),
      scheduled_at: expect.stringMatching(isoTime),
      sent_at: expect.stringMatching(isoTime),
      bounce_type: null,
      bounce_category: null,
    });
    expect(mail.scheduled_at <= mail.sent_at).toBe(true);
  }
  const times = body.recent_emails.map((mail: Json) => mail.sent_at);
  expect(times).toEqual([...times].sort().reverse());
  expect(new Set(body.recent_emails.map((mail: Json) => mail.id)).size).toBe(10);
});

test('statistics cover seven days unless asked otherwise, today last, rates as strings', async () => {
  await using served = await serve();
  await served.clock.advance(10 * hourMs);
  const id = served.idOf('ann@one.example');
  const { status, body } = await served.ask(`/v1/stats?mailbox_id=${id}`);
  expect(status).toBe(200);
  expect(body).toMatchObject({ mailbox_id: id, period: '7d' });
  expect(body.stats.map((entry: Json) => entry.date)).toEqual([
    '2026-03-04',
    '2026-03-05',
    '2026-03-06',
    '2026-03-07',
    '2026-03-08',
    '2026-03-09',
    '2026-03-10',
  ]);
  const today = body.stats[6];
  expect(today).toEqual({
    date: '2026-03-10',
    sent: 40,
    delivered: expect.any(Number),
    opened: expect.any(Number),
    replied: expect.any(Number),
    bounced: expect.any(Number),
    spam_landed: expect.any(Number),
    inbox_rate: decimals,
    bounce_rate: decimals,
    reply_rate: decimals,
    health_score: decimals,
  });
  expect(today.reply_rate).toBe(((today.replied / 40) * 100).toFixed(2));
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

async function limiterOf(kind: LimiterKind, startsAfterMs = 0) {
  const clock = movedClock(Date.UTC(2026, 2, 10, 8, 30));
  const limiter = createLimiter(kind, limit, clock);
  await clock.advance(startsAfterMs);
  /** How many of so many knocks at one moment are admitted. */
  const burst = (knocks = 3 * limit) =>
    Array.from({ length: knocks }, () => limiter.knock()).filter(({ admitted }) => admitted).length;
  return { clock, limiter, burst };
}

test.each([
  ['sliding', [60, 0, 60]],
  ['fixed', [60, 60, 0]],
  ['token_bucket', [60, 30, 30]],
  ['small_bucket', [6, 6, 6]],
] as const)(
  'a %s limiter lets %j through at once: after half a minute, one, and one and a half',
  async (kind, admitted) => {
    const { clock, burst } = await limiterOf(kind, 30_000);
    const counts: number[] = [];
    for (const _ of admitted) {
      counts.push(burst());
      await clock.advance(30_000);
    }
    expect(counts).toEqual(admitted);
  },
);

test.each(limiterKinds)(
  'a %s limiter lets an even pace at its limit through, and nothing above it for long',
  async (kind) => {
    const { clock, limiter } = await limiterOf(kind);
    const paced = async (everyMs: number, requests: number) => {
      let refused = 0;
      for (let request = 0; request < requests; request += 1) {
        if (!limiter.knock().admitted) refused += 1;
        await clock.advance(everyMs);
      }
      return refused;
    };
    expect(await paced(1_000, 300)).toBe(0);
    expect(await paced(500, 600)).toBeGreaterThan(200);
  },
);
