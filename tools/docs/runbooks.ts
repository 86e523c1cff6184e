// docs/runbooks.md: for each rule what happened and what to do.

import { type AlertRule, alertRules, defaultRuleSettings, ruleBook, severities } from '../../src/core/alert-rules.ts';
import { runbookOf } from '../../src/core/runbooks.ts';

const head = `# Runbooks

<!-- Written by \`npm run docs\`. The texts are in src/core/runbooks.ts. -->

The alerts, the most urgent first. Your daemon has this page at \`/runbooks#RULE\`. \`warmwarden alerts list --details\` shows what fires.
[Messages](messages.md) shows how each one arrives, [notifications](notifications.md) when. [Configuration](configuration.md#alerts)
changes severity and delay.
`;

/** The whole file. */
export function runbooksText(): string {
  return [head, ...alertRules.map(sectionText)].join('\n');
}

function sectionText(rule: AlertRule): string {
  const { means, cases, done, todo } = runbookOf(rule);
  const minutes = defaultRuleSettings.of[rule].forMs / 60_000;
  const wait = minutes === 0 ? '' : `, after ${minutes} ${minutes === 1 ? 'minute' : 'minutes'}`;
  const { severity, otherSeverities = [] } = ruleBook[rule];
  const levels = severities.filter((one) => one === severity || otherSeverities.includes(one));
  return [
    `## ${rule}\n`,
    `*${levels.join(', ').replace(/, (\w+)$/, ' or $1')}${wait}*\n`,
    `${means}\n`,
    ...(cases.length === 0 ? [] : [`${tableText(cases)}\n`]),
    ...(done === undefined ? [] : [`**What was done.** ${done}\n`]),
    ...(todo === undefined ? [] : [`**What to do.**${withCommands(todo)}\n`]),
  ].join('\n');
}

/** What follows a heading. Moves each `Purpose: \`command\`.` behind the other sentences, as a line of one block of code. */
function withCommands(todo: string): string {
  const commands = [...todo.matchAll(/(?:^| )([A-Z][^.:`]*): `([^`]+)`\./g)];
  if (commands.length === 0) return ` ${todo}`;
  const sentences = commands.reduce((text, [all]) => text.replace(all, ''), todo).trim();
  const width = Math.max(...commands.map(([, , command = '']) => command.length));
  const lines = commands.map(([, purpose = '', command = '']) => {
    return `${command.padEnd(width)}  # ${purpose.charAt(0).toLowerCase()}${purpose.slice(1)}`;
  });
  return [sentences === '' ? '' : ` ${sentences}`, `\`\`\`\n${lines.join('\n')}\n\`\`\``].join('\n\n');
}

type Cases = ReturnType<typeof runbookOf>['cases'];

/** A column that says nothing is left out. */
function tableText(cases: Cases): string {
  const differs = new Set(cases.map(({ severity }) => severity)).size > 1;
  const advises = cases.some(({ todo }) => todo !== undefined);
  const lineOf = (cause: string, severity: string, means: string, todo = '') => {
    const cells = [cause, ...(differs ? [severity] : []), means, ...(advises ? [todo] : [])];
    return `| ${cells.join(' | ')} |`;
  };
  return [
    lineOf('Cause', 'Severity', 'What happened', 'What to do'),
    lineOf('---', '---', '---', '---'),
    ...cases.map(({ cause, severity, means, todo }) => lineOf(cause, severity, means, todo)),
  ].join('\n');
}
