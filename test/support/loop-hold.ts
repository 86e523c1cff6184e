// How long the event loop computes in one go, measured in yardsticks: a piece of work that is done beside it, as slowly as all else.
import { threadCpuUsage } from 'node:process';
import { setImmediate as turn } from 'node:timers/promises';

/** About 10 ms of a processor at rest: text to values and back, as most of what holds the loop is. */
const yardstick = JSON.stringify(
  Array.from({ length: 9_000 }, (_, index) => ({ id: `m${index}`, email: `box${index}@large.example`, days: [index] })),
);

/** Of this thread, in milliseconds: that others wait for the processor makes no difference. */
function computedMs(): number {
  const { user, system } = threadCpuUsage();
  return (user + system) / 1_000;
}

/** What the yardstick takes now: of several, because the processor's time is counted in steps of up to 4 ms. */
function yardstickMs(): number {
  const times = 8;
  const from = computedMs();
  for (let left = times; left > 0; left -= 1) JSON.stringify(JSON.parse(yardstick));
  return (computedMs() - from) / times;
}

/**
 * The value of `work`, and the longest turn of the event loop while it went on, in yardsticks: of one machine and one
 * moment, so that a slow or busy machine makes no difference.
 */
export async function longestTurn<Value>(work: () => Promise<Value>): Promise<{ value: Value; yardsticks: number }> {
  const before = yardstickMs();
  let ms = 0;
  let last = computedMs();
  let over = false;
  const look = () => {
    const now = computedMs();
    ms = Math.max(ms, now - last);
    last = now;
    if (!over) setImmediate(look);
  };
  look();
  try {
    const value = await work();
    // The turn in which it ended counts, too.
    await turn();
    await turn();
    return { value, yardsticks: ms / Math.max(before, yardstickMs()) };
  } finally {
    over = true;
  }
}
