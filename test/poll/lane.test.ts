// The lane: even starts, actions first, several polls in flight, and an end.
import { expect, test } from 'vitest';
import { Budget } from '../../src/api/budget.ts';
import { Lane, type LaneOptions } from '../../src/api/poll/lane.ts';
import type { Poll } from '../../src/api/poll/poll.ts';
import { PollQueue } from '../../src/api/poll/queue.ts';
import { type Route, routes } from '../../src/core/answers.ts';
import { hourMs } from '../../src/core/time.ts';
import { movedClock } from '../../tools/simulator/moved-clock.ts';

const hourly = Object.fromEntries(routes.map((route) => [route, hourMs])) as Record<Route, number>;

/** A queue whose mailboxes a, b, c and m0 to m19 have been read once, and how to ask for one's statistics. */
function sweptQueue(requestsPerMinute: number) {
  const queue = new PollQueue({ cadenceMs: hourly, allowedPerMinute: () => requestsPerMinute, earlyMs: 0 });
  for (const id of ['a', 'b', 'c', ...Array.from({ length: 20 }, (_, index) => `m${index}`)]) {
    queue.join(id, { mailbox: 0, dns: 0, blacklist: 0 }, 0);
  }
  for (let poll = queue.take(0); poll; poll = queue.take(0)) queue.done(poll);
  return { queue, want: (mailboxId: string) => queue.add({ route: 'stats', mailboxId }, 0) };
}

function laneOf(answerMs: number, mayAsk: LaneOptions['mayAsk'] = () => 'everything', requestsPerMinute = 60) {
  const clock = movedClock(Date.UTC(2026, 2, 10, 8, 30));
  const { queue, want } = sweptQueue(requestsPerMinute);
  const begun: string[] = [];
  let [inFlight, most] = [0, 0];
  const poll = async ({ mailboxId }: Poll) => {
    begun.push(`${mailboxId} ${clock.monotonic()}`);
    inFlight += 1;
    most = Math.max(most, inFlight);
    await clock.sleep(answerMs);
    inFlight -= 1;
  };
  const budget = new Budget({ requestsPerMinute, headroomPpm: 0 });
  const lane = new Lane({ clock, budget, queue, poll, mayAsk });
  const stop = new AbortController();
  const ended = lane.run(stop.signal, () => {});
  /** Waits for a slot for an action, and notes when it came. */
  const act = (name = 'action') =>
    void lane.actionSlot(stop.signal).then(() => begun.push(`${name} ${clock.monotonic()}`));
  return { clock, want, lane, begun, stop, act, budget, ended, mostInFlight: () => most };
}

test('an action takes the very next slot, before every poll that waits', async () => {
  const { clock, want, lane, begun, act } = laneOf(0);
  for (const id of ['a', 'b', 'c']) want(id);
  lane.wake();
  await clock.advance(500);
  act();
  act('second action');
  await clock.advance(10_000);
  expect(begun).toEqual(['a 0', 'action 1000', 'second action 2000', 'b 3000', 'c 4000']);
});

test('slow answers do not stop others, up to eight at a time; an action waits for none of them', async () => {
  const { clock, want, lane, begun, act, mostInFlight } = laneOf(60_000);
  for (let index = 0; index < 20; index += 1) want(`m${index}`);
  lane.wake();
  await clock.advance(20_000);
  expect([begun.length, mostInFlight()]).toEqual([8, 8]);
  act();
  await clock.advance(0);
  expect(begun.at(-1)).toBe('action 20000');
  await clock.advance(10 * 60_000);
  expect([begun.length, mostInFlight()]).toEqual([21, 8]);
});

test('an action takes the next slot of one request between two batches, and the next batch pays for it', async () => {
  const { clock, want, lane, begun, act, budget } = laneOf(0, undefined, 600);
  budget.noteLimits({ kind: 'stats', limit: 600, remaining: 500, succeeded: true }, 0);
  for (let index = 0; index < 12; index += 1) want(`m${index}`);
  lane.wake();
  await clock.advance(50);
  act();
  await clock.advance(150);
  act('second action');
  await clock.advance(10_000);
  const batch = (from: number, at: number) => [0, 1, 2, 3].map((index) => `m${from + index} ${at}`);
  expect(begun).toEqual([...batch(0, 0), 'action 100', 'second action 200', ...batch(4, 600), ...batch(8, 1_000)]);
});

test('a POST goes before the looks of other actions: one after the other is done with', async () => {
  const { clock, lane, begun, stop } = laneOf(0);
  const act = async (name: string) => {
    await lane.actionSlot(stop.signal);
    begun.push(`look ${name}`);
    await lane.actionSlot(stop.signal, 'post');
    begun.push(`post ${name}`);
  };
  for (const name of ['x', 'y', 'z']) void act(name);
  await clock.advance(10_000);
  expect(begun).toEqual(['look x', 'post x', 'look y', 'post y', 'look z', 'post z']);
});

test('an action that reads statistics keeps to the limit of their route, and other actions do not wait for it', async () => {
  const { clock, lane, begun, stop, act, budget } = laneOf(0, undefined, 600);
  budget.noteLimits({ kind: 'stats', limit: 10, remaining: 9, succeeded: true }, 0);
  budget.noteLimits({ kind: 'warmup', limit: 600, remaining: 500, succeeded: true }, 0);
  for (const name of ['x', 'y'])
    void lane.actionSlot(stop.signal, 'stats').then(() => begun.push(`stats ${name} ${clock.monotonic()}`));
  await clock.advance(1_000);
  act('look');
  await clock.advance(10_000);
  expect(begun).toEqual(['stats x 0', 'look 1000', 'stats y 6000']);
});

test('a stop starts nothing more, frees who waits for a slot, and ends after the last answer', async () => {
  const { clock, want, lane, begun, stop, ended } = laneOf(5_000);
  for (const id of ['a', 'b']) want(id);
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
