// `alerts.rules` of the file -> RuleSettings: what is not written is the default, what is written counts.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { loadConfig } from '../../src/config/load.ts';
import { defaultRuleSettings, type RuleSettings } from '../../src/core/rule-settings.ts';
import { minuteMs } from '../../src/core/time.ts';

function settingsOf(rules: object): RuleSettings {
  const folder = mkdtempSync(join(tmpdir(), 'warmwarden-rules-'));
  const file = join(folder, 'config.yaml');
  const accounts = [{ name: 'acme', base_url: 'http://127.0.0.1:9', api_key: 'sk_live_1' }];
  writeFileSync(file, JSON.stringify({ accounts, alerts: { rules } }));
  const loaded = loadConfig(file, {});
  rmSync(folder, { recursive: true });
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.problems));
  return loaded.config.alerts.rules;
}

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
