// The moved clock, the bell, schedules, and the edges of the machine's own clock.
import { getEventListeners } from 'node:events';
import { setImmediate as turn } from 'node:timers/promises';
import fc from 'fast-check';
import { createTask } from 'node-cron';
import { expect, test } from 'vitest';
import { cronSchedule } from '../src/world/schedule.ts';
import { createBell, systemClock } from '../src/world/world.ts';
import { movedClock } from '../tools/simulator/moved-clock.ts';

const start = Date.UTC(2026, 2, 10, 8, 30);
const at = (text: string) => Date.parse(`2026-03-10T${text}Z`);
const never = () => new AbortController().signal;

test('a moved clock stands still while work is in flight, also when that work fails', async () => {
  const clock = movedClock(start);
  const seen: number[] = [];
  let answer = () => {};
  const request = clock.busy(
    () =>
      new Promise<void>((_resolve, reject) => {
        answer = () => reject(new Error('no answer'));
      }),
  );
  void clock.sleep(50).then(() => seen.push(clock.monotonic()));
  const moved = clock.advance(1_000);
  for (let turns = 0; turns < 50; turns += 1) await turn();
  expect([clock.monotonic(), seen]).toEqual([0, []]);
  answer();
  await expect(request).rejects.toThrow('no answer');
  await moved;
  expect([clock.monotonic(), seen]).toEqual([1_000, [50]]);
});

test('a ring while nobody sleeps is kept for one sleep, not for two', async () => {
  const clock = movedClock(start);
  const bell = createBell(clock);
  bell.ring();
  bell.ring();
  await bell.sleep(60_000, never());
  expect(clock.sleeping()).toBe(0);
  let awake = false;
  void bell.sleep(60_000, never()).then(() => {
    awake = true;
  });
  await clock.advance(59_000);
  expect(awake).toBe(false);
  await clock.advance(1_000);
  expect(awake).toBe(true);
});

test('a bell on a shared signal leaves no listener behind, and an abort ends its sleep', async () => {
  const clock = movedClock(start);
  const bell = createBell(clock);
  const shared = new AbortController();
  for (let count = 0; count < 100; count += 1) {
    const slept = bell.sleep(1_000, shared.signal);
    if (count % 2 === 0) bell.ring();
    else await clock.advance(1_000);
    await slept;
  }
  expect(getEventListeners(shared.signal, 'abort')).toHaveLength(0);
  const slept = bell.sleep(60_000, shared.signal);
  shared.abort();
  await slept;
  await bell.sleep(60_000, shared.signal);
  expect(clock.sleeping()).toBe(0);
});

test('a schedule with a field of seconds is asked by the second', () => {
  const schedule = cronSchedule('*/20 * * * * *');
  expect(schedule.stepMs).toBe(1_000);
  expect(schedule.dueBetween(at('08:00:20'), at('08:00:39.999'))).toBe(false);
  expect(schedule.dueBetween(at('08:00:20'), at('08:00:40'))).toBe(true);
});

test('the machine clock does not wait for a negative time, and an abort ends a very long one', async () => {
  const clock = systemClock();
  await clock.sleep(-1_000);
  const abort = new AbortController();
  const ages = clock.sleep(Number.MAX_SAFE_INTEGER, abort.signal);
  // setTimeout alone takes a wait beyond 2^31 - 1 ms for one of 1 ms.
  const first = await Promise.race([ages.then(() => 'woke'), clock.sleep(30).then(() => 'still asleep')]);
  expect(first).toBe('still asleep');
  abort.abort();
  await ages;
  expect(getEventListeners(abort.signal, 'abort')).toHaveLength(0);
  await clock.sleep(60_000, abort.signal);
});

test('a schedule remembers what it was told, and says of every instant what node-cron says', () => {
  const expressions = [
    '* * * * *',
    '*/15 8-17 * * 1-5',
    '29 */6 L * *',
    '0 12 15W 2,3 *',
    '7,23 0 29 2 *',
    '5 4 3 2 1',
    '0 30 6-9 * JAN-mar tue',
    '@weekly',
    '@Monthly',
  ];
  const tasks = expressions.map((expression) => createTask(expression, () => {}, { timezone: 'UTC' }));
  const minute = 60_000;
  const instants = fc.array(fc.nat({ max: 4 * 366 * 1_440 }), { minLength: 50, maxLength: 200 });
  fc.assert(
    fc.property(fc.nat({ max: expressions.length - 1 }), instants, (which, minutes) => {
      // A schedule of its own, that has learnt nothing yet: node-cron takes spaces as they come.
      spaces += 1;
      const schedule = cronSchedule(`${expressions[which]}${' '.repeat(spaces)}`);
      const nearby = minutes.flatMap((one) => [one, one + 1_440, one - (one % 15), one - (one % 1_440) + 720]);
      for (const one of nearby) {
        const instant = start + one * minute;
        const runs = tasks[which]?.match(new Date(instant));
        expect(schedule.dueBetween(instant - minute, instant), new Date(instant).toISOString()).toBe(runs);
      }
    }),
    { numRuns: 20 },
  );
});
let spaces = 0;
