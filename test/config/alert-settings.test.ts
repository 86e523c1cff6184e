// `alerts` of the file: what `check` says of the alerts that no route takes, and the settings of rules, whose default is what is not written.
import { expect, test } from 'vitest';
import { unreachedAlerts } from '../../src/config/checks.ts';
import type { Config, RouteConfig } from '../../src/config/config.ts';
import { defaultRuleSettings } from '../../src/core/alert-rules.ts';
import { minuteMs } from '../../src/core/time.ts';
import { ConfigFolder } from '../support/config-folder.ts';

const channels = [
  { name: 'ops', type: 'slack', url: 'https://hooks.example/1' },
  { name: 'fix', type: 'recipe' },
];

function said(routes: readonly RouteConfig[], rules: object = {}): readonly string[] {
  const alerts = { channels, routes, rules: { ...defaultRuleSettings, ...rules } };
  const accounts = [
    { name: 'acme', tags: ['client=north'], overrides: [{ tags: ['client=south'] }] },
    { name: 'beta', tags: [], overrides: [] },
  ];
  return unreachedAlerts({ accounts, alerts } as unknown as Config).map(({ message }) => message);
}

/** What is said of routes with these matches to a channel for people. */
const matching = (...matches: readonly RouteConfig['match'][]) =>
  said(matches.map((match) => ({ match, channels: ['ops'] })));
const usual = { match: { severity: ['critical', 'warning'] as const }, channels: ['ops'] };

test('what everybody writes has no gap, and info is not missed', () => {
  expect([said([usual]), matching({})]).toEqual([[], []]);
  expect(matching({ account: ['acme'] }, { account: ['b*'] })).toEqual([]);
  expect(matching({ tag: ['client=*'] }, { account: ['beta'] })).toEqual([]);
});

test('a route by mailbox or account leaves the others to nobody', () => {
  const expected = [
    'no route takes all critical alerts: Warmwarden sends the others to every channel except recipes',
    'no route takes all warning alerts: no channel gets the others',
    'no route takes all info alerts: no channel gets the others',
  ];
  expect(matching({ mailbox: ['*@d1.example'] })).toEqual(expected);
  expect(matching({ account: ['acme'] })).toEqual(expected);
  expect(matching({ severity: ['critical'] })).toEqual(expected.slice(1));
  for (const match of [{ tag: ['client=north'] }, { provider: ['*'] }, { domain: ['*'] }])
    expect(matching({ account: ['beta'] }, match)).toEqual(expected);
  const late = { match: {}, channels: ['ops'], unlessResolvedAfterMs: minuteMs };
  expect([said([late]), said([usual, late])]).toEqual([expected.slice(0, 1), []]);
});

test('rules that no route takes, and a route to a recipe alone', () => {
  const [critical, warning] = said([
    { ...usual, match: { rule: ['[!x]'] } },
    { ...usual, match: { rule: ['guard_*', '*_down'] } },
  ]);
  expect(critical).toMatch(
    /^no route takes all critical alerts of the rules not_guarded, crashed, .*store_failing: Warmwarden sends the others/,
  );
  expect(critical).not.toContain('guard_acted');
  expect(warning).toContain('shared_bounces');
  expect(said([usual, { match: {}, channels: ['fix'] }])).toEqual([]);
  expect(said([{ match: {}, channels: ['fix'] }])).toHaveLength(3);
});

test('a rule that is off is not missed, and a rule counts with the severity that is configured', () => {
  const route = { match: { rule: ['[]'] }, channels: ['ops'] };
  const of = { ...defaultRuleSettings.of, clock_off: { enabled: false, severity: 'warning', forMs: 0 } };
  expect(
    said(
      [
        { match: { severity: ['critical'] }, channels: ['ops'] },
        { match: { rule: ['[a-b]*', 'budget_too_small'] }, channels: ['ops'] },
        route,
      ],
      { of },
    )[0],
  ).not.toMatch(/clock_off|budget_too_small/);
});

const place = new ConfigFolder();
const accounts = [{ name: 'acme', base_url: 'http://127.0.0.1:9', api_key: 'sk_live_1' }];
const settingsOf = (rules: object) => place.accept(JSON.stringify({ accounts, alerts: { rules } })).config.alerts.rules;

test('a rule is switched off, made milder, made to wait, and given other thresholds; the rest stays', () => {
  const settings = settingsOf({
    contested: { enabled: false },
    stale_data: { severity: 'info', for: '20m' },
    guard_acted: { recovery: 'critical' },
    blacklisted: { major: ['*spamhaus*'], min_lists: 2 },
    reputation_low: { inbox_below: '70.5%' },
  });
  expect(settings.of.contested).toEqual({ enabled: false, severity: 'warning', forMs: 0 });
  expect(settings.of.stale_data).toEqual({ enabled: true, severity: 'info', forMs: 20 * minuteMs });
  expect(settings.acted).toMatchObject({ pause: 'critical', recovery: 'critical' });
  expect(settings.blacklisted).toMatchObject({ major: ['*spamhaus*'], ignore: [], minLists: 2 });
  expect(settings.reputationLow).toMatchObject({ inboxBelowPpm: 705_000, minMails: 30, scoreDrop: 15 });
  expect(settings.of.not_guarded).toEqual(defaultRuleSettings.of.not_guarded);
});
