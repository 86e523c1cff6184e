// An account that is this process's only while its lease says so: what is asked, sent and recorded then, and what is not.
import { expect, test } from 'vitest';
import { minuteMs, secondMs } from '../../src/core/time.ts';
import { inheritedWaitMs } from '../../src/store/database.ts';
import { amelia, calmPoll, goOnDuty } from './duty.ts';

test('without its lease it asks nothing, and an answer that comes then is not recorded', async () => {
  await using duty = await goOnDuty({ poll: calmPoll });
  await duty.until(() => Boolean(duty.mailbox()?.stats));
  const before = duty.mailbox();
  duty.between.meddle = () => {
    duty.lease.held = false;
    return 'pass';
  };
  await duty.until(() => !duty.lease.held);
  await duty.run(secondMs);
  const asked = duty.between.requests.length;
  await duty.run(30 * minuteMs);
  expect([duty.between.requests.length, duty.mailbox() === before]).toEqual([asked, true]);
  duty.between.meddle = () => 'pass';
  duty.lease.held = true;
  await duty.until(() => duty.mailbox() !== before);
});

test('an answer that came while the account was not its own is asked for again: nothing would judge the mailbox before', async () => {
  // The warm-up is due again after hours only.
  await using duty = await goOnDuty({ poll: { ...calmPoll, warmup: '0 */6 * * *' } });
  let lapsed = 0;
  duty.between.meddle = ({ path }) => {
    if (lapsed > 0 || !path.includes('/warmup')) return 'pass';
    lapsed += 1;
    duty.lease.held = false;
    return 'pass';
  };
  await duty.until(() => lapsed > 0);
  await duty.run(10 * secondMs);
  duty.lease.held = true;
  await duty.until(() => Boolean(duty.mailbox()?.verdict), 5 * minuteMs);
  expect(duty.between.requests.filter(({ path }) => path.includes('/warmup')).length).toBeGreaterThan(1);
});

test('a POST that could outlive the lease is held back at its first byte, and goes out once it may', async () => {
  await using duty = await goOnDuty({ poll: calmPoll });
  const states: string[] = [];
  duty.lease.mayPost = false;
  await duty.until(() => {
    const { state = 'none', detail = null } = duty.action() ?? {};
    if (states.at(-1) !== state) states.push(state);
    return detail?.startsWith('nothing was sent') === true;
  });
  expect([states.at(-1), duty.posts().length, duty.action()?.attempts]).toEqual(['planned', 0, 0]);
  duty.lease.mayPost = true;
  await duty.until(() => duty.action()?.state === 'confirmed');
  expect([duty.posts().length, duty.action()?.attempts]).toEqual([1, 1]);
});

test('what a process that died had open is looked at once its POST can no longer be under way', async () => {
  await using duty = await goOnDuty({ poll: calmPoll });
  const image = await duty.untilKilled('cut');
  const sent = duty.posts().length;
  let sentAt: number | null = null;
  duty.meddleWithPosts(() => {
    sentAt ??= duty.clock.now();
    return 'pass';
  });
  duty.lease.openWaitMs = inheritedWaitMs;
  await duty.restart({ image });
  const begunAt = duty.clock.now();
  await duty.until(() => duty.action(amelia)?.state === 'confirmed');
  expect([sent, duty.posts().length, duty.action()?.attempts]).toEqual([1, 2, 2]);
  expect((sentAt ?? 0) - begunAt).toBeGreaterThanOrEqual(inheritedWaitMs);
});
