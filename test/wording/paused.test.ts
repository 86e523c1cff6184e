// Why a paused mailbox is paused: by whom, since when, and on what evidence.
import { describe, expect, test } from 'vitest';
import { dayMs, hourMs } from '../../src/core/time.ts';
import { pausedBy, pausedText } from '../../src/core/wording/states.ts';
import { action, mailbox, now, verdict } from '../web/example-fleet.ts';

const box = mailbox('m1', 'a@acme.example');
const pausedAt = now - 5 * hourMs;
const counts = { sent: 52, bounced: 16, from: '2026-03-11' };
const pause = action('a1', box, {
  kind: 'pause',
  openedAt: pausedAt,
  verdict: verdict({ action: 'pause', reason: 'emergency', emergency: counts }),
});
const claim = { kind: 'pause' as const, actionId: 'a1', since: pausedAt, previousMode: null, under: null };
const byAnn = action('a2', box, { kind: 'pause', by: { name: 'ann', reason: 'a bad list' }, openedAt: now - hourMs });
const outside = (at: number) => ({ what: 'warm-up' as const, from: 'active', to: 'paused', since: at - hourMs, at });

describe('a paused mailbox', () => {
  test('says when Warmwarden paused it, and the counts that led to it', () => {
    expect(pausedText({ claim, actions: [pause], changes: [] }, 'UTC')).toBe(
      'Warmwarden paused the warm-up on 11 March 22:12 UTC. 16 bounces in 52 emails since 11 March: 30.77 %.',
    );
    expect(pausedText({ claim, actions: [], changes: [] }, 'UTC')).toBe(
      'Warmwarden paused the warm-up on 11 March 22:12 UTC.',
    );
  });

  test('names the person who paused it through Warmwarden, and why', () => {
    const facts = { claim: null, actions: [byAnn, pause], changes: [outside(now - dayMs)] };
    expect(pausedText(facts, 'UTC')).toBe(
      'ann paused the warm-up through Warmwarden on 12 March 02:12 UTC. Reason: a bad list.',
    );
  });

  test('is said to be paused by a person while nobody else changed it since', () => {
    expect(pausedBy({ actions: [byAnn, pause], changes: [outside(now - dayMs)] })).toEqual(byAnn.by);
    expect(pausedBy({ actions: [byAnn], changes: [outside(now)] })).toBeNull();
    expect(pausedBy({ actions: [], changes: [] })).toBeNull();
  });

  test('says between which two looks another tool paused it', () => {
    const said =
      'Somebody else paused the warm-up between 12 March 02:12 UTC and 12 March 03:12 UTC, not through Warmwarden.';
    expect(pausedText({ claim: null, actions: [byAnn], changes: [outside(now)] }, 'UTC')).toBe(said);
  });

  test('claims to know nothing that no record shows', () => {
    const resumed = action('a3', box, { kind: 'resume', by: { name: 'ann', reason: '' }, plannedAt: now });
    const refused = action('a4', box, { kind: 'pause', by: { name: 'bob', reason: '' }, state: 'refused' });
    for (const actions of [[], [refused], [resumed], [pause]])
      expect(pausedText({ claim: null, actions, changes: [] }, 'UTC')).toBe(
        'Somebody else paused the warm-up. Warmwarden does not know when.',
      );
  });
});
