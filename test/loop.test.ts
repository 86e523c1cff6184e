// Loops on a moved clock: a failure ends none, and the watchdog finds one that goes on failing, or hangs. What was started ends in
// reverse order.
import { afterEach, beforeEach, expect, test } from 'vitest';
import { hourMs, minuteMs, secondMs } from '../src/core/time.ts';
import { Loops, lookEveryMs, startLoops, Teardowns } from '../src/world/loop.ts';
import { createLog, logTo, systemClock, type World } from '../src/world/world.ts';
import { type MovedClock, movedClock } from '../tools/simulator/moved-clock.ts';
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
  world = { clock, log, random: () => 0 };
  loops = new Loops(world);
  teardowns = new Teardowns(log);
});
afterEach(async () => {
  await teardowns.takeDown();
  expectNoSleepers(clock);
});

/** As the watchdog looks, for so long: the task that it finds stopped. */
async function watched(those: Loops, ms: number): Promise<string | null> {
  for (let passed = 0; passed < ms; passed += lookEveryMs) {
    await clock.advance(lookEveryMs);
    const stopped = those.look();
    if (stopped) return stopped;
  }
  return null;
}

test('a loop that keeps failing is logged once a minute with a count, has stopped after three, and its end is logged', async () => {
  let broken = false;
  let steps = 0;
  const look = async () => {
    steps += 1;
    if (broken) throw new Error('disk I/O error');
  };
  startLoops([loops.every(30 * secondMs, 'watching the channels', look)], teardowns);
  expect(await watched(loops, 10 * minuteMs)).toBeNull();
  expect([steps, logged]).toEqual([21, []]);
  broken = true;
  expect(await watched(loops, 3 * minuteMs)).toBeNull();
  expect(await watched(loops, minuteMs)).toBe('watching the channels');
  broken = false;
  await clock.advance(5 * secondMs);
  expect(loops.look()).toBeNull();
  const failures = logged.filter(({ level }) => level === 'error');
  expect(failures).toHaveLength(4);
  expect(failures[1]).toMatchObject({
    msg: 'watching the channels failed: Warmwarden retries every few seconds',
    left_out: 11,
  });
  expect(logged.at(-1)).toMatchObject({ msg: 'watching the channels works again' });
});

test('a loop whose step hangs has stopped, later where a step may take long; one that waits for long has not', async () => {
  const hang = Promise.withResolvers<void>();
  const step = () => hang.promise.then(() => hourMs);
  const hanging = [loops.create('sending the digest', step), loops.create('sending runs', step, 10 * minuteMs)];
  startLoops([...hanging, loops.every(hourMs, 'deleting old runs', async () => {})], teardowns);
  expect(await watched(loops, 3 * minuteMs)).toBeNull();
  expect(await watched(loops, minuteMs)).toBe('sending the digest');
  hang.resolve();
  expect(await watched(loops, 58 * minuteMs)).toBeNull();
});

test('a process that stood still says since when it is awake', async () => {
  let frozenMs = 0;
  const moving: World['clock'] = { ...clock, monotonic: () => clock.monotonic() + frozenMs };
  const others = new Loops({ ...world, clock: moving });
  startLoops([others.every(30 * secondMs, 'watching the channels', async () => {})], teardowns);
  await clock.advance(45 * secondMs);
  expect(others.awakeSince).toBe(Number.NEGATIVE_INFINITY);
  frozenMs = 40 * minuteMs;
  await clock.advance(2 * minuteMs);
  expect(others.awakeSince).toBe(minuteMs + frozenMs);
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

const log = createLog({ level: 'silent', format: 'json' }, systemClock());

/** Parts that write down when they end; the store is the first of them. */
function noting() {
  const ended: string[] = [];
  const add = (to: Teardowns, name: string) => to.add(name, async () => void ended.push(name));
  const teardowns = new Teardowns(log);
  add(teardowns, 'store');
  return { ended, add, teardowns };
}

test('the last that was started ends first, and a scope ends as one', async () => {
  const { ended, add, teardowns } = noting();
  await teardowns.scope(async (scope) => {
    add(scope, 'notifier');
    add(scope, 'accounts');
  });
  add(teardowns, 'socket');
  await teardowns.takeDown();
  expect(ended).toEqual(['socket', 'accounts', 'notifier', 'store']);
  await teardowns.takeDown();
  expect(ended).toHaveLength(4);
});

test('a scope that can’t be started ends what it had started, and nothing else', async () => {
  const { ended, add, teardowns } = noting();
  const refused = teardowns.scope(async (scope) => {
    add(scope, 'recipes');
    throw new Error('the address is in use');
  });
  await expect(refused).rejects.toThrow('the address is in use');
  expect(ended).toEqual(['recipes']);
  await teardowns.takeDown();
  expect(ended).toEqual(['recipes', 'store']);
});

test('a part that fails to end keeps none of the others from ending', async () => {
  const { ended, add, teardowns } = noting();
  await teardowns.scope(async (scope) => {
    add(scope, 'notifier');
    scope.add('accounts', () => Promise.reject(new Error('hangs')));
  });
  await teardowns.takeDown();
  expect(ended).toEqual(['notifier', 'store']);
});
