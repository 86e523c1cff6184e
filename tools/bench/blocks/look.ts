// Imported into the daemon's process by the blocks benchmark (node --import): how long the event loop computes in one go, on the
// clock of this thread's processor, so that a busy machine makes no difference. It answers the benchmark over IPC.
import { isMainThread } from 'node:worker_threads';

/** reset: what comes counts from here. tell: since then. heap: the same, after a collection (--expose-gc). */
export type LookOrder = 'reset' | 'tell' | 'heap';

export interface Looked {
  /** The longest work between two looks; others had to wait for it. */
  readonly blockMs: number;
  /** Of this thread, since the reset. */
  readonly threadMs: number;
  /** How much of it was in work of more than 10 ms. */
  readonly longMs: number;
  readonly heapBytes: number;
}

const longBlockMs = 10;

const lookEveryMs = 1;

function watchLoop(): void {
  const computedMs = () => {
    const { user, system } = process.threadCpuUsage();
    return (user + system) / 1_000;
  };
  let [blockMs, longMs, lookedAt, resetAt] = [0, 0, computedMs(), computedMs()];
  const look = () => {
    const now = computedMs();
    blockMs = Math.max(blockMs, now - lookedAt);
    if (now - lookedAt > longBlockMs) longMs += now - lookedAt;
    lookedAt = now;
  };
  setInterval(look, lookEveryMs).unref();
  process.on('message', (order: LookOrder) => {
    look();
    if (order === 'reset') [blockMs, longMs, resetAt] = [0, 0, lookedAt];
    if (order === 'heap') globalThis.gc?.();
    const heapBytes = process.memoryUsage().heapUsed;
    process.send?.({ blockMs, longMs, threadMs: lookedAt - resetAt, heapBytes } satisfies Looked);
    if (order === 'heap') lookedAt = computedMs();
  });
  // The daemon ends when it wants to.
  process.channel?.unref();
}

if (isMainThread && process.send) watchLoop();
