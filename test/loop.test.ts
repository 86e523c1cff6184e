// Loops on a moved clock: a failure ends none, and one that goes on failing, or hangs, is named.
import { afterEach, beforeEach, expect, test } from 'vitest';
import { hourMs, minuteMs, secondMs } from '../src/core/time.ts';
import { Loops, startLoops, Teardowns } from '../src/world/loop.ts';
import { logTo, type MovedClock, movedClock, type World } from '../src/world/world.ts';
import { expectNoSleepers } from './support/sleepers.ts';

const start = Date.UTC(2026, 10, 3, 9);
let clock: MovedClock;
let world: World;
let loops: Loops;
let logged: Record<string, unknown>[];
let teardowns: Teardowns;
beforeEach(() => {
  clock = movedClock(start);
  logged = [];
  const log = logTo((line) => void logged.push(JSON.parse(line)), { level: 'info', format: 'json' }, clock);
  world = { clock, log, random: () => 0, command: 'warmwarden' };
  loops = new Loops(world);
  teardowns = new Teardowns(log);
});
afterEach(async () => {
  await teardowns.takeDown();
  expect(loops.failing()).toEqual([]);
  expectNoSleepers(clock);
});

test('a loop that keeps failing is logged once a minute with a count, named after three, and its end is logged', async () => {
  let broken = false;
  let steps = 0;
  const look = async () => {
    steps += 1;
    if (broken) throw new Error('disk I/O error');
  };
  startLoops([loops.every(30 * secondMs, 'watching the channels', look)], teardowns);
  await clock.advance(10 * minuteMs);
  expect([steps, logged, loops.failing()]).toEqual([21, [], []]);
  broken = true;
  await clock.advance(3.4 * minuteMs);
  expect(loops.failing()).toEqual([]);
  await clock.advance(6 * minuteMs);
  const since = start + 10 * minuteMs + 30 * secondMs;
  expect(loops.failing()).toEqual([{ task: 'watching the channels', since }]);
  broken = false;
  await clock.advance(5 * secondMs);
  expect(loops.failing()).toEqual([]);
  const failures = logged.filter(({ level }) => level === 'error');
  expect(failures).toHaveLength(9);
  expect(failures[1]).toMatchObject({
    msg: 'watching the channels failed: Warmwarden retries every few seconds',
    left_out: 11,
  });
  expect(logged.at(-1)).toMatchObject({ msg: 'watching the channels works again', failures: 107 });
});

test('a step that hangs is named; a loop that waits for long is not', async () => {
  const hang = Promise.withResolvers<void>();
  const moving = { ...clock, busy: <T>(work: () => Promise<T>) => work() };
  const others = new Loops({ ...world, clock: moving });
  const hanging = others.create('sending the digest', () => hang.promise.then(() => hourMs));
  startLoops([hanging, others.every(hourMs, 'deleting old runs', async () => {})], teardowns);
  await clock.advance(3 * minuteMs);
  expect(others.failing()).toEqual([]);
  await clock.advance(1);
  expect(others.failing()).toEqual([{ task: 'sending the digest', since: start }]);
  hang.resolve();
  await clock.advance(59 * minuteMs);
  expect(others.failing()).toEqual([]);
});

test('time in which the process stood still counts for no task, and one that hangs is named all the same', async () => {
  let frozenMs = 0;
  const hang = Promise.withResolvers<void>();
  const moving: World['clock'] = {
    ...clock,
    busy: (work) => work(),
    now: () => clock.now() + frozenMs,
    monotonic: () => clock.monotonic() + frozenMs,
  };
  const others = new Loops({ ...world, clock: moving });
  const named = new Set<string>();
  const look = async () => {
    for (const { task } of others.failing()) named.add(task);
  };
  const hanging = others.create('sending the digest', () => hang.promise.then(() => hourMs));
  const often = ['watching the channels', 'watching the tasks'].map((task) => others.every(30 * secondMs, task, look));
  startLoops([hanging, ...often], teardowns);
  await clock.advance(45 * secondMs);
  expect(others.awakeSince).toBe(Number.NEGATIVE_INFINITY);
  frozenMs = 40 * minuteMs;
  await clock.advance(2 * minuteMs);
  expect([...named]).toEqual([]);
  expect(others.awakeSince).toBe(minuteMs + frozenMs);
  await clock.advance(45 * secondMs);
  expect([...named]).toEqual(['sending the digest']);
  hang.resolve();
});

test('a ring takes the next step at once, also one that comes during a step', async () => {
  let steps = 0;
  const loop = loops.create('composing messages', async () => {
    steps += 1;
    if (steps === 1) loop.ring();
    return hourMs;
  });
  startLoops([loop], teardowns);
  await clock.advance(0);
  expect(steps).toBe(2);
  loop.ring();
  await clock.advance(0);
  expect(steps).toBe(3);
});
