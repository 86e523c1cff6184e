// Which limits that were set through Warmwarden can be taken back, and to what.
import { expect, test } from 'vitest';
import { isEffectOf } from '../../src/account/record/plan.ts';
import type { Action } from '../../src/core/action.ts';
import type { Change } from '../../src/core/mailbox.ts';
import { isInForce, setNumbersIn } from '../../src/operations/undo.ts';
import { sampleAction, sampleMailbox, start } from '../alerts/samples.ts';
import { warmupAnswer } from '../guard/samples.ts';

const key = 'acme/m1';
const limit = (from: number | null, to: number, more: Partial<Action> = {}): Action => {
  const { before, ...action } = sampleAction({ targetMode: null, settledAt: start, ...more });
  const change = { ...action, kind: 'limit', targetLimit: to, before: { ...before, targetLimit: from } };
  return change as Action;
};
const undoing = (from: number, to: number) => limit(from, to, { undoesLimit: from });
const setOf = (...actions: readonly Action[]) => setNumbersIn(actions, 'targetDailyLimit').get(key) ?? null;

test('several steps lead back to the limit before the first, what was taken back to none', () => {
  expect(setOf(limit(40, 20), limit(20, 10))).toMatchObject({ set: 10, earlier: 40 });
  expect(setOf(limit(40, 20), undoing(20, 40))).toBeNull();
  expect(setOf(limit(40, 20), undoing(20, 40), limit(40, 12))).toMatchObject({ set: 12, earlier: 40 });
  expect(setOf(sampleAction({ settledAt: start }))).toBeNull();
});

test('where others changed it between two steps, it leads back to what they set', () => {
  expect(setOf(limit(40, 20), limit(35, 10))).toMatchObject({ set: 10, earlier: 35 });
});

test('it is in force while the mailbox shows it, and nobody changed it since', () => {
  const shows = (targetDailyLimit: number | null, changes: readonly Change[] = []) => {
    const answer = warmupAnswer('balanced', null, targetDailyLimit);
    const mailbox = sampleMailbox({ changes, warmup: { at: start, answer } });
    return isInForce({ set: 20, earlier: 40, at: start }, mailbox, 'targetDailyLimit');
  };
  expect([shows(20), shows(30), shows(null)]).toEqual([true, false, false]);
  const change = { what: 'target_daily_limit', from: '30', to: '20', since: start, at: start + 1 } as const;
  expect(shows(20, [change])).toBe(false);
  expect(shows(20, [{ ...change, at: start - 1 }])).toBe(true);
  expect(shows(20, [{ ...change, what: 'mode' }])).toBe(true);
});

test('nothing that others change is the effect of a set', () => {
  const { before, ...action } = sampleAction({ targetMode: null });
  const set: Action = { ...action, before, kind: 'set', targetSettings: { replyRate: 30 } } as Action;
  for (const what of ['mode', 'warm-up', 'target_daily_limit'] as const)
    expect(isEffectOf({ what, from: 'a', to: 'b', since: start, at: start }, set)).toBe(false);
});
