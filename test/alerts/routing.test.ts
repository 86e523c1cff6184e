// Which channels an alert goes to, what mutes it, and the links of its message.
import { expect, test } from 'vitest';
import { withLinks } from '../../src/alerts/notifications.ts';
import { channelsFor, matches } from '../../src/alerts/routing.ts';
import type { Alert } from '../../src/core/alert.ts';
import { firing, sampleAlert } from './samples.ts';

const ops = { name: 'ops', type: 'slack' };
const mail = { name: 'mail', type: 'email' };
const channels = [ops, mail, { name: 'fix', type: 'recipe' }];
const oneDomain = [{ match: { mailbox: ['*@d1.example'] }, channels: ['ops'] }];
const toRecipe = [{ match: { rule: ['guard_*'] }, channels: ['fix'] }];
const toOps = [{ match: {}, channels: ['ops'] }];
const critical = { severity: 'critical', email: 'a@d2.example' } as const;
const several = [
  { match: { severity: ['critical'] as const }, channels: ['ops', 'mail'] },
  { match: { mailbox: ['*@VIP.example', 'm7'], account: ['ac?e'] }, channels: ['ops', 'gone'] },
];
const slow = [{ match: { mailbox: ['*a*a*a*a*a*a*a*a*a*b'] }, channels: ['ops'] }];

test.each([
  ['a critical alert that no route takes goes to every channel for people', critical, oneDomain, ['ops', 'mail']],
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
  ['a pattern with many stars is quick', { email: 'a'.repeat(2_000) }, slow, []],
])('%s', (_, change, routes, names) => {
  expect(channelsFor(sampleAlert(1, change as Partial<Alert>), routes, channels)).toEqual(names);
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
  expect(channelsFor(alert, byAccount, named).join(' ')).toBe(names);
});

test.each([
  [heldOf('acme'), { account: ['acme'] }, true],
  [heldOf('acme', 'beta'), { account: ['acme', 'b*'] }, true],
  [heldOf('acme', 'beta'), { account: ['acme'] }, false],
  [own, { account: ['acme'] }, false],
  [own, { rule: ['store_failing'] }, true],
])('a silence mutes a hold while all of it is on silenced accounts, and nothing of ours: %#', (alert, match, is) => {
  expect(matches(alert, match)).toBe(is);
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
