// The memory keeps the modes that a mailbox had, so that each of its days can be held against its own limit.
import { expect, test } from 'vitest';
import {
  afterConfirmed,
  afterOperatorChange,
  afterSight,
  firstSight,
  type Sight,
} from '../../src/core/guard/memory.ts';
import { defaultPolicy } from '../../src/core/policy.ts';
import { addDays, dayMs, utcDate } from '../../src/core/time.ts';
import { daysUpTo, now, times, today } from './samples.ts';

function sightOf(mode: string | null, day: number): Sight {
  const at = now + day * dayMs;
  return { mode, run: 'running', rows: daysUpTo(utcDate(at), ...times(7, 40)), now: at };
}

const first = firstSight(defaultPolicy, sightOf('slow', 0));

test('a mode that stays, or that cannot be read, leaves nothing behind', () => {
  const same = afterSight(defaultPolicy, first, sightOf('slow', 1));
  const unread = afterSight(defaultPolicy, same, sightOf('turbo', 2));
  expect([first.earlierModes, same.earlierModes, unread.earlierModes]).toEqual([undefined, undefined, undefined]);
});

test('others, the guard and a person change it: each mode before is kept with its last day, the newest first', () => {
  const raised = afterSight(defaultPolicy, first, sightOf('aggressive', 2));
  const done = { actionId: 'a1', previousMode: 'aggressive', word: 'active' };
  const recovered = afterConfirmed(raised, { ...done, kind: 'recovery' }, sightOf('recovery', 5));
  const back = afterOperatorChange(defaultPolicy, recovered, { ...done, kind: 'mode' }, sightOf('balanced', 5));
  expect(back).toMatchObject({
    mode: 'balanced',
    earlierModes: [
      { mode: 'recovery', until: addDays(today, 5) },
      { mode: 'aggressive', until: addDays(today, 5) },
      { mode: 'slow', until: addDays(today, 2) },
    ],
  });
  expect(afterSight(defaultPolicy, back, sightOf('balanced', 6)).earlierModes).toBe(back.earlierModes);
});

test('what no statistics reach any more is forgotten', () => {
  const raised = afterSight(defaultPolicy, first, sightOf('aggressive', 2));
  const later = afterSight(defaultPolicy, raised, sightOf('balanced', 93));
  expect(later.earlierModes).toEqual([{ mode: 'aggressive', until: addDays(today, 93) }]);
});
