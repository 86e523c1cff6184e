// A daemon guards `simulator --habits`: what the service does at night, refuses, limits and leaves out switches no guard off.
import { expect, it } from 'vitest';
import { dayMs, hourMs, minuteMs } from '../../src/core/time.ts';
import { habitsOf } from '../../tools/simulator/habits.ts';
import type { Scenario } from '../../tools/simulator/scenario.ts';
import { startMovedDaemon } from '../scenario/moved-daemon.ts';
import { poll as seldom, settled } from '../scenario/three-domains.ts';

const fleet = Array.from({ length: 12 }, (_, number) => settled(number));
const [atNight = '', byDay = '', shared = ''] = [fleet[0], fleet[4], fleet[11]].map((spec) => spec?.email ?? '');
const scenario: Scenario = {
  name: 'jump',
  summary: 'Three mailboxes bounce for days: one is paused at night, one is not, and one belongs to another workspace.',
  fleet,
  incidents: [atNight, byDay, shared].map((mailbox) => ({
    ...({ kind: 'bounce', mailbox, rate: 0.03 } as const),
    ...{ from: hourMs, until: 10 * dayMs },
  })),
};

/** What bounces bring with them. */
const ofTheBounces = ['guard_action_failed', 'bounce_near_limit', 'bounce_burst', 'reputation_low'];

it('guards the fleet through nights and a weekend', async () => {
  const poll = { ...seldom, stats: '5 */3 * * *', warmup: '35 */3 * * *' };
  await using stage = await startMovedDaemon({ scenario, poll, habits: habitsOf(fleet) });
  await stage.run(6 * dayMs);
  // A pause at night hides no bounces, and two keys of one workspace make one change.
  expect(stage.posts.map(({ email, change }) => [email, change]).sort()).toEqual([
    [atNight, 'recovery'],
    [byDay, 'recovery'],
  ]);
  const accounts = ['agency', 'second'].map((name) => stage.fleet().account(name));
  expect(accounts.map((account) => account?.guardedElsewhere?.length)).toEqual([0, fleet.length]);
  // The refusal is the shared mailbox's own; nothing else is wrong, also on Monday morning.
  const rules = new Map(Map.groupBy(stage.fleet().alerts(), ({ rule }) => rule));
  const refused = rules.get('guard_action_failed') ?? [];
  expect(refused.map(({ mailboxId }) => mailboxId)).toEqual([stage.mailbox(shared).id]);
  expect([...rules.keys()].filter((rule) => !ofTheBounces.includes(rule))).toEqual([]);
  const told = new Set(stage.receiver.alerts().map(({ rule }) => rule));
  expect(['guard_blind', 'stale_data', 'budget_too_small', 'not_guarded'].filter((rule) => told.has(rule))).toEqual([]);
  // Each mailbox was judged within the last three hours, although 30 days were refused and the weekend is left out.
  const judgedAt = fleet.map(({ email }) => stage.mailbox(email).verdict?.at ?? 0);
  expect(stage.clock.now() - Math.min(...judgedAt)).toBeLessThan(3 * hourMs + minuteMs);
});
