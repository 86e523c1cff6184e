// What an heir does with intents that its predecessor left open: their POSTs may still be under way.
import { postMs } from './deadline.ts';

/** The effect of a POST shows within this after its answer. */
const readBackMs = 15_000;

/** How long an heir leaves a mailbox with an open intent alone; then it looks. A mailbox without one is polled at once. */
export const inheritedWaitMs = postMs + readBackMs;
