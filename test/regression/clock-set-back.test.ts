// The clock was set back by a day: what was to happen soon does not wait until it has caught up.
import { expect, test } from 'vitest';
import { Cadence } from '../../src/account/agenda.ts';
import { elapse } from '../../src/alerts/engine.ts';
import { dueStep } from '../../src/alerts/incidents.ts';
import { tryWaitMs } from '../../src/core/action.ts';
import type { Alert } from '../../src/core/alert.ts';
import { routes } from '../../src/core/answers.ts';
import type { Incident } from '../../src/core/incident.ts';
import { dayMs, hourMs, minuteMs, secondMs } from '../../src/core/time.ts';
import { cronSchedule } from '../../src/world/schedule.ts';
import { movedClock } from '../../tools/simulator/moved-clock.ts';
import { sampleAlert, start } from '../alerts/samples.ts';

const ahead = start + dayMs;

const forMs = 3 * minuteMs;
const begun: Alert = { ...sampleAlert(1), status: 'pending', since: ahead, firingAt: null, firesAt: ahead + forMs };

test('an alert that was pending fires after its time when nothing more is seen of it', () => {
  const [pending] = elapse([begun], start).changed;
  expect(pending).toMatchObject({ status: 'pending', since: start, firesAt: start + forMs });
  expect(elapse([pending ?? begun], start + forMs - 1).transitions).toEqual([]);
  expect(elapse([pending ?? begun], start + forMs).transitions).toMatchObject([{ kind: 'firing' }]);
});

test('an action is tried again at once, and otherwise waits as long as ever', () => {
  expect(tryWaitMs({ nextTryAt: ahead }, start)).toBe(0);
  expect(tryWaitMs({ nextTryAt: start + hourMs }, start)).toBe(hourMs);
  expect(tryWaitMs({ nextTryAt: start - 1 }, start)).toBe(0);
  expect(tryWaitMs({ nextTryAt: null }, start)).toBe(0);
});

test('an incident is announced at once', () => {
  const cause = { attribute: 'provider', value: 'google' } as const;
  const moments = { beganAt: ahead, openedAt: ahead, joinedAt: ahead, movedAt: ahead, announced: null, endedAt: null };
  const about = { id: 'i1', cause, kind: null, members: [], alerts: [], severity: 'critical' } as const;
  const incident: Incident = { ...about, ...moments };
  expect(dueStep(incident, start)).toBe('began');
  expect(dueStep({ ...incident, joinedAt: start - secondMs, openedAt: start - secondMs }, start)).toBe(null);
});

test('statistics that are read right after it are not stale: a whole fleet was told stale and fresh again within seconds', async () => {
  const moved = movedClock(start);
  let aheadMs = 2 * hourMs;
  const clock = { ...moved, now: () => moved.now() + aheadMs };
  const everyQuarter = cronSchedule('*/15 * * * *');
  const schedules = Object.fromEntries(routes.map((route) => [route, everyQuarter])) as ConstructorParameters<
    typeof Cadence
  >[0]['schedules'];
  const cadence = new Cadence({ schedules, clock, mailboxes: () => 1, pacePerMinute: () => 60 });
  const advance = async (ms: number) => {
    for (let passed = 0; passed < ms; passed += 10 * secondMs) {
      await moved.advance(10 * secondMs);
      cadence.due();
    }
  };
  await advance(2 * hourMs);
  expect(cadence.staleBefore('stats')).toBeGreaterThan(clock.now() - hourMs);
  aheadMs = hourMs;
  const readAt = clock.now();
  await advance(10 * secondMs);
  expect(cadence.staleBefore('stats')).toBeLessThan(readAt);
  // Three polls that were due since then in vain are as many as ever.
  await advance(hourMs);
  expect(cadence.staleBefore('stats')).toBeGreaterThan(readAt);
});
