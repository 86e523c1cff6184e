// The leak check of every fixture that has a clock: at its end nothing sleeps on it any more.
import { expect } from 'vitest';
import type { Clock } from '../../src/world/world.ts';

/** Fails the test when something still sleeps on a moved clock; other clocks can't tell. */
export function expectNoSleepers(clock: Clock): void {
  if ('sleeping' in clock && typeof clock.sleeping === 'function')
    expect(clock.sleeping(), 'sleepers that are left at the end').toBe(0);
}
