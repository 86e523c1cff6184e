// What of a first look waits for the one message of the sweep, and what is told at once.
import { expect, test } from 'vitest';
import { asFound, isUnsettled } from '../../src/account/record/guarded-account.ts';
import type { Action } from '../../src/core/action.ts';
import type { Transition } from '../../src/core/alert.ts';
import { firing, judged, resolved, sampleAction, sampleAlert, sampleMailbox, start } from '../alerts/samples.ts';

const event = (acted: Action): Transition => ({
  kind: 'event',
  at: start,
  alert: sampleAlert(1, { rule: 'guard_acted', object: `${acted.id}:${acted.state}` }),
});
const waits = (transition: Transition, acted: Action | null = null, mailbox = judged({})) =>
  asFound(transition, { mailbox, acted }).found === true;

test('findings and a switch to recovery that worked wait', () => {
  const recovery = sampleAction();
  expect(waits(event(recovery), recovery)).toBe(true);
  for (const rule of ['bounce_over_limit', 'dns_failing', 'reputation_low', 'guard_blind'] as const)
    expect([rule, waits(firing(sampleAlert(1, { rule })))]).toEqual([rule, true]);
});

test('a pause, an action without success, a hold and an emergency do not, whatever their severity, nor does an end', () => {
  for (const acted of [sampleAction({ kind: 'pause' }), sampleAction({ state: 'unconfirmed' })])
    expect(waits(event(acted), acted)).toBe(false);
  for (const rule of ['guard_held', 'guard_action_failed', 'mailbox_missing'] as const)
    expect([rule, waits(firing(sampleAlert(1, { rule })))]).toEqual([rule, false]);
  const emergency = judged({ reason: 'emergency' });
  expect(waits(firing(sampleAlert(1, { rule: 'bounce_over_limit' })), null, emergency)).toBe(false);
  expect(waits(firing(sampleAlert(1, { rule: 'reputation_low' })), null, emergency)).toBe(true);
  expect(waits(resolved(sampleAlert(1)))).toBe(false);
});

test('a first judgement is settled after the second look of a breach and after what that led to', () => {
  expect(isUnsettled(sampleMailbox({ verdict: null }))).toBe(true);
  expect(isUnsettled(judged({ reason: 'first_sight', action: 'hold' }))).toBe(true);
  expect(isUnsettled({ ...judged({}), action: sampleAction({ state: 'open' }) })).toBe(true);
  expect(isUnsettled({ ...judged({}), action: sampleAction() })).toBe(false);
  expect(isUnsettled(judged({}))).toBe(false);
});
