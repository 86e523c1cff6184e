// Answers and decisions that were overtaken while they waited: for the API, for their turn, for a slot of the budget.
import { describe, expect, test } from 'vitest';
import { hourMs, minuteMs, secondMs } from '../../src/core/time.ts';
import { everything } from '../../src/core/write-scope.ts';
import { amelia, type Duty, goOnDuty, oliver, rarePoll, stormOf } from '../account/duty.ts';
import { operateOnDuty } from '../operations/rooms.ts';

/** The breach is there when the watch begins, so it is acted upon within minutes. */
const breached = { poll: { ...rarePoll, mailboxes: '* * * * *' }, afterMs: 3 * hourMs };
const calm = { scenario: stormOf(oliver), poll: rarePoll };

/** The next request of the kind waits: `before` it is sent, or with its answer `after`. The clock goes on meanwhile. */
function hold(duty: Duty, kind: 'warmup' | 'stats' | 'setMode' | 'mailboxes', when: 'before' | 'after') {
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
const confirmed = (duty: Duty) => duty.until(() => duty.action()?.state === 'confirmed');

test('a warm-up answer from before our write that had its turn after it is no reversal', async () => {
  await using duty = await goOnDuty(breached);
  const post = hold(duty, 'setMode', 'before');
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

test('a look that confirms a write and was overtaken by a poll is followed by another poll', async () => {
  await using duty = await goOnDuty(breached);
  await duty.until(() => duty.posts().length === 1);
  const look = hold(duty, 'warmup', 'after');
  await duty.until(() => look.asked, minuteMs);
  // Asked for after the look, with a person's change, and answered before it.
  duty.simulator.fleet.setMode(amelia, 'slow');
  duty.watch().refresh(known(duty).id);
  await duty.until(() => duty.mailbox()?.warmup?.answer.mode === 'slow', minuteMs);
  look.open();
  await duty.run(minuteMs);
  expect([duty.action()?.state, duty.mailbox()?.memory]).toMatchObject(['confirmed', { mode: 'slow', claim: null }]);
});

test('an answer that comes to a loop which has ended, and was left behind, is not taken in', async () => {
  await using duty = await goOnDuty(calm);
  await duty.run(10 * minuteMs);
  const poll = hold(duty, 'warmup', 'after');
  duty.simulator.fleet.setMode(oliver, 'slow');
  duty.watch().refresh(known(duty, oliver).id);
  await duty.until(() => poll.asked, minuteMs);
  await duty.run(secondMs);
  const ended = duty.watch().end();
  await duty.run(5 * minuteMs);
  await ended;
  poll.open();
  await duty.run(0);
  expect(duty.mailbox(oliver)?.warmup?.answer.mode).toBe('balanced');
});

describe('an action that waits for its turn in the budget is not sent', () => {
  /** Brought to the moment after its look, with `next` under way, which ends later. */
  async function waiting(options: object, next?: 'stats' | 'mailboxes') {
    const duty = await goOnDuty({ ...breached, ...options });
    await duty.until(() => duty.action()?.state === 'planned');
    const look = hold(duty, 'warmup', 'after');
    await duty.until(() => look.asked, minuteMs);
    const other = next && hold(duty, next, 'before');
    if (next === 'stats') duty.watch().refresh(known(duty).id);
    if (other) await duty.until(() => other.asked, 2 * minuteMs);
    look.open();
    await duty.run(0);
    expect([duty.posts(), duty.action()?.state]).toEqual([[], 'planned']);
    return { duty, other };
  }

  test('when the emergency stop comes first', async () => {
    const { duty } = await waiting({});
    await using _ = duty;
    duty
      .fleet()
      .putWritesOff({ scope: everything, since: duty.clock.now(), until: null, by: 'a test', reason: 'stop' });
    await duty.run(hourMs);
    expect([duty.posts(), duty.action()?.state, duty.action()?.attempts]).toEqual([[], 'dropped', 0]);
  });

  test('when statistics that were under way no longer say so', async () => {
    const { duty, other } = await waiting({}, 'stats');
    await using _ = duty;
    duty.between.meddle = ({ path }) =>
      path.startsWith('/v1/stats') ? { status: 200, body: { mailbox_id: known(duty).id, stats: [] } } : 'pass';
    other?.open();
    await duty.run(5 * minuteMs);
    expect([duty.posts(), duty.action()?.state]).toEqual([[], 'dropped']);
  });

  test('to a mailbox that has left meanwhile', async () => {
    let selected = true;
    const { duty, other } = await waiting({ selects: () => selected }, 'mailboxes');
    await using _ = duty;
    selected = false;
    other?.open();
    await duty.run(5 * minuteMs);
    expect([duty.mailbox(), duty.posts()]).toEqual([undefined, []]);
  });
});

describe('a command', () => {
  test('undo leaves alone what others changed since it was asked for', async () => {
    await using duty = await goOnDuty(breached);
    await confirmed(duty);
    duty.simulator.fleet.setMode(amelia, 'slow');
    const undone = operateOnDuty(duty)('undo', { since_seconds: 3_600, by: 'a test', reason: 'to see it' });
    await duty.run(5 * minuteMs);
    const messages = [expect.stringContaining('changed or reversed since'), expect.anything()];
    expect(await undone).toMatchObject({ result: 'failed', messages });
    expect([duty.posts().length, duty.simulator.fleet.find(amelia)?.config.mode]).toEqual([1, 'slow']);
  });
});
