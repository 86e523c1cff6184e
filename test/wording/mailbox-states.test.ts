// Why a paused mailbox is paused: by whom, since when, and on what evidence.
import { expect, test } from 'vitest';
import { dayMs, hourMs } from '../../src/core/time.ts';
import { holdOf, pausedBy, pausedText } from '../../src/core/wording/states.ts';
import { enforcementOff } from '../../src/core/write-scope.ts';
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

const ours = 'Warmwarden paused the warm-up on 11 March 22:12 UTC.';
const resumed = action('a3', box, { kind: 'resume', by: { name: 'ann', reason: '' }, plannedAt: now });
const refused = action('a4', box, { kind: 'pause', by: { name: 'bob', reason: '' }, state: 'refused' });
const byPerson = 'ann paused the warm-up through Warmwarden on 12 March 02:12 UTC. Reason: a bad list.';
const byTool = 'Somebody else paused the warm-up between 12 March 02:12 and 03:12 UTC, not through Warmwarden.';
const unknown = 'Somebody else paused the warm-up. Warmwarden does not know when.';

test.each([
  ['us, with the counts', claim, [pause], [], `${ours} 16 bounces in 52 emails since 11 March: 30.77%.`],
  ['us, without a record', claim, [], [], ours],
  ['a person through Warmwarden', null, [byAnn, pause], [outside(now - dayMs)], byPerson],
  ['another tool, between two looks', null, [byAnn], [outside(now)], byTool],
  ['whom no record shows', null, [], [], unknown],
  ['whom no record shows, after a refused pause', null, [refused], [], unknown],
  ['whom no record shows, after a resume', null, [resumed], [], unknown],
  ['whom no record shows, after a pause of ours', null, [pause], [], unknown],
])('a mailbox that was paused by %s', (_, by, actions, changes, text) => {
  expect(pausedText({ claim: by, actions, changes }, 'UTC')).toBe(text);
});

test('is said to be paused by a person while nobody else changed it since', () => {
  expect(pausedBy({ actions: [byAnn, pause], changes: [outside(now - dayMs)] })).toEqual(byAnn.by);
  expect(pausedBy({ actions: [byAnn], changes: [outside(now)] })).toBeNull();
  expect(pausedBy({ actions: [], changes: [] })).toBeNull();
});

test.each([
  ['hold', 'contested', 'contested', null, /contest end .*or a day/],
  ['pause', 'emergency', 'guard_action_failed', 'refused', /^A person who makes the change in the warm-up service/],
  ['hold', 'stale_data', 'guard_held', 'refused', /^The next data/],
] as const)('%s for %s: a hold has a beginning, and says what ends it', (wanted, reason, rule, state, ends) => {
  const judged = { at: now, answer: verdict({ action: wanted, reason }) };
  const facts = { title: '', sentences: [], numbers: {} };
  const row = {
    state: 'held',
    mailbox: { ...box, verdict: judged },
    alerts: [{ rule, since: pausedAt, facts }],
  } as const;
  const actions = state === null ? [] : [refused];
  const hold = holdOf(row, { actions, changes: [] }, { zone: 'UTC', isUnread: false, now: 0, stop: null });
  expect([hold.since, hold.ends]).toEqual([pausedAt, expect.stringMatching(ends)]);
});

test('while Warmwarden does not act, no hold ends by itself or by a command', () => {
  const words = { zone: 'UTC', isUnread: false, now: 0 };
  const recovery = { ...claim, kind: 'recovery', previousMode: 'balanced' } as const;
  const memory = { ...box.memory, claim: recovery } as NonNullable<typeof box.memory>;
  const row = { state: 'recovering', mailbox: { ...box, memory }, alerts: [] } as const;
  const doings = { actions: [], changes: [] };
  expect(holdOf(row, doings, { ...words, stop: null }).ends).toContain('warmwarden mode ');
  expect(holdOf(row, doings, { ...words, stop: enforcementOff }).ends).toMatch(/^A person in the warm-up service\. /);
});
