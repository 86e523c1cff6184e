// The order of the fleet: what a person silenced does not raise its mailbox.
import { expect, test } from 'vitest';
import { Fleet } from '../../src/core/fleet/fleet.ts';
import { defaultPolicy } from '../../src/core/policy.ts';
import { rankedOf, worstFirst } from '../../src/web/overview/fleet.ts';
import { alert, mailbox, now, verdict } from './example-fleet.ts';
import { stillWorld } from './running-server.ts';

const held = verdict({ action: 'hold', reason: 'circuit_breaker', wanted: 'pause', bounced: 9 });

test('an alert that a person silenced does not raise its mailbox, until the silence ends', async () => {
  const fleet = new Fleet();
  fleet.putMailbox(mailbox('m1', 'silenced@one.example'));
  fleet.putMailbox({ ...mailbox('m2', 'held@one.example'), verdict: { at: now, answer: held } });
  fleet.putAlert(alert({ rule: 'mailbox_unwell', mailboxId: 'm1', severity: 'critical', status: 'firing' }));
  const world = stillWorld();
  const ranked = () => rankedOf({ fleet, world, policyOf: () => defaultPolicy });
  const order = () =>
    ranked()
      .toSorted(worstFirst)
      .map((one) => one.mailbox.id);
  expect(order()).toEqual(['m1', 'm2']);
  const match = { rule: ['mailbox_unwell'] };
  fleet.putSilence({ id: 's1', match, by: 'ann', reason: 'known', from: now, until: now + 1_000 });
  expect(order()).toEqual(['m2', 'm1']);
  await world.clock.advance(1_000);
  fleet.putMailbox(mailbox('m3', 'other@one.example'));
  expect(order()).toEqual(['m1', 'm2', 'm3']);
});
