// A late POST undoes a person's change, which is sent again: what of the guard's own gives way to that comes back if it fails.
import { expect, test } from 'vitest';
import { latePostIn } from '../../src/account/record/late-posts.ts';
import { withDisplaced } from '../../src/account/record/persons.ts';
import type { FailedAction, OpenAction } from '../../src/core/action.ts';
import { firstSight } from '../../src/core/guard/memory.ts';
import { defaultPolicy } from '../../src/core/policy.ts';
import { breach, judged, sampleAction, start } from '../alerts/samples.ts';

const by = { name: 'root', reason: 'to see it' };

test('the repeated change carries the failed action of the guard, and leaves it when it fails', () => {
  const post = sampleAction({ id: 'p', state: 'open', openedAt: start - 9_000, settledAt: null }) as OpenAction;
  const newer = sampleAction({ id: 'n', kind: 'mode', by, targetMode: 'slow', openedAt: start - 5_000 });
  const own = sampleAction({ id: 'g', kind: 'pause', targetMode: null, state: 'refused', nextTryAt: start + 9_000 });
  const config = { targetDailyLimit: 40, replyRate: null, threadRate: null, weekdaysOnly: null };
  const answer = { status: 'active', dailyLimit: 40, warmupDay: 9, healthScore: null, recentBounces: [] };
  const window = { sendWindowStart: null, sendWindowEnd: null };
  const warmup = (mode: string) => ({ at: start, answer: { ...answer, mode, config: { ...config, ...window } } });
  const memory = firstSight(defaultPolicy, { mode: 'slow', run: 'running', rows: null, now: start });
  const before = {
    ...judged(breach),
    warmup: warmup('slow'),
    memory: { ...memory, unseenPosts: [{ action: post, at: start - 6_000 }] },
    action: own,
  };
  const words = { paused: ['paused'], running: ['active'], notRunning: [] };
  const late = latePostIn(
    before,
    { route: 'warmup', observed: warmup('recovery') },
    { policy: defaultPolicy, words, now: start, newId: () => 'r', actionsOf: () => [own, newer, post] },
  );
  expect(late?.actions.map(({ id, state }) => [id, state])).toEqual([
    ['g', 'dropped'],
    ['r', 'planned'],
  ]);
  const repeat = late?.repeat;
  if (!repeat) throw new Error('nothing repeated');
  const failed: FailedAction = { ...repeat, state: 'refused', openedAt: start, settledAt: start };
  const world = { clock: { now: () => start + 1_000 }, random: () => 0 };
  const left = withDisplaced(failed, world as unknown as Parameters<typeof withDisplaced>[1]);
  expect(left.map(({ kind, state, nextTryAt }) => [kind, state, nextTryAt])).toEqual([
    ['mode', 'refused', null],
    ['pause', 'refused', start + 9_000],
  ]);
});
