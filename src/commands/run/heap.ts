// How much garbage V8 lets pile up: little while the daemon waits for its API, more while its event loop has no time left.
import { performance } from 'node:perf_hooks';
import { getHeapSpaceStatistics, getHeapStatistics, setFlagsFromString } from 'node:v8';
import type { Clock } from '../../world.ts';

const megabyte = 1024 * 1024;
const lookEveryMs = 1_000;
/**
 * From when on it counts as busy, and below what no longer. With little of a core, others use the machine: the event loop waits
 * for them rather than computes, and more room would save little.
 */
const busyFrom: LoopLoad = { busy: 0.8, ofCore: 0.25 };
const calmBelow: LoopLoad = { busy: 0.6, ofCore: 0.1 };
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

/** What the event loop did since the last look, as shares of the time. */
export interface LoopLoad {
  /** It had something to do. */
  readonly busy: number;
  /** Its thread was on a core. */
  readonly ofCore: number;
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
      const [loopBefore, cpuBefore] = [performance.eventLoopUtilization(), process.threadCpuUsage()];
      await clock.sleep(lookEveryMs);
      const { utilization, active, idle } = performance.eventLoopUtilization(loopBefore);
      const { user, system } = process.threadCpuUsage(cpuBefore);
      this.adapt({ busy: utilization, ofCore: (user + system) / 1_000 / (active + idle) });
    }
  }

  adapt({ busy, ofCore }: LoopLoad): void {
    const least = this.#isBusy ? calmBelow : busyFrom;
    this.#isBusy = busy > least.busy && ofCore > least.ofCore;
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
