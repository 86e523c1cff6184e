// Answers and decisions that were overtaken while they waited: for the API, for their turn, for a slot of the budget.
import { expect, test } from 'vitest';
import { hourMs, minuteMs, secondMs } from '../../src/core/time.ts';
import { everything } from '../../src/core/write-scope.ts';
import { amelia, type Duty, goOnDuty, rarePoll } from '../account/duty.ts';

/** The breach is there when the watch begins, so it is acted upon within minutes. */
const breached = { poll: { ...rarePoll, mailboxes: '* * * * *' }, afterMs: 3 * hourMs };

/** The next request of the kind waits: `before` it is sent, or with its answer `after`. The clock goes on meanwhile. */
function hold(duty: Duty, kind: 'warmup' | 'write', when: 'before' | 'after') {
  const api = duty.api() as unknown as Record<string, (...args: unknown[]) => Promise<unknown>>;
  const ask = (api[kind] as (...args: unknown[]) => Promise<unknown>).bind(api);
  const held = Promise.withResolvers<void>();
  const state = { asked: false, open: held.resolve };
  api[kind] = async (...args) => {
    api[kind] = ask;
    state.asked = true;
    if (when === 'before') await held.promise;
    const answer = await ask(...args);
    if (when === 'after') await held.promise;
    return answer;
  };
  return state;
}

const known = (duty: Duty, email = amelia) => {
  const mailbox = duty.mailbox(email);
  if (!mailbox) throw new Error(`there is no ${email}`);
  return mailbox;
};

test('a warm-up answer from before our write that had its turn after it is no reversal', async () => {
  await using duty = await goOnDuty(breached);
  const post = hold(duty, 'write', 'before');
  await duty.until(() => post.asked);
  const poll = hold(duty, 'warmup', 'after');
  duty.watch().refresh(known(duty).id);
  await duty.until(() => poll.asked, minuteMs);
  await duty.run(secondMs);
  const turn = Promise.withResolvers<void>();
  void duty.turns().take(() => turn.promise);
  const looks = duty.asked('/v1/warmup');
  post.open();
  await duty.until(() => duty.asked('/v1/warmup') > looks, minuteMs);
  await duty.run(0);
  poll.open();
  await duty.run(0);
  turn.resolve();
  await duty.run(10 * minuteMs);
  expect(duty.mailbox()?.memory).toMatchObject({ mode: 'recovery', reversals: [], claim: { kind: 'recovery' } });
  expect([duty.mailbox()?.changes, duty.posts().length]).toEqual([[], 1]);
});

test('an action that waits for its turn in the budget is not sent when the emergency stop comes first', async () => {
  await using duty = await goOnDuty(breached);
  await duty.until(() => duty.action()?.state === 'planned');
  const look = hold(duty, 'warmup', 'after');
  await duty.until(() => look.asked, minuteMs);
  look.open();
  await duty.run(0);
  expect([duty.posts(), duty.action()?.state]).toEqual([[], 'planned']);
  const stop = { scope: everything, since: duty.clock.now(), until: null, by: 'a test', reason: 'stop' };
  duty.fleet().putWritesOff(stop);
  await duty.run(hourMs);
  expect([duty.posts(), duty.action()?.state, duty.action()?.attempts]).toEqual([[], 'dropped', 0]);
});
