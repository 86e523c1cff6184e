// What is told when, in one message.
import { expect, test } from 'vitest';
import { dueGroups, type GroupTiming, groupName, messageOf } from '../../src/alerts/grouping.ts';
import type { Transition } from '../../src/core/alert.ts';
import { hourMs, minuteMs, secondMs } from '../../src/core/time.ts';
import { firing, resolved, sampleAlert, start } from './samples.ts';

const timing: GroupTiming = {
  now: start,
  groupWaitMs: 30 * secondMs,
  groupIntervalMs: 5 * minuteMs,
  lastNotified: () => undefined,
  full: false,
  keptFrom: () => null,
  incidents: { of: () => null, isDue: () => false },
};

function due(transitions: readonly Transition[], change: Partial<GroupTiming>) {
  const stored = transitions.map((transition, index) => ({ id: index + 1, transition }));
  const { due: groups, nextDueAt } = dueGroups(stored, { ...timing, ...change });
  return { groups: groups.map(({ group, unnotified }) => [group, unnotified.length]), nextDueAt };
}

const acted = (at = start): Transition => ({
  kind: 'event',
  at,
  alert: sampleAlert(1, { rule: 'guard_acted', object: 'a1' }),
});

test('a group waits from its oldest transition on, then takes all that came since', () => {
  const transitions = [
    firing(sampleAlert(1)),
    firing(sampleAlert(2), start + 20 * secondMs),
    firing(sampleAlert(3, { rule: 'not_guarded' }), start + 29 * secondMs),
  ];
  expect(due(transitions, { now: start + 30 * secondMs - 1 })).toEqual({
    groups: [],
    nextDueAt: start + 30 * secondMs,
  });
  expect(due(transitions, { now: start + 30 * secondMs })).toEqual({
    groups: [['acme|stale_data', 2]],
    nextDueAt: start + 59 * secondMs,
  });
});

test('the next message of a group waits for the interval; events do not', () => {
  const lastNotified = () => start - minuteMs;
  const now = start + 30 * secondMs;
  expect(due([resolved(sampleAlert(1))], { now, lastNotified })).toEqual({
    groups: [],
    nextDueAt: start + 4 * minuteMs,
  });
  expect(due([acted()], { now, lastNotified }).groups).toEqual([['acme|guard_acted', 1]]);
});

test('another cause of the same rule does not wait for the interval of the first', () => {
  const lastNotified = (group: string) => (group === 'acme|not_guarded|mailbox list' ? start - minuteMs : undefined);
  const causes = ['mailbox list', 'key rejected'];
  const transitions = causes.map((object, index) => firing(sampleAlert(index, { rule: 'not_guarded', object })));
  expect(due(transitions, { now: start + 30 * secondMs, lastNotified }).groups).toEqual([
    ['acme|not_guarded|key rejected', 1],
  ]);
});

test('no message waits when there are more than one look can take, or when the clock was set back', () => {
  expect(due([firing(sampleAlert(1))], { full: true }).groups).toHaveLength(1);
  expect(due([firing(sampleAlert(1), start + hourMs)], {}).groups).toHaveLength(1);
  expect(due([firing(sampleAlert(1), start - minuteMs)], { lastNotified: () => start + hourMs }).groups).toHaveLength(
    1,
  );
});

test('firing comes before resolved, the worst and the newest first; several rules and accounts are said so', () => {
  const transitions = [
    resolved(sampleAlert(1), start + minuteMs),
    firing(sampleAlert(2)),
    firing(sampleAlert(3, { severity: 'critical' })),
    firing(sampleAlert(4), start + 1),
  ];
  const message = messageOf('acme|stale_data', transitions, start);
  expect(message).toMatchObject({ kind: 'firing', severity: 'critical', account: 'acme', rule: 'stale_data' });
  expect(message?.transitions.map(({ kind, alert }) => [kind, alert.mailboxId])).toEqual([
    ['firing', 'm3'],
    ['firing', 'm4'],
    ['firing', 'm2'],
    ['resolved', 'm1'],
  ]);
  expect(message?.transitions[3]?.alert).toMatchObject({ since: start, resolvedAt: start + minuteMs });
  expect(messageOf('g', transitions.slice(0, 1), start)?.kind).toBe('resolved');
  expect(messageOf('g', [acted()], start)?.kind).toBe('event');
  expect(messageOf('g', [], start)).toBeNull();
  const mixed = messageOf('g', [acted(), firing(sampleAlert(5, { account: 'other' }))], start);
  expect(mixed).toMatchObject({ account: null, rule: null });
});

const over = (reason: string) =>
  sampleAlert(1, { rule: 'bounce_over_limit', facts: { title: '', sentences: [], numbers: { reason } } });
const few = firing(over('insufficient_evidence'));
const breach = firing(over('bounce_rate_over_limit'));
const ended = resolved(over('ok'));

test.each([
  ['breaches', [breach, breach], 'bounces over the limit, NO ACTION TAKEN'],
  ['too few bounces', [few, few, ended], 'bounces over the limit, too few to act on'],
  ['both', [few, breach, few], 'bounces over the limit, 1 WITHOUT ACTION'],
  ['ends', [ended, ended], 'bounces over the limit'],
  [
    'ends because Warmwarden acts',
    [resolved(over('emergency')), resolved(over('repeat_offender'))],
    'bounces over the limit: Warmwarden can act again',
  ],
  ['such an end and another breach', [resolved(over('emergency')), breach], 'bounces over the limit, NO ACTION TAKEN'],
])('several alerts about %s', (_what, alerts, name) => {
  expect(groupName('bounce_over_limit', alerts)).toBe(name);
});
