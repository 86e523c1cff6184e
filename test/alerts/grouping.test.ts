// What is told when, in one message; which channels an alert goes to, what mutes it, and the links of its message.
import { expect, test } from 'vitest';
import { dueGroups, type GroupTiming, groupName, messageOf } from '../../src/alerts/grouping.ts';
import { withLinks } from '../../src/alerts/notifications.ts';
import { channelsFor, matches } from '../../src/alerts/routing.ts';
import type { Alert, Transition } from '../../src/core/alert.ts';
import { Fleet } from '../../src/core/fleet/fleet.ts';
import { hourMs, minuteMs, secondMs } from '../../src/core/time.ts';
import { firing, resolved, sampleAlert, sampleMailbox, start } from './samples.ts';

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

test('the next message of a group waits for the interval, and a critical event for a minute of it', () => {
  const lastNotified = () => start - minuteMs;
  const now = start + 30 * secondMs;
  expect(due([resolved(sampleAlert(1))], { now, lastNotified })).toEqual({
    groups: [],
    nextDueAt: start + 4 * minuteMs,
  });
  const pause = { ...acted(), alert: { ...acted().alert, severity: 'critical' } } as const;
  expect(due([acted()], { now, lastNotified })).toEqual({ groups: [], nextDueAt: start + 4 * minuteMs });
  expect(due([pause, acted()], { now, lastNotified }).groups).toEqual([['acme|guard_acted', 2]]);
  expect(due([pause], { now, lastNotified: () => now })).toEqual({ groups: [], nextDueAt: now + minuteMs });
  const short = { now, lastNotified: () => now - 30 * secondMs, groupIntervalMs: 20 * secondMs };
  expect(due([pause], short).groups).toEqual([['acme|guard_acted', 1]]);
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

const ops = { name: 'ops', type: 'slack' };
const mail = { name: 'mail', type: 'email' };
const channels = [ops, mail, { name: 'fix', type: 'recipe' }];
const toTwo = [{ match: { domain: ['d1.example'] }, channels: ['ops', 'mail'] }];
const oneDomain = [{ match: { mailbox: ['*@d1.example'] }, channels: ['ops'] }];
const toRecipe = [{ match: { rule: ['guard_*'] }, channels: ['fix'] }];
const toOps = [{ match: {}, channels: ['ops'] }];
const critical = { severity: 'critical', email: 'a@d2.example' } as const;
const several = [
  { match: { severity: ['critical'] as const }, channels: ['ops', 'mail'] },
  { match: { mailbox: ['*@VIP.example', 'm7'], account: ['ac?e'] }, channels: ['ops', 'gone'] },
];

test.each([
  ['a critical alert that no route takes goes to every channel that may know of it', critical, oneDomain, ['mail']],
  ['without one, to every channel for people', critical, toTwo, ['ops', 'mail']],
  ['a warning that no route takes goes nowhere', { ...critical, severity: 'warning' }, oneDomain, []],
  ['a critical alert goes where a route leads', { ...critical, email: 'a@d1.example' }, oneDomain, ['ops']],
  ['a recipe alone is nobody', { ...critical, rule: 'guard_acted' }, toRecipe, ['ops', 'mail', 'fix']],
  ['a failing channel tells the others', { ...critical, rule: 'channel_failing', object: 'ops' }, toOps, ['mail']],
  ['every route that matches adds its channels', { severity: 'critical' }, several, ['ops', 'mail']],
  ['a route by mailbox ignores case', { email: 'a@vip.example' }, several, ['ops']],
  ['a route by the id of a mailbox', { mailboxId: 'm7' }, several, ['ops']],
  ['another domain', { email: 'a@vip.example.org' }, several, []],
  ['another account', { email: 'a@vip.example', account: 'other' }, several, []],
  ['no mailbox', { email: null, mailboxId: null }, several, []],
])('%s', (_, change, routes, names) => {
  expect(
    channelsFor(sampleAlert(1, change as Partial<Alert>), { routes, channels, fleet: new Fleet(), now: start }),
  ).toEqual(names);
});

/** What the breaker of an API holds of these accounts. */
function heldOf(...accounts: string[]): Alert {
  const facts = { title: 'held', sentences: [], numbers: {}, accounts };
  const subject = { account: '', mailboxId: null, email: null, object: 'https://api.example' };
  return sampleAlert(1, { rule: 'guard_held', ...subject, severity: 'critical', facts });
}

const own = sampleAlert(1, { rule: 'store_failing', account: '', mailboxId: null, email: null });
const byAccount = [
  { match: { account: ['acme'] }, channels: ['a'] },
  { match: { account: ['beta'] }, channels: ['b'] },
  { match: { rule: ['guard_*'], account: ['g*'] }, channels: ['g'] },
];

test.each([
  ['a hold of its account', heldOf('acme'), 'a'],
  ['a hold of two accounts', heldOf('acme', 'beta'), 'a b'],
  ['a hold by its rule and account', heldOf('gamma'), 'g'],
  ['a critical hold of no route, for everybody', heldOf('delta'), 'a b g'],
  ['what is about Warmwarden itself', own, 'a b'],
  ['the other alerts of its account only', sampleAlert(1, { account: 'beta' }), 'b'],
])('a route by account takes %s', (_, alert, names) => {
  const named = ['a', 'b', 'g'].map((name) => ({ name, type: 'slack' }));
  expect(channelsFor(alert, { routes: byAccount, channels: named, fleet: new Fleet(), now: start }).join(' ')).toBe(
    names,
  );
});

test.each([
  [heldOf('acme'), { account: ['acme'] }, true],
  [heldOf('acme', 'beta'), { account: ['acme', 'b*'] }, true],
  [heldOf('acme', 'beta'), { account: ['acme'] }, false],
  [own, { account: ['acme'] }, false],
  [own, { rule: ['store_failing'] }, true],
])('a silence mutes a hold while all of it is on silenced accounts, and nothing of ours: %#', (alert, match, is) => {
  expect(matches(alert, match, new Fleet())).toBe(is);
});

/** Two clients share an account; the domain mixed.example has mailboxes of both. */
const shared = new Fleet();
shared.tags = {
  all: () => [],
  of: ({ email }) => (/^north|@north/.test(email) ? ['client=north', 'vip'] : ['client=south']),
  ofAccount: () => ['client=south'],
  choicesOf: () => [['client=south', 'client=north']],
};
for (const [id, email] of [
  'bob@north.example',
  'eve@south.example',
  'north@mixed.example',
  'eve@mixed.example',
].entries()) {
  const { entry, ...one } = sampleMailbox();
  shared.putMailbox({
    ...one,
    id: `m${id}`,
    email,
    entry: { ...entry, answer: { ...entry.answer, provider: 'google' } },
  });
}
const north = { mailboxId: 'm0', email: 'bob@north.example' };
const ofDomain = (object: string) => ({ mailboxId: null, email: null, object });
const seenAt = { ...ofDomain('192.0.2.1'), facts: { title: '', sentences: [], numbers: { seen_with: north.email } } };

test.each([
  ['its tag', north, { tag: ['client=north'] }, true],
  ['one of several globs', north, { tag: ['x', 'CLIENT=N*'] }, true],
  ['a part of a tag', north, { tag: ['client'] }, false],
  ['the tag of another mailbox', north, { tag: ['client=south'] }, false],
  ['its tag and its provider', north, { tag: ['vip'], provider: ['goo*'] }, true],
  ['another provider', north, { provider: ['outlook'] }, false],
  ['a provider that is not known', { ...north, mailboxId: 'gone' }, { provider: ['*'] }, false],
  ['the tag of a mailbox that has left', { ...north, mailboxId: 'gone' }, { tag: ['vip'] }, true],
  ['what all mailboxes of a domain have', ofDomain('north.example'), { tag: ['vip'] }, true],
  ['what some mailboxes of a domain have', ofDomain('mixed.example'), { tag: ['vip'] }, false],
  ['the mailbox that an IP address was seen with', seenAt, { tag: ['vip'] }, true],
  ['the tag of the account', ofDomain('api down'), { tag: ['client=south'] }, true],
  ['a provider, of an alert about the account', ofDomain('api down'), { provider: ['*'] }, false],
  ['a tag, of an alert about Warmwarden', { ...ofDomain('x'), account: '' }, { tag: ['*'] }, true],
] as const)('an alert is taken by %s', (_, change, match, is) => {
  const routes = [{ match, channels: ['a'] }];
  const alert = sampleAlert(1, { severity: 'info', ...(change as Partial<Alert>) });
  const channels = [{ name: 'a', type: 'recipe' }];
  expect(channelsFor(alert, { routes, channels, fleet: shared, now: start })).toEqual(is ? ['a'] : []);
});

test('a silence by tag mutes an alert about several accounts only if all of them have it, and nothing of ours', () => {
  const tags = { ...shared.tags, ofAccount: (name: string) => (name === 'acme' ? ['vip'] : []) };
  const fleet = Object.assign(new Fleet(), { tags });
  const mutes = (alert: Alert) => matches(alert, { tag: ['vip'] }, fleet);
  expect([heldOf('acme'), heldOf('acme', 'beta'), own].map(mutes)).toEqual([true, false, false]);
});

const wide = { mailboxId: null } as const;
const seenWith = { title: '', sentences: [], numbers: { seen_with: 'bob@a.example' } };

test.each([
  [sampleAlert(1), '/mailboxes/acme/m1'],
  [heldOf('acme'), '/?state=held'],
  [sampleAlert(1, { rule: 'shared_bounces', ...wide, object: 'a.example' }), '/?q=acme%20%40a.example'],
  [sampleAlert(1, { rule: 'shared_bounces', ...wide, object: 'whole account' }), '/?q=acme'],
  [
    sampleAlert(1, { rule: 'blacklisted', ...wide, object: '192.0.2.1', facts: seenWith }),
    '/?q=acme%20bob%40a.example',
  ],
  [sampleAlert(1, { rule: 'not_guarded', ...wide, object: 'api down' }), undefined],
] as const)('a message links to what the alert is about, and to its runbook: %#', (alert, path) => {
  const page = 'https://guard.example';
  const { page_url, runbook_url } = withLinks(firing(alert).alert, page).facts.numbers;
  expect([page_url, runbook_url]).toEqual([path && `${page}${path}`, `${page}/runbooks#${alert.rule}`]);
  expect(withLinks(firing(alert).alert, null)).toEqual(firing(alert).alert);
});
