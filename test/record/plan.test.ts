// What a verdict and an answer mean for the action on a mailbox: planned, confirmed, dropped, tried again.
import { describe, expect, test } from 'vitest';
import { isActive, isOurs, planAfter, showsChange } from '../../src/account/record/plan.ts';
import { type Action, type ActionState, actionAfter, type GuardActionKind } from '../../src/core/action.ts';
import { judge } from '../../src/core/guard/judge.ts';
import { defaultPolicy } from '../../src/core/policy.ts';
import { hourMs } from '../../src/core/time.ts';
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

function plan(wanted: Verdict['action'], current: Action | null, mayAct = true) {
  const planning = { verdict: verdict(wanted), mayAct, now, newId: () => 'new' };
  const changes = planAfter({ ...planning, mailbox: { ...listedMailbox(now), action: current } });
  return changes.map(({ id, kind, state }) => `${id} ${kind} ${state}`);
}

const waiting = ['planned', 'refused', 'unconfirmed'] as const;
const over = ['confirmed', 'dropped'] as const;

test.each<{ wanted: Verdict['action']; beside: readonly (ActionState | null)[]; becomes: readonly string[] }>([
  { wanted: 'recovery', beside: [null, ...over], becomes: ['new recovery planned'] },
  { wanted: 'recovery', beside: ['open', ...waiting], becomes: [] },
  { wanted: 'pause', beside: [null], becomes: ['new pause planned'] },
  { wanted: 'pause', beside: waiting, becomes: ['old recovery dropped', 'new pause planned'] },
  { wanted: 'pause', beside: ['open'], becomes: [] },
  { wanted: 'none', beside: [null, 'open', ...over], becomes: [] },
  { wanted: 'none', beside: waiting, becomes: ['old recovery dropped'] },
  { wanted: 'hold', beside: [null, 'open'], becomes: [] },
  { wanted: 'hold', beside: waiting, becomes: ['old recovery dropped'] },
])('a verdict that wants $wanted, beside a recovery that is $beside: $becomes', ({ wanted, beside, becomes }) => {
  for (const state of beside) expect([state, plan(wanted, state && action(state))]).toEqual([state, becomes]);
});

test('a failed change of a person is not active, and the type of what is not active includes it', () => {
  const failed = action('refused', 'recovery', { by: { name: 'ann', reason: 'a bad list' } });
  const stateUnlessActive = (one: Action) => (isActive(one) ? null : one.state);
  const refused: ReturnType<typeof stateUnlessActive> = 'refused';
  expect(stateUnlessActive(failed)).toBe(refused);
});

test('where nothing may be written, nothing is planned, and what is no longer wanted is dropped', () => {
  expect(plan('pause', null, false)).toEqual([]);
  for (const state of waiting) expect(plan('pause', action(state), false)).toEqual(['old recovery dropped']);
});

test.each<[kind: GuardActionKind, was: string | null, mode: string | null, status: string | null, shows: boolean]>([
  // By the mode alone.
  ['recovery', 'active', 'recovery', 'paused', true],
  ['recovery', 'active', 'balanced', 'recovering', false],
  ['recovery', 'active', 'Recovery', 'active', false],
  ['recovery', 'active', null, 'active', false],
  // By a word for paused, or by a new word that is none for running.
  ['pause', 'active', 'balanced', ' Paused ', true],
  ['pause', 'active', 'balanced', 'hibernating', true],
  ['pause', 'active', 'balanced', 'suspended', true],
  ['pause', 'active', 'balanced', 'active', false],
  ['pause', 'active', 'balanced', 'ACTIVE', false],
  ['pause', 'active', 'balanced', null, false],
  // The same unknown word as before proves nothing.
  ['pause', 'purring', 'balanced', 'purring', false],
  ['pause', 'purring', 'balanced', 'Purring', false],
  ['pause', 'purring', 'balanced', ' purring', false],
  ['pause', 'purring', 'balanced', 'dozing', true],
  ['pause', null, 'balanced', 'purring', false],
])('a change to %s, sent at the word %j, is seen in mode %j and the word %j: %j', (kind, was, mode, status, shows) => {
  const before = { mode: 'balanced', status: was, run: 'running' as const };
  expect(showsChange(action('open', kind, { before }), warmup(mode, status), words)).toBe(shows);
});

test.each<[what: string, Action, after: number, ours: boolean]>([
  ['it is planned', action('planned'), 0, false],
  ['it is open', action('open'), 0, true],
  ['it is unconfirmed', action('unconfirmed'), 24 * hourMs, true],
  ['it was refused', action('refused'), 0, false],
  ['it was confirmed', action('confirmed'), 0, false],
  ['it was dropped an hour ago', action('dropped'), hourMs, true],
  ['it was dropped longer ago', action('dropped'), hourMs + 1, false],
  ['it was dropped unsent', action('dropped', 'recovery', { attempts: 0, openedAt: null }), 0, false],
])('whether a change is ours when of our action %s', (_, ours, after, expected) => {
  expect(isOurs(ours, now + after)).toBe(expected);
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
