// The alert rules in config.example.yaml: a rule that is not in it gets a line with its defaults.
import { readFileSync } from 'node:fs';
import { type AlertRule, alertRules, ruleBook } from '../../src/core/alert-rules.ts';
import { durationText } from '../../src/world/schema/scalars.ts';

const file = new URL('../../config.example.yaml', import.meta.url);
const head = /^ {2}rules:.*\n/m;
/** A key of a rule, and the lines below it that are indented further. */
const entry = /^ {4}(?<rule>\w+):.*\n(?: {5,}.*\n)*/gm;

export function exampleText(): string {
  const text = readFileSync(file, 'utf8');
  const begin = head.exec(text);
  if (!begin) throw new Error('config.example.yaml has no alerts.rules');
  const from = begin.index + begin[0].length;
  const found = [...(/^(?: {4,}.*\n)*/.exec(text.slice(from))?.[0] ?? '').matchAll(entry)];
  const written = new Map(found.map(({ 0: lines, groups }) => [groups?.['rule'], lines]));
  const until = from + found.reduce((sum, { 0: lines }) => sum + lines.length, 0);
  const lines = alertRules.map((rule) => written.get(rule) ?? lineOf(rule));
  return text.slice(0, from) + lines.join('') + text.slice(until);
}

function lineOf(rule: AlertRule): string {
  const { severity, forMs = 0, event } = ruleBook[rule];
  const wait = event ? '' : `, for: ${durationText(forMs)}`;
  return `    ${rule}: {enabled: true, severity: ${severity}${wait}}\n`;
}
