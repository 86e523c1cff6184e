// Long works side by side: the event loop turns between any two of their pieces.
import { expect, test } from 'vitest';
import { Turns } from '../src/account/commit/turns.ts';
import { ownTurn, roomForSmallWork, smallWorksATurn } from '../src/world/event-loop.ts';
import { createPacer, inTurns, systemClock } from '../src/world/world.ts';

/** Counts the turns of the event loop until it is disposed of. */
function countedTurns() {
  let turn = 0;
  let counting = setImmediate(function count() {
    turn += 1;
    counting = setImmediate(count);
  });
  return { now: () => turn, [Symbol.dispose]: () => clearImmediate(counting) };
}

test('of several long works one piece is done in a turn of the event loop', async () => {
  using turns = countedTurns();
  const pieces: number[] = [];
  const pacer = createPacer(0);
  const own = async () => {
    for (let n = 0; n < 5; n += 1) await ownTurn().then(() => pieces.push(turns.now()));
  };
  const paced = async () => {
    for (let n = 0; n < 5; n += 1) await pacer.turn().then(() => pieces.push(turns.now()));
  };
  const listed = async () => {
    await ownTurn();
    await inTurns(Array.from({ length: 400 }), () => pieces.push(turns.now()));
  };
  await Promise.all([own(), paced(), listed()]);
  expect(pieces).toHaveLength(14);
  expect(new Set(pieces).size).toBe(14);
});

test('patient works that follow one another in a turn share its slice', async () => {
  const first = createPacer(1, 'patient');
  await first.turn();
  while (!first.due());
  const [second, urgent] = [createPacer(1, 'patient'), createPacer(60_000)];
  expect([second.due(), urgent.due()]).toEqual([true, false]);
  await second.turn();
  const long = createPacer(60_000, 'patient');
  expect(long.due()).toBe(false);
  // What an urgent turn begins has a slice of its own.
  while (!second.due());
  await ownTurn();
  expect(createPacer(60_000, 'patient').due()).toBe(false);
});

/** Pages and scrapes, say: as many works as there are at most, each of many pieces. */
function patientWorks(works: number, pieces: number, done: string[]): Promise<unknown> {
  const pacer = createPacer(0, 'patient');
  const patient = async () => {
    for (let n = 0; n < pieces; n += 1) await pacer.turn().then(() => done.push('patient'));
  };
  return Promise.all(Array.from({ length: works }, patient));
}

test('an urgent piece comes before all patient ones that wait', async () => {
  const done: string[] = [];
  const patient = patientWorks(20, 3, done);
  await ownTurn('patient');
  const before = done.length;
  await ownTurn();
  expect(done.length - before).toBeLessThanOrEqual(1);
  await patient;
  expect(done).toHaveLength(60);
});

test('what is to be decided does not wait behind pages and scrapes', async () => {
  const done: string[] = [];
  const turns = new Turns(systemClock());
  const patient = patientWorks(8, 50, done);
  const decide = (name: string) =>
    turns.take(async () => {
      // The slice of the turns is over when the next one comes.
      const until = performance.now() + 5;
      while (performance.now() < until);
      done.push(name);
    });
  await Promise.all([decide('a command'), decide('the intent of an action'), decide('its outcome')]);
  expect(done.indexOf('its outcome')).toBeLessThan(8);
  await patient;
});

test('patient work goes on while much urgent work waits', async () => {
  const done: string[] = [];
  const urgent = async () => {
    for (let n = 0; n < 100; n += 1) await ownTurn().then(() => done.push('urgent'));
  };
  await Promise.all([urgent(), urgent(), urgent(), patientWorks(2, 10, done)]);
  expect(done).toHaveLength(320);
  expect(done.lastIndexOf('patient')).toBeLessThan(100);
});

/** How many of them there are in the turn that has most. */
function mostInOne(turns: readonly number[]): number {
  return Math.max(...[...Map.groupBy(turns, (turn) => turn).values()].map(({ length }) => length));
}

test('of very many small works a few are done in a turn of the event loop, in the order of asking', async () => {
  using turns = countedTurns();
  await ownTurn();
  const [done, order]: [number[], number[]] = [[], []];
  const small = async (n: number) => {
    await roomForSmallWork();
    done.push(turns.now());
    order.push(n);
  };
  const long: number[] = [];
  const one = async () => {
    for (let n = 0; n < 5; n += 1) await ownTurn().then(() => long.push(turns.now()));
  };
  await Promise.all([...Array.from({ length: 100 }, (_, n) => small(n)), one()]);
  expect(order).toEqual(Array.from({ length: 100 }, (_, n) => n));
  expect(mostInOne(done)).toBeLessThanOrEqual(smallWorksATurn);
  // A long work is done beside them, in turns of its own.
  expect(long.filter((turn) => done.includes(turn))).toEqual([]);
  expect(long.at(-1)).toBeLessThan(done.at(-1) ?? 0);
});

test('a small work waits for nothing while there are few of them', async () => {
  for (let turn = 0; turn < 3; turn += 1) {
    await ownTurn();
    expect(Array.from({ length: smallWorksATurn }, () => roomForSmallWork())).toEqual(
      Array.from({ length: smallWorksATurn }, () => null),
    );
    await new Promise((resolve) => setImmediate(resolve));
  }
});
