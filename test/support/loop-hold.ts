// How long the event loop computes in one go: in time of this thread's processor, so that a busy machine makes no difference.
import { threadCpuUsage } from 'node:process';
import { setImmediate as turn } from 'node:timers/promises';

function computedMs(): number {
  const { user, system } = threadCpuUsage();
  return (user + system) / 1_000;
}

/** The value of `work`, and the longest turn of the event loop while it went on. */
export async function longestTurn<Value>(work: () => Promise<Value>): Promise<{ value: Value; ms: number }> {
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
    return { value, ms };
  } finally {
    over = true;
  }
}
