// `alerts` of the file: what `check` says of severities that no route takes, and the settings of rules, whose default is what is not written.
import { expect, test } from 'vitest';
import { unreachedSeverities } from '../../src/config/checks.ts';
import type { Config, RouteConfig } from '../../src/config/config.ts';
import { defaultRuleSettings } from '../../src/core/alert-rules.ts';
import { minuteMs } from '../../src/core/time.ts';
import { ConfigFolder } from '../support/config-folder.ts';

const channels = [
  { name: 'ops', type: 'slack', url: 'https://hooks.example/1' },
  { name: 'fix', type: 'recipe' },
];

const said = (...routes: readonly RouteConfig[]) =>
  unreachedSeverities({ channels, routes } as unknown as Config['alerts']).map(({ message }) => message);
const to = (channel: string, match: RouteConfig['match']) => ({ match, channels: [channel] });

test('a severity that no route takes to people is said; info is not missed', () => {
  const critical = 'no route takes critical alerts: Warmwarden sends them to every channel except recipes';
  const warning = 'no route takes warning alerts: no channel gets them';
  expect(said(to('ops', { severity: ['critical', 'warning'] }))).toEqual([]);
  expect(said(to('ops', { account: ['acme'] }))).toEqual([]);
  expect(said(to('ops', { severity: ['critical'] }), to('fix', {}))).toEqual([warning]);
  expect(said(to('fix', {}))).toEqual([critical, warning]);
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
