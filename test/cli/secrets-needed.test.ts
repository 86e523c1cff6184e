// A command asks only for the secrets that it uses: it is tried out before all of them are there.
import { writeFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startReceiver } from '../outbox/receiver.ts';
import { commandLine } from '../support/command-line.ts';
import { Workplace } from '../support/process.ts';

const place = new Workplace();
let receiver: Awaited<ReturnType<typeof startReceiver>>;

beforeAll(async () => {
  receiver = await startReceiver(() => 0);
  place.configure({
    accounts: [{ name: 'acme', base_url: 'http://127.0.0.1:9', api_key: '$' + '{NO_KEY}', nonsense: 1 }],
    guard: { limits: { slow: '10%' } },
    alerts: {
      channels: [
        { name: 'hook', type: 'webhook', url: '$' + '{NO_URL}', secret_file: 'no-such-file' },
        { name: 'ops', type: 'slack', url: receiver.url },
        { name: 'bare', type: 'slack' },
      ],
    },
  });
  writeFileSync(place.path('stats.json'), '{"stats": [{"date": "2026-01-01", "sent": 10, "bounced": 1}]}');
});
afterAll(async () => {
  await receiver[Symbol.asyncDispose]();
  place[Symbol.dispose]();
});

const withConfig = (...argv: readonly string[]) => commandLine([...argv, '--config', place.path('config.yaml')]);

test('channels test needs neither the keys of accounts nor those of other channels', async () => {
  expect(await withConfig('channels', 'test', 'ops')).toMatchObject({ code: 0, stderr: '' });
});

test('channels test names what its own channel lacks, and where, and nothing else', async () => {
  const { code, stderr } = await withConfig('channels', 'test', 'hook');
  expect(code).toBe(2);
  expect(stderr.replaceAll(place.folder, '').trim().split('\n')).toEqual([
    expect.stringMatching(/^\/config\.yaml:\d+:\d+ alerts\.channels\[0\]\.url: .* variable NO_URL is not set$/),
    expect.stringMatching(/^\/config\.yaml:\d+:\d+ alerts\.channels\[0\]\.secret_file: .* does not exist$/),
  ]);
  const bare = await withConfig('channels', 'test', 'bare');
  expect(bare.stderr).toMatch(/^\S+ alerts\.channels\[2\]\.url: is missing: write url or url_file\n$/);
});

test('an unknown channel is answered with the names of those that are there', async () => {
  const { code, stderr } = await withConfig('channels', 'test', 'nobody');
  expect([code, stderr]).toEqual([2, 'No channel is called nobody; configured: hook, ops, bare.\n']);
});

test('backtest needs no secret of a channel, decide none at all', async () => {
  const backtest = await withConfig('backtest');
  expect(backtest.stderr).toContain('NO_KEY');
  expect(backtest.stderr).not.toMatch(/NO_URL|no-such-file/);
  const decided = await withConfig('decide', '--mode', 'slow', '--stats', place.path('stats.json'));
  expect(JSON.parse(decided.stdout)).toMatchObject({ limit_percent: 10 });
});
