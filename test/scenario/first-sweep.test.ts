// A first sweep of a fleet that is big for its plan: it has the budget, and ends when it says.
import { expect, it } from 'vitest';
import { hourMs, minuteMs } from '../../src/model/time.ts';
import type { MailboxSpec } from '../../src/simulator/scenario.ts';
import { startMovedDaemon } from './moved-daemon.ts';
import { poll, settled } from './three-domains.ts';

/** Nine requests a minute, of which health and the list take two at most. */
const small = { plan: undefined, requests_per_minute: 10, headroom: '10%' };
const often = { ...poll, health: '* * * * *', mailboxes: '* * * * *' };
/** They send all of a day's mails between 8 and 9, half an hour of it after the daemon's start. */
const sendingNow = (count: number, from = 0): MailboxSpec[] =>
  Array.from({ length: count }, (_, number) => ({ ...settled(from + number), sendWindow: [8, 9] }));

it('scores that fall all over the fleet do not slow the first sweep: it has the budget', async () => {
  const fleet = sendingNow(60);
  await using stage = await startMovedDaemon({
    scenario: {
      name: 'falling',
      summary: 'Every mailbox bounces a lot from the start.',
      fleet,
      incidents: [{ kind: 'bounce', mailbox: '*', rate: 0.5, from: 0 }],
    },
    poll: { ...often, stats_interval_min: '60s' },
    account: small,
    file: { guard: { min_bounces: 100, emergency: { min_bounces: 100 } } },
  });
  const known = () => [...stage.fleet().mailboxes()];
  const start = stage.clock.now();
  const judged = () => known().length === fleet.length && known().every(({ stats, warmup }) => stats && warmup);
  await stage.until('every mailbox was read', judged, hourMs);
  // 120 requests: seven of the nine in a minute are left for them, and of these one in eight goes to scores that fell.
  expect(stage.clock.now() - start).toBeLessThan(21 * minuteMs);
});
