// Which channels an alert goes to when no route takes it, and the links of its message.
import { expect, test } from 'vitest';
import { withLinks } from '../../src/alerts/notifications.ts';
import { channelsFor } from '../../src/alerts/routing.ts';
import { firing, sampleAlert } from './samples.ts';

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

test.each([
  [sampleAlert(1), '/mailboxes/acme/m1'],
  [sampleAlert(1, { rule: 'guard_held', account: '', mailboxId: null, object: 'https://api.example' }), '/?state=held'],
  [sampleAlert(1, { rule: 'shared_bounces', mailboxId: null, object: 'a.example' }), '/?q=acme%20%40a.example'],
  [sampleAlert(1, { rule: 'shared_bounces', mailboxId: null, object: 'whole account' }), '/?q=acme'],
  [
    sampleAlert(1, {
      ...{ rule: 'blacklisted', mailboxId: null, object: '192.0.2.1' },
      facts: { title: '', sentences: [], numbers: { seen_with: 'bob@a.example' } },
    }),
    '/?q=acme%20bob%40a.example',
  ],
  [sampleAlert(1, { rule: 'not_guarded', mailboxId: null, object: 'api down' }), undefined],
] as const)('a message links to what the alert is about, and to its runbook: %#', (alert, path) => {
  const page = 'https://guard.example';
  const { page_url, runbook_url } = withLinks(firing(alert).alert, page).facts.numbers;
  expect([page_url, runbook_url]).toEqual([path && `${page}${path}`, `${page}/runbooks#${alert.rule}`]);
  expect(withLinks(firing(alert).alert, null)).toEqual(firing(alert).alert);
});
