// Waits for a free slot of an account's budget: for commands, which have no queue of polls.
import type { Clock } from '../world/world.ts';
import type { Budget } from './budget.ts';
import type { RequestKind } from './interpret.ts';

/** Resolves when a request may start, and counts it. Looks again after each wait: somebody else may have used the slot. */
export async function takeSlot(budget: Budget, kind: RequestKind, clock: Clock): Promise<void> {
  for (;;) {
    const now = clock.monotonic();
    const startAt = budget.nextStartAt(now);
    if (startAt <= now) return budget.started(now, kind);
    await clock.sleep(startAt - now);
  }
}
