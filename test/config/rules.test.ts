// `alerts.rules` of the file -> RuleSettings: what is not written is the default, what is written counts.
import { expect, test } from 'vitest';
import { defaultRuleSettings } from '../../src/core/rule-settings.ts';
import { minuteMs } from '../../src/core/time.ts';
import { ConfigFolder } from '../support/config-folder.ts';

const place = new ConfigFolder();
const accounts = [{ name: 'acme', base_url: 'http://127.0.0.1:9', api_key: 'sk_live_1' }];
const settingsOf = (rules: object) => place.accept(JSON.stringify({ accounts, alerts: { rules } })).config.alerts.rules;

test('a file that says nothing of rules has the defaults', () => {
  expect(settingsOf({})).toMatchObject(defaultRuleSettings);
});

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
