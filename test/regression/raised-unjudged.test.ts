// A mode that others raised while the daemon was down: the warning rests on the last verdict, whatever was read since.
import { expect, test } from 'vitest';
import { hourMs, minuteMs } from '../../src/core/time.ts';
import { amelia, calmPoll, goOnDuty } from '../account/duty.ts';

test('a raise near the limit is a warning, also where newer statistics were read before the warm-up', async () => {
  await using duty = await goOnDuty({ poll: calmPoll, policy: { enforce: false } });
  await duty.until(() => duty.reason() === 'bounce_rate_over_limit');
  const judgedAt = duty.mailbox()?.verdict?.at ?? 0;
  duty.between.meddle = ({ path }) =>
    path.startsWith('/v1/warmup') ? { status: 500, body: { error: 'oops' } } : 'pass';
  await duty.restart({ pauseMs: 10 * minuteMs });
  duty.simulator.fleet.setMode(amelia, 'aggressive');
  await duty.until(() => (duty.mailbox()?.stats?.at ?? 0) > judgedAt + 5 * minuteMs, hourMs);
  expect(duty.mailbox()?.verdict?.at).toBe(judgedAt);
  duty.between.meddle = () => 'pass';
  await duty.until(() => duty.mailbox()?.warmup?.answer.mode === 'aggressive', hourMs);
  const told = (await duty.store().outbox.unnotifiedTransitions(1_000)).map(({ transition }) => transition.alert);
  const raised = told.filter(({ rule }) => rule === 'changed_by_others');
  expect(raised.map(({ severity }) => severity)).toEqual(['warning']);
  expect(raised[0]?.facts.sentences.join(' ')).toContain('These bounces go on counting');
});
