// A healthy fleet for a week with every rule on and routed: nothing is wrong with it, so no message is sent, through a restart too.
import { expect, test } from 'vitest';
import { dayMs } from '../../src/core/time.ts';
import { scenarios } from '../../tools/simulator/scenarios.ts';
import { startMovedDaemon } from './moved-daemon.ts';

/** The usual cadence, but for health and list, which come every minute and say the same. */
const poll = { health: '0 * * * *', mailboxes: '*/30 * * * *' };
/** They tell of bounces by chance, and of nothing else in a fleet that is well; no message is made of them without a route. */
const info = ['bounce_near_limit', 'bounce_over_limit'];

test('a week of a healthy fleet brings no message, and hardly a request more', async () => {
  // All modes and providers, on four domains.
  const fleet = scenarios.calm.fleet.slice(4);
  const include = fleet.map(({ email }) => email);
  await using stage = await startMovedDaemon({
    scenario: { ...scenarios.calm, fleet },
    poll,
    isInfoTold: true,
    account: { mailboxes: { include } },
  });
  let fresh = 0;
  let since = stage.clock.now();
  for (let day = 0; day < 7; day += 1) {
    if (day === 4) await stage.restart();
    for (let hour = 0; hour < 24; hour += 1) {
      await stage.run(dayMs / 24);
      fresh += stage.simulator.requests.filter(({ at, path }) => at > since && path.includes('refresh=true')).length;
      since = stage.clock.now();
    }
  }
  const notified = stage.receiver.alerts().filter(({ rule, severity }) => severity !== 'info' || !info.includes(rule));
  expect(notified.map(({ rule, title }) => [rule, title])).toEqual([]);
  expect([...stage.fleet().alerts()].filter(({ rule }) => !info.includes(rule)).map(({ rule }) => rule)).toEqual([]);
  expect([fresh, stage.posts]).toEqual([0, []]);
});
