// docs/messages.md shows a message of each rule, of each of its causes, and of each severity that it has by default.
import { expect, test } from 'vitest';
import { alertRules, ruleBook } from '../src/core/alert-rules.ts';
import { messageSamples } from '../tools/docs/message-samples.ts';

const aboutOf = (rule: (typeof alertRules)[number]) =>
  messageSamples[rule].map((sample) => {
    if (!sample) throw new Error(`a sample of ${rule} is no message`);
    return 'kind' in sample ? sample.alert : { ...sample.subject, severity: sample.severity };
  });

test.each(alertRules)('%s has a message for each of its causes, and of no other rule', (rule) => {
  const samples = aboutOf(rule);
  expect(new Set(samples.map((one) => one.rule))).toEqual(new Set([rule]));
  const { causes = [], otherSeverities = [], severity } = ruleBook[rule];
  const shown = samples.map(({ object }) => object);
  expect(causes.filter((cause) => !shown.includes(cause))).toEqual([]);
  const severities = new Set(samples.map((one) => one.severity));
  expect([severity, ...otherSeverities].filter((one) => !severities.has(one))).toEqual([]);
});
