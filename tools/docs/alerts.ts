// docs/alerts.md: when and how people are notified, and a runbook for each rule.

import { readFileSync } from 'node:fs';
import { alertRules, ruleBook } from '../../src/core/alert-rules.ts';
import { defaultRuleSettings } from '../../src/core/rule-settings.ts';

const head = readFileSync(new URL('alerts-head.md', import.meta.url), 'utf8');

/** The whole file. */
export function alertsText(): string {
  const sections = alertRules.map((rule) => {
    const { means, done, todo } = ruleBook[rule];
    const { severity, forMs } = defaultRuleSettings.of[rule];
    const level = rule === 'guard_acted' ? 'critical for a pause, warning for a switch to recovery' : severity;
    const minutes = forMs / 60_000;
    const wait = minutes === 0 ? '' : `, after ${minutes} ${minutes === 1 ? 'minute' : 'minutes'}`;
    return `### ${rule}\n\n*${level}${wait}*\n\n${means}\n\n**What was done.** ${done}\n\n**What to do.** ${todo}\n`;
  });
  return `${head}${sections.join('\n')}`;
}
