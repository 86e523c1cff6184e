// What `/readyz` says: all that keeps the daemon from guarding, and nothing that does not.
import { expect, test } from 'vitest';
import { Fleet } from '../../src/core/fleet/fleet.ts';
import { minuteMs } from '../../src/core/time.ts';
import { readinessOf } from '../../src/daemon/readiness.ts';
import { Loops } from '../../src/world/loop.ts';
import { movedClock, worldOn } from '../../src/world/world.ts';

const start = Date.UTC(2026, 10, 3, 9);

test('says since when the store fails, with which error, and what to do', () => {
  const fleet = new Fleet();
  const loops = new Loops(worldOn(movedClock(start), { level: 'silent', format: 'json' }));
  const failure = { said: 'the disk is full', remedy: 'Make room on the disk.', lasting: false };
  fleet.putStoreFailure(failure, start);
  expect(readinessOf({ fleet, loops }, { commands: null }, 'Europe/Berlin').reasons[1]).toBe(
    'the store is failing (since 3 November 10:00 Europe/Berlin): The disk is full. Make room on the disk.',
  );
});

test('names a loop that has failed for over three minutes, until it works', async () => {
  const clock = movedClock(start);
  const loops = new Loops(worldOn(clock, { level: 'silent', format: 'json' }));
  const ready = () => readinessOf({ fleet: new Fleet(), loops }, { commands: null }, 'UTC').reasons;
  let broken = true;
  const reading = loops.every(minuteMs, 'reading what people changed on other replicas', async () => {
    if (broken) throw new Error('no such table: writes_off');
  });
  reading.start();
  await clock.advance(3 * minuteMs);
  expect(ready()).toEqual(['the first sweep has not started']);
  await clock.advance(minuteMs);
  expect(ready()[1]).toBe(
    'reading what people changed on other replicas has failed since 3 November 09:00 UTC: the log has the error, at "reading what people changed on other replicas failed"',
  );
  broken = false;
  await clock.advance(minuteMs);
  expect(ready()).toEqual(['the first sweep has not started']);
  await reading.stop();
});
