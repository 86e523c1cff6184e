// Imported into the daemon's process by the blocks benchmark (node --import): how long the event loop computes in one go, on the
// clock of this thread's processor, so that a busy machine makes no difference. It answers the benchmark over IPC.
import { isMainThread } from 'node:worker_threads';

/** reset: what comes counts from here. tell: since then. */
export type LookOrder = 'reset' | 'tell';

export interface Looked {
  /** The longest work between two looks; others had to wait for it. */
  readonly blockMs: number;
  /** Of this thread, since the reset. */
  readonly threadMs: number;
}

const lookEveryMs = 1;

function watchLoop(): void {
  const computedMs = () => {
    const { user, system } = process.threadCpuUsage();
    return (user + system) / 1_000;
  };
  let [blockMs, lookedAt, resetAt] = [0, computedMs(), computedMs()];
  const look = () => {
    const now = computedMs();
    blockMs = Math.max(blockMs, now - lookedAt);
    lookedAt = now;
  };
  setInterval(look, lookEveryMs).unref();
  process.on('message', (order: LookOrder) => {
    look();
    if (order === 'reset') [blockMs, resetAt] = [0, lookedAt];
    process.send?.({ blockMs, threadMs: lookedAt - resetAt } satisfies Looked);
  });
  // The daemon ends when it wants to.
  process.channel?.unref();
}

if (isMainThread && process.send) watchLoop();
