// What `/readyz` says: all that keeps the daemon from guarding, and nothing that does not.
import { expect, test } from 'vitest';
import { readinessOf } from '../../src/daemon/readiness.ts';
import { Fleet } from '../../src/fleet/fleet.ts';
import { Loops } from '../../src/loop.ts';
import { minuteMs } from '../../src/model/time.ts';
import { movedClock, worldOn } from '../../src/world.ts';

const start = Date.UTC(2026, 10, 3, 9);

test('names a loop that has failed for over three minutes, until it works', async () => {
  const clock = movedClock(start);
  const loops = new Loops(worldOn(clock, { level: 'silent', format: 'json' }));
  const ready = () => readinessOf({ fleet: new Fleet(), loops }, { commands: null }).reasons;
  let broken = true;
  const reading = loops.every(minuteMs, 'reading what people changed on other replicas', async () => {
    if (broken) throw new Error('no such table: writes_off');
  });
  reading.start();
  await clock.advance(3 * minuteMs);
  expect(ready()).toEqual(['the first sweep has not started']);
  await clock.advance(minuteMs);
  expect(ready()[1]).toBe('reading what people changed on other replicas has failed since 3 November 09:00 UTC');
  broken = false;
  await clock.advance(minuteMs);
  expect(ready()).toEqual(['the first sweep has not started']);
  await reading.stop();
});
