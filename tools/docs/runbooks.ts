// docs/runbooks.md: for each rule what happened and what to do.

import { alertRules, ruleBook } from '../../src/core/alert-rules.ts';
import { defaultRuleSettings } from '../../src/core/rule-settings.ts';

const head = `# Runbooks

<!-- Written by \`npm run docs\`. The texts are in src/core/alert-rules.ts. -->

What to do about each alert, the most urgent first. *What to do* in a message opens this page on your daemon (\`/runbooks#RULE\`).
\`warmwarden alerts list --details\` shows what fires. [Messages](messages.md) shows how each one arrives, [notifications](notifications.md)
when; [configuration](configuration.md#alerts) changes severity and delay of a rule, or switches it off.
`;

/** The whole file. */
export function runbooksText(): string {
  const sections = alertRules.map((rule) => {
    const { means, done, todo } = ruleBook[rule];
    const { severity, forMs } = defaultRuleSettings.of[rule];
    const level = rule === 'guard_acted' ? 'critical for a pause, warning for a switch to recovery' : severity;
    const minutes = forMs / 60_000;
    const wait = minutes === 0 ? '' : `, after ${minutes} ${minutes === 1 ? 'minute' : 'minutes'}`;
    return `## ${rule}\n\n*${level}${wait}*\n\n${means}\n\n**What was done.** ${done}\n\n**What to do.** ${todo}\n`;
  });
  return [head, ...sections].join('\n');
}
