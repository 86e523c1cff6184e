// The nine routes, with the fields and types of the API's document.
import { expect, test } from 'vitest';
import { dayMs, hourMs, type Json, scenarioOf, serve } from './served.ts';

const isoTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const decimals = expect.stringMatching(/^\d+\.\d\d$/);
const newMailbox = {
  email: 'new@three.example',
  smtp_host: 'smtp.gmail.com',
  smtp_port: 587,
  smtp_user: 'new',
  smtp_pass: 'hush-smtp',
  imap_host: 'imap.gmail.com',
  imap_port: 993,
  imap_user: 'new',
  imap_pass: 'hush-imap',
};

test('health answers without a key, in fleet time', async () => {
  await using served = await serve();
  await served.clock.advance(hourMs);
  const { status, body, headers } = await served.ask('/v1/health', { key: null });
  expect(status).toBe(200);
  expect(body).toEqual({ status: 'ok', version: expect.any(String), timestamp: '2026-03-10T09:30:00.000Z' });
  expect(headers['x-ratelimit-limit']).toBeUndefined();
});

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

test('the detail shows DNS words, the start of the warm-up and no connection error', async () => {
  await using served = await serve();
  const { status, body } = await served.ask(`/v1/mailboxes/${served.idOf('bob@two.example')}`);
  expect(status).toBe(200);
  expect(body).toEqual({
    id: served.idOf('bob@two.example'),
    email: 'bob@two.example',
    provider: 'zoho',
    status: 'active',
    health_score: expect.any(Number),
    daily_limit: 45,
    warmup_day: 15,
    warmup_started_at: '2026-02-24T07:00:00.000Z',
    dns_status: { spf: 'pass', dkim: 'pass', dmarc: 'pass' },
    connection_error: null,
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

test('statistics reach back ninety days and never before the warm-up', async () => {
  await using served = await serve();
  expect(await served.stats('bob@two.example', 90)).toHaveLength(15);
  await served.clock.advance(100 * dayMs);
  const { body } = await served.ask(`/v1/stats?mailbox_id=${served.idOf('bob@two.example')}&days=90`);
  expect(body.period).toBe('90d');
  expect(body.stats).toHaveLength(90);
});

test('a DNS check is at most an hour old, and new when a refresh is asked for', async () => {
  await using served = await serve();
  const path = `/v1/dns?mailbox_id=${served.idOf('ann@one.example')}`;
  const cached = await served.ask(path);
  expect(cached.status).toBe(200);
  expect(cached.body).toEqual({
    mailbox_id: served.idOf('ann@one.example'),
    domain: 'one.example',
    checked_at: expect.stringMatching(isoTime),
    source: 'cached',
    spf: { status: 'pass', record: expect.stringContaining('v=spf1') },
    dkim: { status: 'pass', record: expect.stringContaining('v=DKIM1') },
    dmarc: { status: 'pass', record: expect.stringContaining('v=DMARC1') },
  });
  const age = served.clock.now() - Date.parse(cached.body.checked_at);
  expect(age).toBeGreaterThan(0);
  expect(age).toBeLessThanOrEqual(hourMs);
  const live = await served.ask(`${path}&refresh=true`);
  expect(live.body).toMatchObject({ source: 'live', checked_at: '2026-03-10T08:30:00.000Z' });
  await served.clock.advance(60_000);
  expect((await served.ask(`${path}&refresh=false`)).body).toMatchObject({
    source: 'cached',
    checked_at: '2026-03-10T08:30:00.000Z',
  });
});

test('a blacklist check names the address, and no list while all is well', async () => {
  await using served = await serve();
  const { status, body } = await served.ask(`/v1/blacklist?mailbox_id=${served.idOf('ann@one.example')}&refresh=true`);
  expect(status).toBe(200);
  expect(body).toEqual({
    mailbox_id: served.idOf('ann@one.example'),
    domain: 'one.example',
    ip: expect.stringMatching(/^203\.0\.113\.\d+$/),
    checked_at: '2026-03-10T08:30:00.000Z',
    listed: false,
    blacklists_found: [],
    total_checked: expect.any(Number),
  });
});

test('a created mailbox is active, starts its warm-up at once and sends the same day', async () => {
  await using served = await serve();
  const { status, body } = await served.ask('/v1/mailboxes', { body: newMailbox });
  expect(status).toBe(201);
  expect(body).toEqual({
    id: expect.stringMatching(uuid),
    email: 'new@three.example',
    status: 'active',
    message: expect.any(String),
  });
  await served.clock.advance(10 * hourMs);
  expect(await served.today('new@three.example')).toMatchObject({ sent: 5 });
  expect(await served.warmup('new@three.example')).toMatchObject({ warmup_mode: 'balanced', warmup_day: 1 });
  expect((await served.ask(`/v1/mailboxes/${body.id}`)).body.provider).toBe('google');
});

test('passwords of a creation appear neither in the request log nor in any answer', async () => {
  await using served = await serve();
  const { body } = await served.ask('/v1/mailboxes', { body: newMailbox });
  const detail = await served.ask(`/v1/mailboxes/${body.id}`);
  expect(JSON.stringify([served.simulator.requests, body, detail.body])).not.toContain('hush');
  expect(served.simulator.requests[0]?.body).toMatchObject({ smtp_user: 'new', smtp_pass: '[hidden]' });
});

test('the request log keeps what was asked and answered, so that writes can be counted', async () => {
  await using served = await serve();
  await served.act('ann@one.example', 'pause');
  await served.ask('/v1/stats');
  expect(served.simulator.requests).toEqual([
    {
      at: served.clock.now(),
      method: 'POST',
      path: '/v1/warmup',
      status: 200,
      body: { mailbox_id: served.idOf('ann@one.example'), action: 'pause' },
    },
    { at: served.clock.now(), method: 'GET', path: '/v1/stats', status: 400 },
  ]);
});

test('an empty fleet is an empty list', async () => {
  await using served = await serve({ scenario: scenarioOf([]) });
  expect((await served.ask('/v1/mailboxes')).body).toEqual({ mailboxes: [] });
});
