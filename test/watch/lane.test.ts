// The lane: even starts, actions first, several polls in flight, and an end.
import { expect, test } from 'vitest';
import { Budget } from '../../src/mailbox-api/budget.ts';
import { Lane } from '../../src/watch/lane.ts';
import { type Poll, PollQueue } from '../../src/watch/queue.ts';
import { movedClock } from '../../src/world.ts';

const stats = (mailboxId: string): Poll => ({ route: 'stats', mailboxId });

function laneOf(answerMs: number, accept: (poll: Poll) => boolean = () => true) {
  const clock = movedClock(Date.UTC(2026, 2, 10, 8, 30));
  const queue = new PollQueue();
  const begun: string[] = [];
  let [inFlight, most] = [0, 0];
  const poll = async ({ mailboxId }: Poll) => {
    begun.push(`${mailboxId} ${clock.monotonic()}`);
    inFlight += 1;
    most = Math.max(most, inFlight);
    await clock.sleep(answerMs);
    inFlight -= 1;
  };
  const budget = new Budget({ requestsPerMinute: 60, headroomPpm: 0 });
  const lane = new Lane({ clock, budget, queue, poll, accept });
  const stop = new AbortController();
  return { clock, queue, lane, begun, stop, ended: lane.run(stop.signal), mostInFlight: () => most };
}

test('polls start a second apart at sixty a minute', async () => {
  const { clock, queue, lane, begun } = laneOf(0);
  for (const id of ['a', 'b', 'c']) queue.add(stats(id), 0);
  lane.wake();
  await clock.advance(10_000);
  expect(begun).toEqual(['a 0', 'b 1000', 'c 2000']);
});

test('an action takes the very next slot, before every poll that waits', async () => {
  const { clock, queue, lane, begun, stop } = laneOf(0);
  for (const id of ['a', 'b', 'c']) queue.add(stats(id), 0);
  lane.wake();
  await clock.advance(500);
  void lane.actionSlot(stop.signal).then(() => begun.push(`action ${clock.monotonic()}`));
  void lane.actionSlot(stop.signal).then(() => begun.push(`second action ${clock.monotonic()}`));
  await clock.advance(10_000);
  expect(begun).toEqual(['a 0', 'action 1000', 'second action 2000', 'b 3000', 'c 4000']);
});

test('slow answers do not stop others, up to eight at a time; an action waits for none of them', async () => {
  const { clock, queue, lane, begun, stop, mostInFlight } = laneOf(60_000);
  for (let index = 0; index < 20; index += 1) queue.add(stats(`m${index}`), 0);
  lane.wake();
  await clock.advance(20_000);
  expect([begun.length, mostInFlight()]).toEqual([8, 8]);
  void lane.actionSlot(stop.signal).then(() => begun.push(`action ${clock.monotonic()}`));
  await clock.advance(0);
  expect(begun.at(-1)).toBe('action 20000');
  await clock.advance(10 * 60_000);
  expect([begun.length, mostInFlight()]).toEqual([21, 8]);
});

test('a poll that is under way is not made a second time beside itself', async () => {
  const { clock, queue, lane, begun } = laneOf(30_000);
  queue.add(stats('a'), 0);
  lane.wake();
  await clock.advance(1_000);
  queue.add(stats('a'), 1_000);
  lane.wake();
  await clock.advance(20_000);
  expect(begun).toHaveLength(1);
  await clock.advance(20_000);
  expect(begun).toEqual(['a 0', 'a 30000']);
});

test('a poll that is not accepted stays, and is made when it is', async () => {
  let accepted = false;
  const { clock, queue, lane, begun } = laneOf(0, () => accepted);
  queue.add(stats('a'), 0);
  lane.wake();
  await clock.advance(5_000);
  expect(begun).toEqual([]);
  accepted = true;
  lane.wake();
  await clock.advance(0);
  expect(begun).toEqual(['a 5000']);
});

test('a stop starts nothing more, frees who waits for a slot, and ends after the last answer', async () => {
  const { clock, queue, lane, begun, stop, ended } = laneOf(5_000);
  for (const id of ['a', 'b']) queue.add(stats(id), 0);
  lane.wake();
  await clock.advance(0);
  const slot = lane.actionSlot(stop.signal);
  stop.abort();
  await slot;
  await lane.actionSlot(stop.signal);
  let over = false;
  void ended.then(() => {
    over = true;
  });
  await clock.advance(4_999);
  expect(over).toBe(false);
  await clock.advance(1);
  expect([over, begun, clock.sleeping()]).toEqual([true, ['a 0'], 0]);
});
