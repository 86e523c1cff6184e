// `undo` where the budget is small, and where the API can't show what was taken back.

import { expect, test } from 'vitest';
import { hourMs, minuteMs } from '../../src/core/time.ts';
import type { Scenario } from '../../tools/simulator/scenario.ts';
import { amelia, goOnDuty, jonas, stormOf } from '../account/duty.ts';
import { operateOnDuty } from '../operations/rooms.ts';
import { startMovedDaemon } from '../scenario/moved-daemon.ts';

const poll = { health: '0 * * * *', mailboxes: '*/30 * * * *', stats: '*/10 * * * *', warmup: '*/30 * * * *' };
const sinceMs = 12 * hourMs;

/** Twelve of one domain, all with the same trouble. */
function twelve(): Scenario {
  const storm = stormOf(amelia);
  const [spec] = storm.fleet;
  if (!spec) throw new Error('no mailbox');
  const fleet = Array.from({ length: 12 }, (_, index) => ({ ...spec, email: `box${index}@northbeam.example` }));
  const trouble = { from: 30 * minuteMs, until: 2 * hourMs };
  return { ...storm, fleet, incidents: [{ kind: 'bounce', mailbox: '*@northbeam.example', rate: 0.3, ...trouble }] };
}

test('it takes back more mailboxes than a minute of the budget has requests for', async () => {
  await using stage = await startMovedDaemon({ scenario: twelve(), poll });
  await stage.run(10 * minuteMs);
  const ours = () => [...stage.fleet().mailboxes()].filter(({ memory }) => memory?.claim);
  await stage.until('all acted upon', () => ours().length === 12, 8 * hourMs);
  await stage.reload((config) => {
    const { plan: _, ...account } = config.accounts[0] ?? {};
    config.accounts[0] = { ...account, requests_per_minute: 12 };
  });
  await stage.run(2 * minuteMs);
  const undone = await stage.command('undo', { since_seconds: sinceMs / 1_000 });
  expect(undone.messages.at(-1)).toBe('12 mailboxes restored.');
  expect(ours()).toEqual([]);
});

test('it ends where somebody took the change back already and nothing can be judged', async () => {
  await using duty = await goOnDuty({ scenario: stormOf(jonas) });
  await duty.until(() => duty.action(jonas)?.state === 'confirmed');
  duty.simulator.fleet.resume(jonas);
  duty.between.meddle = ({ path }) => (path.startsWith('/v1/stats') ? { status: 500, body: {} } : 'pass');
  await duty.restart();
  await duty.run(10 * minuteMs);
  let said: readonly string[] | null = null;
  const asked = { since_seconds: sinceMs / 1_000, by: 'a test', reason: 'to see it' };
  void operateOnDuty(duty)('undo', asked).then((outcome) => {
    said = outcome.messages;
  });
  await duty.run(10 * minuteMs);
  expect(said).toContain(`${jonas}: no change needed.`);
  expect(duty.posts()).toHaveLength(1);
});
