// What a verdict and an answer mean for the action on a mailbox: planned, confirmed, dropped, tried again.
import { describe, expect, test } from 'vitest';
import { isActive, isOurs, planAfter, showsChange } from '../../src/account/record/plan.ts';
import {
  type Action,
  type ActionState,
  actionAfter,
  type GuardActionKind,
  nextTryAfterUnconfirmed,
} from '../../src/core/action.ts';
import { judge } from '../../src/core/guard/judge.ts';
import { defaultPolicy } from '../../src/core/policy.ts';
import { hourMs, minuteMs } from '../../src/core/time.ts';
import type { Verdict } from '../../src/core/verdict.ts';
import { listedMailbox, now, situation, warmupAnswer as warmup, words } from '../guard/samples.ts';
import { actionOf } from '../store/records.ts';
import type { ActionChange } from '../support/action-with.ts';

const quiet = judge(defaultPolicy, situation());

function verdict(action: Verdict['action']): Verdict {
  return { ...quiet, action, wanted: action, reason: action === 'none' ? 'ok' : 'bounce_rate_over_limit' };
}

function action(state: ActionState, kind: GuardActionKind = 'recovery', change: ActionChange = {}): Action {
  const moments = { openedAt: now, settledAt: now };
  return actionOf('m1', { id: 'old', kind, verdict: verdict(kind), state, ...change }, moments);
}

function plan(wanted: Verdict['action'], current: Action | null, enforce = true) {
  const planning = { verdict: verdict(wanted), enforce, now, newId: () => 'new' };
  const changes = planAfter({ ...planning, mailbox: { ...listedMailbox(now), action: current } });
  return changes.map(({ id, kind, state }) => `${id} ${kind} ${state}`);
}

describe('a new verdict', () => {
  test('plans the action that it asks for, with the numbers it rests on and nothing sent', () => {
    expect(plan('recovery', null)).toEqual(['new recovery planned']);
    expect(plan('pause', null)).toEqual(['new pause planned']);
  });

  test('plans nothing for none and hold, nor where nothing may be written', () => {
    expect(plan('none', null)).toEqual([]);
    expect(plan('hold', null)).toEqual([]);
    expect(plan('pause', null, false)).toEqual([]);
  });

  test.each(['planned', 'refused', 'unconfirmed'] as const)('keeps a %s action of the same kind', (state) => {
    expect(plan('recovery', action(state))).toEqual([]);
  });

  test.each(['planned', 'refused', 'unconfirmed'] as const)('drops a %s action that it no longer asks for', (state) => {
    expect(plan('none', action(state))).toEqual(['old recovery dropped']);
    expect(plan('hold', action(state))).toEqual(['old recovery dropped']);
    expect(plan('pause', action(state))).toEqual(['old recovery dropped', 'new pause planned']);
    expect(plan('pause', action(state), false)).toEqual(['old recovery dropped']);
  });

  test.each(['none', 'hold', 'recovery', 'pause'] as const)(
    'changes nothing while a POST is under way: %s',
    (wanted) => {
      expect(plan(wanted, action('open'))).toEqual([]);
    },
  );

  test.each(['confirmed', 'dropped'] as const)('plans again beside an action that is %s', (state) => {
    expect(plan('recovery', action(state))).toEqual(['new recovery planned']);
    expect(plan('none', action(state))).toEqual([]);
  });

  test('a dropped action says why and is never tried again', () => {
    const waiting = action('unconfirmed', 'recovery', { nextTryAt: now + minuteMs });
    const gone = actionAfter(waiting, { kind: 'dropped', detail: 'no longer wanted: ok', at: now });
    expect(gone).toMatchObject({ state: 'dropped', settledAt: now, nextTryAt: null, detail: 'no longer wanted: ok' });
    expect(isActive(gone)).toBe(false);
  });
});

describe('a change is seen', () => {
  const shows = (kind: GuardActionKind, mode: string | null, status: string | null) =>
    showsChange(action('open', kind), warmup(mode, status), words);

  test('recovery: by the mode alone', () => {
    expect(shows('recovery', 'recovery', 'paused')).toBe(true);
    expect(shows('recovery', 'balanced', 'recovering')).toBe(false);
    expect(shows('recovery', 'Recovery', 'active')).toBe(false);
    expect(shows('recovery', null, 'active')).toBe(false);
  });

  test('pause: by a word for paused, or by a new word that is none for running', () => {
    expect(shows('pause', 'balanced', ' Paused ')).toBe(true);
    expect(shows('pause', 'balanced', 'hibernating')).toBe(true);
    expect(shows('pause', 'balanced', 'suspended')).toBe(true);
    expect(shows('pause', 'balanced', 'active')).toBe(false);
    expect(shows('pause', 'balanced', 'ACTIVE')).toBe(false);
    expect(shows('pause', 'balanced', null)).toBe(false);
  });

  test('pause: the same unknown word as before proves nothing', () => {
    const before = { mode: 'balanced', status: 'purring', run: 'running' as const };
    const open = action('open', 'pause', { before });
    expect(showsChange(open, warmup('balanced', 'purring'), words)).toBe(false);
    expect(showsChange(open, warmup('balanced', 'dozing'), words)).toBe(true);
  });

  test.each([
    ['purring', 'Purring'],
    ['purring', ' purring'],
    [null, 'purring'],
  ])('pause: %j is not changed by %j', (was, is) => {
    const before = { mode: 'balanced', status: was, run: 'running' as const };
    expect(showsChange(action('open', 'pause', { before }), warmup('balanced', is), words)).toBe(false);
  });
});

describe('a change is ours', () => {
  test('when a POST of ours was sent, and not when there was none', () => {
    expect(isOurs(null, now)).toBe(false);
    expect(isOurs(action('planned'), now)).toBe(false);
    expect(isOurs(action('open'), now)).toBe(true);
    expect(isOurs(action('unconfirmed'), now + 24 * hourMs)).toBe(true);
    expect(isOurs(action('refused'), now)).toBe(false);
    expect(isOurs(action('confirmed'), now)).toBe(false);
  });

  test('when it shows up within an hour after a POST that is no longer wanted', () => {
    expect(isOurs(action('dropped'), now + hourMs)).toBe(true);
    expect(isOurs(action('dropped'), now + hourMs + 1)).toBe(false);
    expect(isOurs(action('dropped', 'recovery', { attempts: 0, openedAt: null }), now)).toBe(false);
  });
});

test('an unconfirmed action is tried again after 1, 5, 15 and 60 minutes, then not any more', () => {
  const waits = [1, 2, 3, 4, 5, 6].map((attempts) => nextTryAfterUnconfirmed(attempts, now));
  expect(waits).toEqual([1, 5, 15, 60].map((minutes) => now + minutes * minuteMs).concat([null, null] as never[]));
});

describe("a person's change", () => {
  const by = { name: 'anna', reason: '' };

  test('is not dropped for what the guard wants while it is about to be sent', () => {
    for (const state of ['planned', 'open'] as const) {
      expect(plan('recovery', action(state, 'pause', { by }))).toEqual([]);
    }
  });

  test('that failed binds nobody: the guard acts as before, and nothing is sent again for the person', () => {
    const failed = actionAfter(action('open', 'pause', { by }), { kind: 'unconfirmed', detail: 'not seen', at: now });
    expect(failed).toMatchObject({ state: 'unconfirmed', nextTryAt: null });
    expect(plan('recovery', failed)).toEqual(['new recovery planned']);
  });

  test('a resume shows by a running word, or by a new word that does not mean paused', () => {
    const resume = {
      ...action('open', 'pause', { by }),
      kind: 'resume' as const,
      before: { mode: null, status: 'paused', run: 'paused' as const },
    };
    const shows = (status: string) => showsChange(resume, warmup('balanced', status), words);
    expect([shows('active'), shows('resuming'), shows('paused')]).toEqual([true, true, false]);
  });
});
