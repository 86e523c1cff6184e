// Every documented error, as JSON with a sentence.
import { connect } from 'node:net';
import { expect, test } from 'vitest';
import { movedClock } from '../../src/world/world.ts';
import { demoKey } from '../../tools/simulator/keys.ts';
import { hourMs, type Reply, serve } from './served.ts';

const newMailbox = {
  email: 'new@three.example',
  smtp_host: 'smtp.zoho.com',
  smtp_port: 587,
  smtp_user: 'new',
  smtp_pass: 'secret',
  imap_host: 'imap.zoho.com',
  imap_port: 993,
  imap_user: 'new',
  imap_pass: 'secret',
};

function expectRefusal(reply: Reply, status: number, error: string | RegExp) {
  expect(reply.status).toBe(status);
  expect(reply.body).toEqual({ error: expect.stringMatching(error) });
}

test('a missing mailbox_id, a wrong days or refresh is a 400', async () => {
  await using served = await serve();
  for (const route of ['warmup', 'stats', 'dns', 'blacklist']) {
    expectRefusal(await served.ask(`/v1/${route}`), 400, 'mailbox_id is required');
  }
  const id = served.idOf('ann@one.example');
  for (const days of ['0', '91', '-1', '1.5', 'seven', '', '1e1', '99999999999']) {
    expectRefusal(await served.ask(`/v1/stats?mailbox_id=${id}&days=${days}`), 400, 'days must be');
  }
  expect((await served.ask(`/v1/stats?mailbox_id=${id}&days=90`)).status).toBe(200);
  expectRefusal(await served.ask(`/v1/dns?mailbox_id=${id}&refresh=yes`), 400, 'refresh must be');
  expectRefusal(await served.ask(`/v1/blacklist?mailbox_id=${id}&refresh=1`), 400, 'refresh must be');
});

test('a body that is no JSON object, or too large, is a 400', async () => {
  await using served = await serve();
  for (const body of ['{', '', '[]', 'null', '"pause"']) {
    expectRefusal(await served.ask('/v1/warmup', { method: 'POST', body }), 400, 'the request body must be');
  }
  const huge = { action: 'x'.repeat(70_000) };
  expectRefusal(await served.ask('/v1/warmup', { body: huge }), 400, 'must not exceed 65536 bytes');
});

test('an unknown action or a missing field is a 400 and changes nothing', async () => {
  await using served = await serve();
  expectRefusal(await served.ask('/v1/warmup', { body: { action: 'pause' } }), 400, 'mailbox_id is required');
  expectRefusal(await served.act('ann@one.example', 'stop'), 400, 'action must be pause, resume or update_config');
  expectRefusal(await served.ask('/v1/warmup', { body: { mailbox_id: 7, action: 'pause' } }), 400, 'mailbox_id');
  expect(await served.warmup('ann@one.example')).toMatchObject({ status: 'active' });
});

test.each([
  [undefined, 'needs a config object'],
  [{}, 'at least one field'],
  [{ warmup_mode: 'turbo' }, 'config.warmup_mode must be one of slow, balanced, aggressive, recovery'],
  [{ target_daily_limit: 0 }, 'config.target_daily_limit must be an integer from 1 to 100'],
  [{ target_daily_limit: '20' }, 'config.target_daily_limit'],
  [{ reply_rate: 100.5 }, 'config.reply_rate'],
  [{ send_window_start: 24 }, 'config.send_window_start'],
  [{ send_window_end: 9 }, 'send_window_start must be before'],
  [{ thread_rate: 10 }, 'config.thread_rate cannot be updated'],
  [{ weekdays_only: false }, 'config.weekdays_only cannot be updated'],
  [{ warmup_mode: 'recovery', toString: 1 }, 'config.toString cannot be updated'],
])('update_config with %j is a 400 and changes nothing', async (config, error) => {
  await using served = await serve();
  const before = await served.warmup('ann@one.example');
  expectRefusal(await served.act('ann@one.example', 'update_config', config), 400, error);
  expect(await served.warmup('ann@one.example')).toEqual(before);
});

test('a creation that lacks a field, has a bad port or a taken address is a 400', async () => {
  await using served = await serve();
  for (const field of Object.keys(newMailbox)) {
    const body = { ...newMailbox, [field]: undefined };
    expectRefusal(await served.ask('/v1/mailboxes', { body }), 400, new RegExp(`^${field} `));
  }
  const badPort = { ...newMailbox, imap_port: 70_000 };
  expectRefusal(await served.ask('/v1/mailboxes', { body: badPort }), 400, 'imap_port must be');
  expectRefusal(await served.ask('/v1/mailboxes', { body: { ...newMailbox, email: 'nobody' } }), 400, 'email must be');
  const taken = { ...newMailbox, email: 'ANN@one.example' };
  expectRefusal(await served.ask('/v1/mailboxes', { body: taken }), 400, 'already exists');
  expect(served.simulator.fleet.mailboxes()).toHaveLength(2);
});

test('a missing, unknown or malformed key is a 401', async () => {
  await using served = await serve();
  for (const key of [null, 'sk_live_unknown', 'sk_test_demo', `${demoKey}x`, '']) {
    expectRefusal(await served.ask('/v1/mailboxes', { key }), 401, 'missing or invalid');
  }
});

test('a permission that the key lacks is a 403', async () => {
  await using served = await serve({
    keys: [
      { key: 'sk_live_reader', permissions: ['read'], plan: 'pro' },
      { key: 'sk_live_writer', permissions: ['write'], plan: 'pro', mailboxes: ['*'] },
    ],
  });
  const body = { mailbox_id: served.idOf('ann@one.example'), action: 'pause' };
  expectRefusal(await served.ask('/v1/warmup', { key: 'sk_live_reader', body }), 403, 'lacks the write permission');
  expect((await served.ask('/v1/mailboxes', { key: 'sk_live_reader' })).status).toBe(200);
  expectRefusal(await served.ask('/v1/mailboxes', { key: 'sk_live_writer' }), 403, 'lacks the read permission');
  expect((await served.ask('/v1/warmup', { key: 'sk_live_writer', body })).status).toBe(200);
});

test('the free plan is a 403 everywhere but on health', async () => {
  await using served = await serve({ keys: [{ key: 'sk_live_free', permissions: ['read', 'write'], plan: 'free' }] });
  expectRefusal(await served.ask('/v1/mailboxes', { key: 'sk_live_free' }), 403, 'Pro or Enterprise plan');
  expect((await served.ask('/v1/health', { key: 'sk_live_free' })).status).toBe(200);
});

test("another key's mailbox is a 404 on every route, like one that is not there", async () => {
  await using served = await serve({
    keys: [
      { key: 'sk_live_one', permissions: ['read', 'write'], plan: 'pro', mailboxes: ['*@one.example'] },
      { key: 'sk_live_two', permissions: ['read', 'write'], plan: 'pro', mailboxes: ['bob@two.example'] },
      { key: 'sk_live_none', permissions: ['read', 'write'], plan: 'pro' },
    ],
  });
  const ann = served.idOf('ann@one.example');
  for (const id of [ann, '00000000-0000-4000-8000-000000000000', 'x']) {
    for (const path of [
      `mailboxes/${id}`,
      ...['warmup', 'stats', 'dns', 'blacklist'].map((r) => `${r}?mailbox_id=${id}`),
    ]) {
      expectRefusal(await served.ask(`/v1/${path}`, { key: 'sk_live_two' }), 404, 'mailbox not found');
    }
    const body = { mailbox_id: id, action: 'pause' };
    expectRefusal(await served.ask('/v1/warmup', { key: 'sk_live_two', body }), 404, 'mailbox not found');
  }
  const seenBy = async (key: string) =>
    (await served.ask('/v1/mailboxes', { key })).body.mailboxes.map((mailbox: { email: string }) => mailbox.email);
  expect(await seenBy('sk_live_one')).toEqual(['ann@one.example']);
  expect(await seenBy('sk_live_none')).toEqual([]);
  await served.ask('/v1/mailboxes', { key: 'sk_live_none', body: newMailbox });
  expect(await seenBy('sk_live_none')).toEqual(['new@three.example']);
  expect(await seenBy('sk_live_two')).toEqual(['bob@two.example']);
});

test('an unknown path is a 404, an unknown method a 405', async () => {
  await using served = await serve();
  for (const path of ['/', '/v1', '/v1/nothing', '/v1/v1/mailboxes', '/v1/mailboxes/a/b', '//', '/v1/toString']) {
    expectRefusal(await served.ask(path), 404, 'nothing at this path');
  }
  const reply = await served.ask('/v1/warmup', { method: 'DELETE' });
  expectRefusal(reply, 405, 'method');
  expect(reply.headers['allow']).toBe('GET, HEAD, POST');
  expectRefusal(await served.ask('/v1/stats', { body: {} }), 405, 'method');
});

test('the health check takes GET and HEAD, from anybody; anything else is a 405 before a key is asked for', async () => {
  await using served = await serve();
  for (const method of ['POST', 'DELETE'] as const) {
    const reply = await served.ask('/v1/health', { method, key: null });
    expectRefusal(reply, 405, 'method');
    expect(reply.headers['allow']).toBe('GET, HEAD');
  }
});

test('HEAD is answered as GET, without the body: on the health check, on what there is, and on what is refused', async () => {
  await using served = await serve();
  const id = served.idOf('ann@one.example');
  for (const [path, key] of [
    ['/v1/health', null],
    ['/v1/mailboxes', demoKey],
    [`/v1/mailboxes/${id}`, demoKey],
    [`/v1/stats?mailbox_id=${id}`, demoKey],
    ['/v1/mailboxes', null],
    ['/v1/nothing', demoKey],
  ] as const) {
    const headers = key === null ? {} : { authorization: `Bearer ${key}` };
    const url = served.simulator.url + path;
    const [get, head] = [await fetch(url, { headers }), await fetch(url, { method: 'HEAD', headers })];
    const said = await get.text();
    expect([head.status, await head.text()]).toEqual([get.status, '']);
    expect(head.headers.get('content-type')).toBe(get.headers.get('content-type'));
    expect(Number(head.headers.get('content-length'))).toBe(Buffer.byteLength(said));
  }
});

test('request 101 within sixty seconds is a 429 that says when the next one is welcome', async () => {
  const keys = [{ key: demoKey, permissions: ['read', 'write'], plan: 'pro' }] as const;
  await using served = await serve({ keys });
  const first = await served.ask('/v1/mailboxes');
  expect(first.headers).toMatchObject({ 'x-ratelimit-limit': '100', 'x-ratelimit-remaining': '99' });
  await served.clock.advance(10_500);
  for (let request = 2; request <= 100; request += 1) {
    const reply = await served.ask(request % 2 ? '/v1/mailboxes' : '/v1/nothing');
    expect(reply.headers['x-ratelimit-remaining']).toBe(String(100 - request));
  }
  const refused = await served.ask('/v1/mailboxes');
  expectRefusal(refused, 429, 'try again in 50 s');
  expect(refused.headers).toMatchObject({
    'retry-after': '50',
    'x-ratelimit-limit': '100',
    'x-ratelimit-remaining': '0',
  });
  await served.clock.advance(49_499);
  const tooEarly = await served.ask('/v1/mailboxes');
  expect([tooEarly.status, tooEarly.headers['retry-after']]).toEqual([429, '1']);
  await served.clock.advance(1);
  // Only the first request has left the window, so exactly one is welcome.
  expect((await served.ask('/v1/mailboxes')).status).toBe(200);
  const again = await served.ask('/v1/mailboxes');
  expect([again.status, again.headers['retry-after']]).toEqual([429, '11']);
  expect((await served.ask('/v1/health')).status).toBe(200);
});

test('each key has its own window, its plan or its own number as the limit', async () => {
  await using served = await serve({
    keys: [
      { key: 'sk_live_small', permissions: ['read'], plan: 'pro', requestsPerMinute: 2 },
      { key: 'sk_live_large', permissions: ['read'], plan: 'enterprise' },
    ],
  });
  const statuses = [];
  for (let request = 0; request < 3; request += 1) {
    statuses.push((await served.ask('/v1/mailboxes', { key: 'sk_live_small' })).status);
  }
  expect(statuses).toEqual([200, 200, 429]);
  const large = await served.ask('/v1/mailboxes', { key: 'sk_live_large' });
  expect(large.headers).toMatchObject({ 'x-ratelimit-limit': '500', 'x-ratelimit-remaining': '499' });
});

test('the rate limit can run on another clock than the fleet', async () => {
  const limiterClock = movedClock(0);
  const keys = [{ key: demoKey, permissions: ['read'], plan: 'pro', requestsPerMinute: 1 }] as const;
  await using served = await serve({ keys, limiterClock });
  expect((await served.ask('/v1/mailboxes')).status).toBe(200);
  await served.clock.advance(hourMs);
  expect((await served.ask('/v1/mailboxes')).status).toBe(429);
  await limiterClock.advance(60_000);
  expect((await served.ask('/v1/mailboxes')).status).toBe(200);
});

test('a key without the prefix is a mistake of whoever starts the simulator', async () => {
  const keys = [{ key: 'secret', permissions: ['read'], plan: 'pro' }] as const;
  await expect(serve({ keys })).rejects.toThrow('must start with sk_live_');
});

test('a request that is cut off in its body harms nobody else', async () => {
  await using served = await serve();
  const { port } = new URL(served.simulator.url);
  const socket = connect(Number(port), '127.0.0.1');
  const head = `POST /v1/warmup HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${demoKey}\r\ncontent-length: 100\r\n\r\n{"`;
  await new Promise((resolve) => socket.write(head, resolve));
  socket.destroy();
  while (served.simulator.requests.length === 0) await new Promise((resolve) => setImmediate(resolve));
  expect(served.simulator.requests[0]?.status).toBe(400);
  expect((await served.ask('/v1/mailboxes')).status).toBe(200);
});
