// Two mailboxes of one address are told apart by their ids: in messages, in status and where a name is ambiguous.
import { expect, it } from 'vitest';
import { statusLines } from '../../src/cli/status.ts';
import { hourMs, minuteMs } from '../../src/core/time.ts';
import { scenarioStart, scenarios } from '../../tools/simulator/scenarios.ts';
import { startMovedDaemon } from '../scenario/moved-daemon.ts';
import { OtherApi, week } from '../support/other-api.ts';

const poll = { mailboxes: '* * * * *', stats: '*/5 * * * *', warmup: '*/5 * * * *', mailbox: '*/10 * * * *' };

it('two mailboxes of one address are told apart, and the page shows what the API says of each', async () => {
  await using api = await OtherApi.start();
  let now = () => scenarioStart;
  api.now = () => now();
  const [one, two] = ['m1', 'm2'].map((id) => api.add('sales@acme.example', { id }));
  const account = {
    name: 'acme',
    base_url: api.url,
    api_key: api.addKey(),
    requests_per_minute: 6_000,
    headroom: '0%',
  };
  const scenario = { ...scenarios.calm, fleet: [] };
  await using stage = await startMovedDaemon({ scenario, poll, file: { accounts: [account] } });
  now = () => stage.clock.now();
  await stage.run(20 * minuteMs);
  if (one) one.days = week(40, 6);
  if (two) two.connectionError = 'the login failed';
  await stage.run(hourMs);
  const titles = new Set(stage.receiver.alerts().map(({ title }) => title));
  expect(titles).toContain('sales@acme.example (m1): switched to recovery mode');
  expect(titles).toContain('sales@acme.example (m2): disconnected');
  const fleet = await (await fetch(`${stage.url()}/api/fleet`)).json();
  const shown = statusLines(fleet as Parameters<typeof statusLines>[0], 99).join('\n');
  expect(shown).toContain('sales@acme.example (m1)');
  expect(shown).toContain('sales@acme.example (m2)');
  const ambiguous = await stage.command('pause', { mailbox: 'sales@acme.example' });
  expect(ambiguous?.messages[0]).toBe('sales@acme.example is ambiguous: name one of acme/m1, acme/m2.');
  const page = await stage.text('/mailboxes/acme/m2');
  const fact = (name: string) => new RegExp(`<dt>${name}</dt><dd>([^<]*)`).exec(page)?.[1]?.trim();
  expect(['Created', 'Warm-up started', 'Reply rate', 'DNS source', 'API version'].map(fact)).toEqual([
    '2026-01-05',
    '2026-01-05',
    '30 %',
    'cached',
    '1.4.2',
  ]);
});
