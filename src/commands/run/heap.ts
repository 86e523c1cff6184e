// How much garbage V8 lets pile up: little while the daemon waits for its API, more while it computes most of the time.
import { getHeapSpaceStatistics, getHeapStatistics, setFlagsFromString } from 'node:v8';
import type { Clock } from '../../world.ts';

const megabyte = 1024 * 1024;
const lookEveryMs = 1_000;
/**
 * Shares of the time in which the thread of the event loop was on a core. Between the two it stays as it was. Node.js's own measure of a
 * busy event loop also counts the time in which that waits for a core or for a disk.
 */
const busyFrom = 0.6;
const calmBelow = 0.35;
/** Both halves of the space for young objects. V8 doubles it, up to --max-semi-space-size for one half, unless a flag forbids it. */
const youngBytes = { calm: 8 * megabyte, busy: 32 * megabyte } as const;
/** By how much the heap may grow before old objects are collected, in percent of the live objects. */
const growingPercent = { calm: 30, busy: 100 } as const;
/** A busy daemon takes at most this in addition to its live objects, unless a calm one would take more. */
const busyGrowthBytes = 128 * megabyte;

/** The percentage for a heap of so many bytes. */
export function growingPercentOf(isBusy: boolean, usedBytes: number): number {
  const { calm, busy } = growingPercent;
  return isBusy ? Math.max(calm, Math.min(busy, Math.floor((busyGrowthBytes / usedBytes) * 100))) : calm;
}

/** Settings of V8 for the whole process, which it reads at each collection. */
export class HeapRoom {
  /** The values that were set last. */
  readonly #flags = new Map<string, number>();
  #isBusy = false;

  /** While the daemon starts, the heap grows from nothing to its live objects: it may double. */
  constructor() {
    this.#setFlag('heap-growing-percent', growingPercent.busy);
    this.#setFlag('semi-space-growth-factor', 1);
  }

  /** The start is over: from now on it follows the load. */
  async follow(clock: Clock): Promise<never> {
    for (;;) {
      const [begun, before] = [clock.monotonic(), process.threadCpuUsage()];
      await clock.sleep(lookEveryMs);
      const { user, system } = process.threadCpuUsage(before);
      this.adapt((user + system) / 1_000 / (clock.monotonic() - begun));
    }
  }

  /** `onCore`: the share of the last moments in which the thread was on a core. */
  adapt(onCore: number): void {
    this.#isBusy = onCore > (this.#isBusy ? calmBelow : busyFrom);
    this.#setFlag('heap-growing-percent', growingPercentOf(this.#isBusy, getHeapStatistics().used_heap_size));
    const young = getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space')?.space_size ?? 0;
    const mayGrow = 2 * young <= (this.#isBusy ? youngBytes.busy : youngBytes.calm);
    this.#setFlag('semi-space-growth-factor', mayGrow ? 2 : 1);
  }

  #setFlag(flag: string, value: number): void {
    if (this.#flags.get(flag) === value) return;
    this.#flags.set(flag, value);
    setFlagsFromString(`--${flag}=${value}`);
  }
}
