// Answers as gateways and balancers shape them: large heads, a 503 that says for how long.
import { expect, test } from 'vitest';
import { minuteMs, secondMs } from '../../src/core/time.ts';
import { goOnDuty } from '../account/duty.ts';
import { answer, clientOf, startScripted } from '../api/scripted-server.ts';
import { type Fault, OtherApi } from '../support/other-api.ts';

test('an answer with 60 KB of headers is read', async () => {
  const cookies = Array.from({ length: 15 }, (_, index) => `c${index}=${'x'.repeat(4_000)}`);
  await using server = await startScripted(answer(200, { mailboxes: [] }, { 'set-cookie': cookies }));
  await using client = clientOf(server.url);
  expect(await client.api.mailboxes()).toMatchObject({ ok: true });
});

const maintenance = (seconds: number): Fault => ({
  kind: 'answer',
  status: 503,
  body: JSON.stringify({ error: 'maintenance' }),
  headers: { 'retry-after': String(seconds) },
});

test('503 with Retry-After: nothing is asked for that long, and everything goes on afterwards', async () => {
  await using api = await OtherApi.start();
  api.add('a@a.example');
  await using duty = await goOnDuty({ other: api });
  await duty.run(10 * minuteMs);
  let left = 0;
  api.fault = () => (api.now() < left ? maintenance(Math.ceil((left - api.now()) / secondMs)) : undefined);
  left = api.now() + 10 * minuteMs;
  const from = api.log.length;
  await duty.run(10 * minuteMs);
  // One is no pattern: the second in a row is obeyed by the whole account.
  expect(api.log.slice(from).length).toBeLessThanOrEqual(3);
  await duty.run(20 * minuteMs);
  expect(
    api.log.slice(from).filter(({ path, status }) => path === '/v1/stats' && status === 200).length,
  ).toBeGreaterThan(0);
});
