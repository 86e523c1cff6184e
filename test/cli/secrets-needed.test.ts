// A command asks only for the secrets that it uses: it is tried out before all of them are there.
import { writeFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startReceiver } from '../outbox/receiver.ts';
import { commandLine } from '../support/command-line.ts';
import { Workplace } from '../support/process.ts';

const place = new Workplace();
let receiver: Awaited<ReturnType<typeof startReceiver>>;

beforeAll(async () => {
  receiver = await startReceiver();
  place.configure({
    accounts: [{ name: 'acme', base_url: 'http://127.0.0.1:9', api_key: '$' + '{NO_KEY}', nonsense: 1 }],
    guard: { limits: { slow: '10%' } },
    alerts: {
      channels: [{ name: 'ops', type: 'slack', url: receiver.url }],
    },
  });
  writeFileSync(place.path('stats.json'), '{"stats": [{"date": "2026-01-01", "sent": 10, "bounced": 1}]}');
});
afterAll(async () => {
  await receiver[Symbol.asyncDispose]();
  place[Symbol.dispose]();
});

const withConfig = (...argv: readonly string[]) => commandLine([...argv, '--config', place.path('config.yaml')]);

test('channels test needs no keys of accounts', async () => {
  expect(await withConfig('channels', 'test', 'ops')).toMatchObject({ code: 0, stderr: '' });
});

test('an unknown channel is answered with the names of those that are there', async () => {
  const { code, stderr } = await withConfig('channels', 'test', 'nobody');
  expect([code, stderr]).toEqual([2, 'No channel is called nobody; configured: ops.\n']);
});

test('backtest needs the keys of accounts, decide no secret', async () => {
  expect((await withConfig('backtest')).stderr).toContain('NO_KEY');
  const decided = await withConfig('decide', '--mode', 'slow', '--stats', place.path('stats.json'));
  expect(JSON.parse(decided.stdout)).toMatchObject({ limit_percent: 10 });
});
