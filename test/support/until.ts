// Waits for something to become true by looking often; for what has no event of its own to wait for.
import { setTimeout as sleep } from 'node:timers/promises';

const lookEveryMs = 25;
/** Below the tests' own time-out: the error says what was waited for. */
const defaultWithinMs = 240_000;

/** Resolves with the first value that is neither false, null nor undefined. Rejects with `what` when it takes too long. */
export async function until<Value>(
  what: string,
  look: () => Value | Promise<Value>,
  withinMs = defaultWithinMs,
): Promise<Exclude<Value, false | null | undefined>> {
  const deadline = performance.now() + withinMs;
  for (;;) {
    const value = await look();
    if (value !== false && value !== null && value !== undefined) {
      return value as Exclude<Value, false | null | undefined>;
    }
    if (performance.now() > deadline) throw new Error(`waited ${withinMs / 1_000} s in vain for: ${what}`);
    await sleep(lookEveryMs);
  }
}
