// Which channels an alert goes to when no route takes it: a critical one reaches every person.
import { expect, test } from 'vitest';
import { channelsFor } from '../../src/alerts/routing.ts';
import { sampleAlert } from './samples.ts';

const channels = [
  { name: 'ops', type: 'slack' },
  { name: 'mail', type: 'email' },
  { name: 'fix', type: 'recipe' },
];
const oneDomain = [{ match: { mailbox: ['*@d1.example'] }, channels: ['ops'] }];
const toRecipe = [{ match: { rule: ['guard_*'] }, channels: ['fix'] }];
const critical = { severity: 'critical' as const, email: 'a@d2.example' };

test.each([
  ['a critical alert that no route takes goes to every channel for people', critical, oneDomain, ['ops', 'mail']],
  ['a warning that no route takes goes nowhere', { ...critical, severity: 'warning' as const }, oneDomain, []],
  [
    'a critical alert that a route takes goes where it leads',
    { ...critical, email: 'a@d1.example' },
    oneDomain,
    ['ops'],
  ],
  ['a recipe alone is nobody', { ...critical, rule: 'guard_acted' as const }, toRecipe, ['ops', 'mail', 'fix']],
  [
    'the failure of the only routed channel goes to the others',
    { ...critical, rule: 'channel_failing' as const, object: 'ops' },
    [{ match: {}, channels: ['ops'] }],
    ['mail'],
  ],
])('%s', (_, change, routes, names) => {
  expect(channelsFor(sampleAlert(1, change), routes, channels)).toEqual(names);
});
