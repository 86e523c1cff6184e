// A first sweep of a fleet that is big for its plan: it has the budget, and what is news while it goes on is told at once.
import { expect, it } from 'vitest';
import { minuteMs } from '../../src/core/time.ts';
import type { Incident, MailboxSpec } from '../../tools/simulator/scenario.ts';
import { startMovedDaemon } from './moved-daemon.ts';
import { poll, settled } from './three-domains.ts';

/** Nine requests a minute, of which health and the list take two at most. */
const small = { plan: undefined, requests_per_minute: 10, headroom: '10%' };
const often = { ...poll, health: '* * * * *', mailboxes: '* * * * *' };
/** They send all of a day's emails between 8 and 9, half an hour of it after the daemon's start. */
const sendingNow = (count: number, from = 0): MailboxSpec[] =>
  Array.from({ length: count }, (_, number) => ({ ...settled(from + number), sendWindow: [8, 9] }));

it('a bounce wave over mailboxes that were judged already: recoveries and the hold are told while the sweep goes on', async () => {
  const wave = sendingNow(10);
  const calm = Array.from({ length: 150 }, (_, number) => settled(number + 10));
  const bounce = ({ email }: MailboxSpec): Incident => ({
    kind: 'bounce',
    mailbox: email,
    rate: 0.3,
    from: 4 * minuteMs,
    until: 14 * minuteMs,
  });
  await using stage = await startMovedDaemon({
    scenario: { name: 'wave', summary: 'Ten bounce at once.', fleet: [...wave, ...calm], incidents: wave.map(bounce) },
    poll: often,
    account: small,
    file: { guard: { breaker: { share: '3%' } } },
  });
  await stage.until('a hold', () => stage.breaker().openSince !== null, 40 * minuteMs);
  const { posts, notified, fleet } = stage;
  await stage.run(2 * minuteMs);
  expect(fleet().sweep('agency')).toBeDefined();
  expect([notified('guard_held'), notified('reputation_low')]).toEqual([['firing'], []]);
  expect(notified('guard_acted')).toHaveLength(posts.length);
  expect(posts.length).toBeGreaterThan(0);
});
