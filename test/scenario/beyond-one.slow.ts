// Beyond one mailbox: a domain whose mailboxes bounce together, and an account that bounces everywhere. Alerts, no actions.
import { expect, it } from 'vitest';
import { hourMs } from '../../src/core/time.ts';
import type { Incident, MailboxSpec } from '../../tools/simulator/scenario.ts';
import { startMovedDaemon } from './moved-daemon.ts';
import { poll } from './three-domains.ts';

const mailboxOf = (domain: string, number: number, mode: MailboxSpec['mode']): MailboxSpec => ({
  email: `m${number}@${domain}`,
  provider: 'google',
  mode,
  startedDaysAgo: 60,
});
const together: Incident = { kind: 'bounce', mailbox: '*@acme.example', rate: 0.06, from: hourMs, until: 3.2 * hourMs };

it('a domain over its limits is announced once, through a restart, while none of its mailboxes is; it ends by itself', async () => {
  const acme = [1, 2, 3, 4, 5].map((number) => mailboxOf('acme.example', number, 'aggressive'));
  const calm = [1, 2, 3].map((number) => mailboxOf('calm.example', number, 'aggressive'));
  const scenario = { name: 'together', summary: 'A domain bounces.', fleet: [...acme, ...calm], incidents: [together] };
  await using stage = await startMovedDaemon({ scenario, poll });
  const notified = () => stage.told('shared_bounces');
  await stage.until('the domain to be told', () => notified().length > 0, 5 * hourMs);
  expect(notified()).toMatchObject([
    { status: 'firing', severity: 'warning', account: 'agency', object: 'acme.example' },
  ]);
  expect(notified()[0]?.sentences[0]).toMatch(
    /^\d+ bounces in \d+ emails of 5 mailboxes since 10 March; their bounce limits allow [\d.]+\.$/,
  );
  expect(notified()[0]?.sentences[1]).toMatch(/^Most bounces in that time: m\d@acme\.example \(\d of \d+\), .* and /);
  expect(notified()[0]?.sentences.join(' ')).toContain('None of these counts is older than 15 min.');

  await stage.restart();
  await stage.run(hourMs);
  expect(stage.notified('shared_bounces')).toEqual(['firing']);
  await stage.until('its end', () => notified().length > 1, 12 * hourMs);
  expect(stage.notified('shared_bounces')).toEqual(['firing', 'resolved']);
  for (const rule of ['guard_acted', 'bounce_burst', 'shared_bounces']) expect(stage.notified(rule)).toEqual([]);
  expect(stage.posts).toEqual([]);
});
