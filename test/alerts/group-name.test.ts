// What several alerts of one rule are called: bounces over the limit are NO ACTION TAKEN only where somebody has to act.
import { expect, test } from 'vitest';
import { groupName } from '../../src/alerts/group-name.ts';
import { firing, resolved, sampleAlert } from './samples.ts';

const over = (reason: string) =>
  sampleAlert(1, { rule: 'bounce_over_limit', facts: { title: '', sentences: [], numbers: { reason } } });
const few = firing(over('insufficient_evidence'));
const breach = firing(over('bounce_rate_over_limit'));
const ended = resolved(over('ok'));

test.each([
  ['breaches', [breach, breach], 'bounces over the limit, NO ACTION TAKEN'],
  ['too few bounces', [few, few, ended], 'bounces over the limit, too few to act on'],
  ['both', [few, breach, few], 'bounces over the limit, 1 WITHOUT ACTION'],
  ['ends', [ended, ended], 'bounces over the limit'],
  [
    'ends because Warmwarden acts',
    [resolved(over('emergency')), resolved(over('repeat_offender'))],
    'bounces over the limit: Warmwarden can act again',
  ],
  ['such an end and another breach', [resolved(over('emergency')), breach], 'bounces over the limit, NO ACTION TAKEN'],
])('several alerts about %s', (_what, alerts, name) => {
  expect(groupName('bounce_over_limit', alerts)).toBe(name);
});
