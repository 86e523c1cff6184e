import { createServer, type Socket } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { Failure } from '../../src/api/http/failure.ts';
import type { StatsAnswer } from '../../src/core/answers.ts';
import { hourMs } from '../../src/core/time.ts';
import { systemClock } from '../../src/world/world.ts';
import { freePort } from '../support/free-port.ts';
import { listen, portOf, urlOf } from '../support/loopback.ts';
import { answer, askScripted, clientOf, key, type Script, start, startScripted } from './scripted-server.ts';

const page = '<!doctype html><html><head><title>Just a moment...</title></head><body>challenge</body></html>';
const good = { status: 'active', warmup_mode: 'balanced' };

/** The failure of GET warmup when the server answers so; an answer is an error of the test. */
async function failureOf(script: Script): Promise<Failure> {
  await using client = await askScripted(script);
  const result = await client.api.warmup('a');
  if (result.ok) throw new Error('that was read as an answer');
  expect(JSON.stringify(result)).not.toContain(key);
  expect(result.failure.detail.length).toBeLessThan(300);
  return result.failure;
}

test.each([
  [400, { error: 'days must be an integer' }, 'refused', 'HTTP 400: days must be an integer'],
  [403, '', 'unavailable', 'HTTP 403 without a text'],
  [408, { error: 'timeout' }, 'unavailable', 'HTTP 408: timeout'],
  [410, page, 'refused', `HTTP 410: Just a moment...`],
  [429, page, 'throttled', `HTTP 429: Just a moment...`],
  [500, { error: { code: 17 } }, 'unavailable', 'HTTP 500: {"code":17}'],
  [500, { message: 'oops' }, 'unavailable', 'HTTP 500: {"message":"oops"}'],
  [503, '', 'unavailable', 'HTTP 503 without a text'],
] as const)('HTTP %i with %j is %s', async (status, body, kind, detail) => {
  expect(await failureOf(answer(status, body))).toEqual({
    kind,
    status,
    detail: `GET /v1/warmup: ${detail}`,
    retryAfterMs: null,
  });
});

test.each([
  ['blanks', ' \n', 'the body is empty'],
  ['a list', '[]', 'not a JSON object'],
  ['null', 'null', 'not a JSON object'],
  ['a text', '"active"', 'not a JSON object'],
  ['half an object', '{"status":"act', 'the body is not valid JSON'],
  ['an object of another kind', '{"hello":"world"}', 'not what the document describes'],
  ['an answer about another mailbox', JSON.stringify({ ...good, mailbox_id: 'b' }), 'about another mailbox'],
])('HTTP 200 with %s is malformed (H2, H5)', async (_name, body, said) => {
  const failure = await failureOf((response) => response.writeHead(200).end(body));
  expect([failure.kind, failure.status]).toEqual(['malformed', 200]);
  expect(failure.detail).toContain(said);
});

test.each([[{ ...good, error: null }], [{ ...good, error: '' }], [{ ...good, success: true, mailbox_id: 'a' }]])(
  'HTTP 200 with %j is an answer',
  async (body) => {
    await expect(failureOf(answer(200, body))).rejects.toThrow('read as an answer');
  },
);

test.each([
  ['seconds', '17', 17_000],
  ['digits without end', '9'.repeat(400), 900_000],
  ['twice, one of them malformed', ['soon', '4'], 4_000],
  ['an HTTP date that has passed', 'Tue, 10 Mar 2026 07:00:00 GMT', 1_000],
  ['an ISO date, which is no HTTP date', '2026-03-10T08:31:00Z', null],
  ['a number with a unit', '5s', null],
  ['empty', '', null],
])('Retry-After: %s (H11)', async (_name, header, retryAfterMs) => {
  const headers = { 'retry-after': header, date: 'Tue, 10 Mar 2026 08:30:00 GMT' };
  expect(await failureOf(answer(429, { error: 'slow down' }, headers))).toMatchObject({ retryAfterMs });
});

test('without a Date header a Retry-After date is measured against our own clock', async () => {
  const failure = await failureOf((response) => {
    response.sendDate = false;
    response.writeHead(429, { 'retry-after': new Date(start + 45_000).toUTCString() }).end();
  });
  expect(failure.retryAfterMs).toBe(45_000);
});

test('a Retry-After beside 503 is obeyed, beside another status it is not', async () => {
  expect((await failureOf(answer(503, {}, { 'retry-after': '30' }))).retryAfterMs).toBe(30_000);
  expect((await failureOf(answer(500, {}, { 'retry-after': '30' }))).retryAfterMs).toBeNull();
});

test('a limit that two kinds of answers name tightens the budget, malformed ones do nothing', async () => {
  await using client = await askScripted(answer(200, good, { 'x-ratelimit-limit': '50' }));
  await client.api.warmup('a');
  expect([client.api.budget.allowedPerMinute, client.said]).toEqual([90, []]);
  await client.api.mailbox('a');
  expect(client.api.budget.allowedPerMinute).toBe(45);
  expect(client.said).toEqual([
    expect.stringContaining('the API allows 50 requests a minute, the configuration says 100'),
  ]);
  client.server.script = answer(200, good, { 'x-ratelimit-limit': '10;w=60', 'x-ratelimit-remaining': 'none' });
  await client.api.warmup('a');
  expect([client.api.budget.allowedPerMinute, client.api.budget.nextStartAt(0)]).toEqual([45, 0]);
});

test.each([429, 503])('a %i ends batches, which begin where the API says that it has room for them', async (status) => {
  const headers = { 'x-ratelimit-limit': '500', 'x-ratelimit-remaining': '480' };
  await using client = await askScripted(answer(200, good, headers), { requestsPerMinute: 500 });
  const { budget } = client.api;
  expect(budget.atOnce(0)).toBe(1);
  await client.api.warmup('a');
  expect(budget.atOnce(0)).toBe(4);
  client.server.script = answer(status, {}, headers);
  await client.api.warmup('a');
  client.server.script = answer(200, good, headers);
  await client.api.warmup('a');
  expect([0, 23 * hourMs, 25 * hourMs].map((at) => budget.atOnce(at))).toEqual([1, 1, 4]);
});

test.each([301, 302, 307, 308])(
  'a redirect (%i) is refused, and the key is sent nowhere else (H18)',
  async (status) => {
    await using elsewhere = await startScripted(answer(200, good));
    await using client = await askScripted(answer(status, '', { location: `${elsewhere.url}/v1/warmup` }));
    for (const result of [await client.api.warmup('a'), await client.api.write('a', 'pause')]) {
      expect(result).toMatchObject({ ok: false, failure: { kind: 'refused', status } });
    }
    expect([client.server.received.length, elsewhere.received]).toEqual([2, []]);
  },
);

test('a refused connection is said in words', async () => {
  const url = `http://127.0.0.1:${await freePort()}`;
  await using client = clientOf(url);
  const detail = `GET /v1/health: ${url}: the connection was refused`;
  expect(await client.api.health()).toMatchObject({ failure: { kind: 'unavailable', detail } });
  expect(client.counted).toEqual([{ account: 'acme', route: 'health', code: 'unavailable' }]);
});

test('an answer that is not HTTP is a failure', async () => {
  const server = createServer((socket) => socket.on('error', () => {}).end('220 mail.example ESMTP\r\n'));
  await listen(server);
  await using client = clientOf(urlOf(server));
  expect(await client.api.warmup('a')).toMatchObject({ failure: { kind: 'unavailable', status: null } });
  server.close();
});

test('a body without end is cut off, also when it comes without a length (H17)', async () => {
  const chunk = 'x'.repeat(1024 * 1024);
  let sent = 0;
  const failure = await failureOf((response) => {
    response.writeHead(200);
    const more = () => {
      while (!response.destroyed && sent < 200) {
        sent += 1;
        if (!response.write(chunk)) return void response.once('drain', more);
      }
    };
    more();
  });
  expect(failure).toMatchObject({
    kind: 'malformed',
    detail: expect.stringContaining('larger than Warmwarden accepts'),
  });
  expect(sent).toBeLessThan(60);
});

test.each([
  ['seconds', { retry_after: 7 }, 7_000],
  ['a fraction, rounded up', { retry_after: 0.64251 }, 1_000],
  ['a decimal text', { error: 'slow down', retryAfter: '12.5' }, 12_500],
  ['milliseconds', { retry_after_ms: 4_200 }, 4_200],
  ['inside the error', { error: { code: 1, retry_after_seconds: 9 } }, 9_000],
  ['absurd, at most 15 minutes', { retry_after: 1e15 }, 900_000],
  ['in words', { error: 'try again in 17 seconds' }, null],
  ['no number', { retry_after: 'NaN' }, null],
])('Retry-After only in the body: %s (H11)', async (_name, body, retryAfterMs) => {
  expect(await failureOf(answer(429, body))).toMatchObject({ kind: 'throttled', retryAfterMs });
});

/** undici frees a connection a moment after it has handed over the answer. */
const becomeIdle = () => turn();

/** A server that cuts the second request on every connection, before a byte of an answer. */
async function startForgetful() {
  const seen = new Map<Socket, number>();
  const server = await startScripted((response, { socket }) => {
    seen.set(socket, (seen.get(socket) ?? 0) + 1);
    if (seen.get(socket) === 2) socket.resetAndDestroy();
    else response.writeHead(200).end(JSON.stringify(good));
  });
  return Object.assign(server, { sockets: seen });
}

test('a kept connection that is gone costs a GET one more try, a POST none (H19)', async () => {
  await using server = await startForgetful();
  await using client = clientOf(server.url, {}, systemClock());
  expect(await client.api.warmup('a')).toMatchObject({ ok: true });
  await becomeIdle();
  expect(await client.api.warmup('a')).toMatchObject({ ok: true });
  expect([server.received.length, server.sockets.size]).toEqual([3, 2]);
  expect(client.api.budget.nextStartAt(0)).toBeGreaterThan(0);
  await becomeIdle();
  expect(await client.api.write('a', 'pause')).toMatchObject({ ok: false, failure: { kind: 'unavailable' } });
  expect(server.received.map(({ method }) => method)).toEqual(['GET', 'GET', 'GET', 'POST']);
});

test('a fresh connection that is reset costs no second try', async () => {
  await using client = await askScripted((_response, request) => request.socket.resetAndDestroy());
  expect(await client.api.warmup('a')).toMatchObject({ ok: false, failure: { kind: 'unavailable' } });
  expect(client.server.received).toHaveLength(1);
});

test('a hundred requests in turn use one connection, and many at a time at most sixteen', async () => {
  const sockets = new Set<Socket>();
  await using client = await askScripted((response, { socket }) => {
    sockets.add(socket);
    response.writeHead(200).end(JSON.stringify(good));
  });
  for (let asked = 0; asked < 100; asked += 1) {
    await client.api.warmup('a');
    await becomeIdle();
  }
  expect(sockets.size).toBe(1);
  for (let wave = 0; wave < 20; wave += 1) await Promise.all(Array.from({ length: 24 }, () => client.api.warmup('a')));
  expect([sockets.size <= 16, client.server.received.length]).toEqual([true, 580]);
});

test('a connection that never comes about ends at its deadline (H14)', async () => {
  // It takes the connection and never speaks TLS.
  const server = createServer(() => {});
  await listen(server);
  await using client = clientOf(`https://127.0.0.1:${portOf(server)}`, {}, systemClock());
  const result = await client.api.warmup('a');
  expect(result.ok || result.failure.detail).toContain('no connection within 5 s');
  server.close();
});

test('a host name that is not known is said in words (H20)', async () => {
  await using client = clientOf('http://mailboxes.invalid');
  const result = await client.api.warmup('a');
  expect(result).toMatchObject({ ok: false, failure: { kind: 'unavailable', status: null } });
  expect(result.ok || result.failure.detail).toMatch(/the host name (is unknown|could not be looked up)/);
});

test.each([
  [204, ''],
  [200, ''],
  [200, '{}'],
  [202, '{"success":true}'],
])('a write that is answered with %i %j is a yes', async (status, body) => {
  await using client = await askScripted((response) => response.writeHead(status).end(body));
  expect(await client.api.write('a', 'pause')).toMatchObject({ ok: true });
  expect(JSON.parse(client.server.received[0]?.body ?? '')).toEqual({ mailbox_id: 'a', action: 'pause' });
});

test.each([
  [200, page, 'malformed'],
  [200, '{"success":false,"message":"no"}', 'refused'],
  [500, '{"error":"internal"}', 'unavailable'],
  [403, '{"error":"write permission"}', 'refused'],
])('a write that is answered with %i %s is %s', async (status, body, kind) => {
  await using client = await askScripted((response) => response.writeHead(status).end(body));
  expect(await client.api.write('a', { mode: 'recovery' })).toMatchObject({ ok: false, failure: { kind, status } });
  expect(JSON.parse(client.server.received[0]?.body ?? '')).toEqual({
    mailbox_id: 'a',
    action: 'update_config',
    config: { warmup_mode: 'recovery' },
  });
});

test('gzip is asked for, and the key goes to every route but health, as a Bearer key', async () => {
  await using client = await askScripted();
  await client.api.health();
  await client.api.mailboxes();
  const asked = client.server.received.map(({ headers }) => [headers['accept-encoding'], headers.authorization]);
  expect(asked).toEqual([
    ['gzip', undefined],
    ['gzip', `Bearer ${key}`],
  ]);
});

test('an answer with 60 KB of headers is read', async () => {
  const cookies = Array.from({ length: 15 }, (_, index) => `c${index}=${'x'.repeat(4_000)}`);
  await using client = await askScripted(answer(200, { mailboxes: [] }, { 'set-cookie': cookies }));
  expect(await client.api.mailboxes()).toMatchObject({ ok: true });
});

test.each(['...', '.a', '%2e', '%2e%2e', '%2E.', '../..', '..\\..', '?', '#', 'a/../b'])(
  'a mailbox whose id a URL could read as a path, %j, is in the list, and the requests for it name it',
  async (id) => {
    const mailboxes = [{ id, email: 'ann@one.example' }];
    await using client = await askScripted(answer(200, { mailboxes }));
    const list = { truncated: false, mailboxes: [{ id }] };
    expect(await client.api.mailboxes()).toMatchObject({ ok: true, value: { answer: list } });
    await client.api.mailbox(id);
    await client.api.stats(id);
    const [, detail = '', stats = ''] = client.server.received.map(({ path }) => path);
    expect(detail).toBe(`/v1/mailboxes/${encodeURIComponent(id)}`);
    expect(new URL(stats, client.server.url).searchParams.get('mailbox_id')).toBe(id);
  },
);

test('an unchanged body gives the answer before again; a changed body, and other days, are read', async () => {
  const counted = (today: object) =>
    answer(200, { stats: [{ date: '2026-03-09' }, { date: '2026-03-10', sent: 1, ...today }] });
  await using client = await askScripted(counted({}));
  const asked = async (days: number, known?: StatsAnswer) => {
    const said = await client.api.stats('m', days, known);
    return said.ok ? said.value.answer : expect.unreachable(said.failure.detail);
  };
  const first = await asked(30);
  expect(await asked(30, first)).toBe(first);
  expect(await asked(7, first)).not.toBe(first);
  const fields = ['sent', 'delivered', 'opened', 'replied', 'bounced', 'spam_landed'];
  for (const field of [...fields, 'inbox_rate', 'bounce_rate', 'health_score']) {
    client.server.script = counted({ [field]: 3 });
    const [yesterday, today] = (await asked(30, first)).rows ?? [];
    expect([yesterday === first.rows?.[0], Object.values(today ?? {}).includes(3)], field).toEqual([true, true]);
  }
});
