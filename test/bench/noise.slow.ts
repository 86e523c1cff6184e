// The noise benchmark on a small agency: what people get in twenty days is counted, and the same in every run.
import { expect, test } from 'vitest';
import { noiseBenchmark } from '../../tools/bench/noise.ts';

test('twenty days of a healthy agency in each mode, and twenty with troubles: so many messages of so many alerts', async () => {
  const figures = await noiseBenchmark({ small: true, rows: [] });
  expect(figures.map(({ figure, ours, peer }) => `${figure} ${ours}, ${peer}`)).toEqual([
    'healthy_slow/other_messages_a_week 0, 0',
    'healthy_slow/messages_about_actions 4, 4',
    'healthy_balanced/other_messages_a_week 0, 0',
    'healthy_balanced/messages_about_actions 1, 1',
    'healthy_aggressive/other_messages_a_week 0, 0',
    'healthy_aggressive/messages_about_actions 1, 1',
    'troubles/slack_messages 16, 307',
    'troubles/pagerduty_messages 18, 307',
    'troubles/most_messages_an_incident 4, null',
    'troubles/dns_failure_messages 3, null',
  ]);
});
