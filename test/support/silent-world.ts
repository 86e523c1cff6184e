// A world that logs nothing, on the machine's clock or one of the test's own.
import { type Clock, systemClock, worldOn } from '../../src/world/world.ts';

export function silentWorld<On extends Clock = Clock>(clock: On = systemClock() as On, random = () => 0.5) {
  return { ...worldOn(clock, { level: 'silent', format: 'json' }), clock, random };
}
