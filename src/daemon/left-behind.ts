// Whose work is to be ended because they died: their commands in the audit log, and their runs of recipes.
import { minuteMs } from '../model/time.ts';
import type { Membership } from '../replicas/membership.ts';
import type { LeftBy } from '../store/left-behind.ts';
import type { Clock } from '../world.ts';

/** Whoever joined so long ago is seen by all. */
const knownAfterMs = minuteMs;

/** What was left by all but the living; null: that is not this replica's to end. */
export function leftBehind(membership: Membership, clock: Clock): LeftBy | null {
  const living = membership.replicas().map(({ id }) => id);
  // Who does not see itself sees nobody yet.
  if (!membership.holds('clock') || membership.self === null || !living.includes(membership.self)) return null;
  return { living, before: clock.now() - knownAfterMs };
}
