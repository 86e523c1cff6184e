// Every route of the client against the simulator, over HTTP.
import { expect, test } from 'vitest';
import type { Result } from '../../src/api/http/failure.ts';
import type { Observed } from '../../src/core/answers.ts';
import { demoKey } from '../../tools/simulator/keys.ts';
import { scenarioStart } from '../../tools/simulator/scenarios.ts';
import { ann, hourMs, scenarioOf, serve } from '../simulator/served.ts';
import { answer, askScripted, clientOf } from './scripted-server.ts';

const incidents = [
  { kind: 'dns', mailbox: ann.email, records: ['dkim'], from: 0, until: hourMs },
  { kind: 'listing', mailbox: ann.email, lists: ['zen.example', 'bl.example'], from: 0, until: hourMs },
  { kind: 'disconnect', mailbox: ann.email, error: 'IMAP login failed', from: 0, until: hourMs },
] as const;

async function setting() {
  const served = await serve({ scenario: scenarioOf([ann], incidents) });
  // Measurements are an hour old at most: one hour into the incidents they show.
  await served.clock.advance(hourMs - 1_000);
  const asked = clientOf(served.simulator.url, { apiKey: demoKey }, served.clock);
  const id = served.idOf(ann.email);
  const end = async () => {
    await asked.api.close();
    await served.simulator.close();
  };
  return { ...served, ...asked, id, [Symbol.asyncDispose]: end };
}

async function good<Answer>(asked: Promise<Result<Observed<Answer>>>): Promise<Answer> {
  const result = await asked;
  if (!result.ok) throw new Error(result.failure.detail);
  expect(result.value.at).toBeGreaterThanOrEqual(scenarioStart);
  return result.value.answer;
}

test('the list, the detail and the warm-up are read', async () => {
  await using it = await setting();
  const list = await good(it.api.mailboxes());
  expect(list).toMatchObject({ truncated: false, mailboxes: [{ id: it.id, email: ann.email, provider: 'google' }] });
  expect(list.mailboxes[0]).toMatchObject({ healthScore: expect.any(Number), dailyLimit: 40 });
  const detail = await good(it.api.mailbox(it.id));
  expect(detail).toMatchObject({ connection: 'error', connectionError: 'IMAP login failed', status: 'disconnected' });
  expect(await good(it.api.warmup(it.id))).toMatchObject({
    status: 'active',
    mode: 'balanced',
    config: { targetDailyLimit: 40, weekdaysOnly: true, sendWindowStart: 9, sendWindowEnd: 17 },
  });
});

test('statistics of as many days as the policies look back are asked for and read', async () => {
  await using it = await setting();
  const { rows } = await good(it.api.stats(it.id));
  expect(rows).toHaveLength(30);
  expect(rows?.at(-1)).toMatchObject({ date: '2026-03-10', bounced: 0 });
  expect(rows?.at(-2)).toMatchObject({ date: '2026-03-09', sent: 40, bounceRatePercent: expect.any(Number) });
  expect(it.simulator.requests.at(-1)?.path).toBe(`/v1/stats?mailbox_id=${it.id}&days=30`);
});

test('records and listings are read', async () => {
  await using it = await setting();
  const dns = await good(it.api.dns(it.id));
  expect([dns.domain, dns.records.spf.pass, dns.records.dkim.pass]).toEqual(['one.example', true, false]);
  expect(await good(it.api.blacklist(it.id))).toMatchObject({
    listed: true,
    found: 2,
    lists: ['zen.example', 'bl.example'],
    checked: 24,
  });
});

test.each(['...', '.a', '%2e', '%2e%2e', '%2E.', '../..', '..\\..', '?', '#', 'a/../b'])(
  'a mailbox whose id a URL could read as a path, %j, is in the list, and the requests for it name it',
  async (id) => {
    await using it = await askScripted(answer(200, { mailboxes: [{ id, email: ann.email }] }));
    expect(await good(it.api.mailboxes())).toMatchObject({ truncated: false, mailboxes: [{ id }] });
    await it.api.mailbox(id);
    await it.api.stats(id);
    const [, detail = '', stats = ''] = it.server.received.map(({ path }) => path);
    expect(detail).toBe(`/v1/mailboxes/${encodeURIComponent(id)}`);
    expect(new URL(stats, it.server.url).searchParams.get('mailbox_id')).toBe(id);
  },
);
