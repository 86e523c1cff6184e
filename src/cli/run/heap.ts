// How much garbage V8 lets pile up: little while the daemon waits for its API, more while it computes most of the time.
import { getHeapSpaceStatistics, getHeapStatistics, setFlagsFromString } from 'node:v8';
import type { Clock } from '../../world/world.ts';

const megabyte = 1024 * 1024;
const lookEveryMs = 1_000;
/** A look counts for a tenth of the load: the burst of a start, which lasts for seconds, is none. */
const looksRemembered = 10;
/**
 * Shares of the time in which the thread of the event loop was on a core. Between the two it stays as it was. Node.js's own measure of a
 * busy event loop also counts the time in which that waits for a core or for a disk.
 */
const busyFrom = 0.6;
const calmBelow = 0.35;
/**
 * Both halves of the space for young objects. V8 doubles it, up to --max-semi-space-size for one half, unless a flag forbids it. It
 * halves it only where next to nothing is allocated.
 */
const youngBytes = { calm: 8 * megabyte, busy: 32 * megabyte } as const;
/** By how much the heap may grow before old objects are collected, in percent of the live objects. */
const growingPercent = { calm: 30, busy: 100 } as const;
/** A busy daemon takes at most this in addition to its live objects, unless a calm one would take more. */
const busyGrowthBytes = 128 * megabyte;

/** So small that V8 puts it beside other young objects. */
const survivorBytes = 8 * 1024;
const survivorsKept = youngBytes.calm / 2 / survivorBytes;
const survivorsAtMost = 4 * survivorsKept;

/** Of both halves, whether or not V8 has taken all of it yet; in whole megabytes, for its pages have headers. */
function youngRoom(): number {
  const young = getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space');
  return young ? Math.round((2 * (young.space_used_size + young.space_available_size)) / megabyte) * megabyte : 0;
}

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
  /** Lately, as `adapt` gets it. */
  #onCore = 0;
  readonly #collected = new FinalizationRegistry(() => this.#setFlag('incremental-marking-hard-trigger', 0));

  /** While the daemon starts, the heap grows from nothing to its live objects: it may double. */
  constructor() {
    this.#setFlag('heap-growing-percent', growingPercent.busy);
    this.#growYoung();
    this.#setFlag('semi-space-growth-factor', 1);
    // Young objects are too few for several threads: where these wait for a core, the event loop waits for them.
    setFlagsFromString('--no-parallel-scavenge');
  }

  /** The start is over: from now on it follows the load. */
  async follow(clock: Clock): Promise<never> {
    this.adapt(0);
    this.#collect();
    for (;;) {
      const [begun, before] = [clock.monotonic(), process.threadCpuUsage()];
      await clock.sleep(lookEveryMs);
      const { user, system } = process.threadCpuUsage(before);
      this.adapt((user + system) / 1_000 / (clock.monotonic() - begun));
    }
  }

  /** `onCore`: the share of the last second in which the thread was on a core. */
  adapt(onCore: number): void {
    this.#onCore += (onCore - this.#onCore) / looksRemembered;
    this.#isBusy = this.#onCore > (this.#isBusy ? calmBelow : busyFrom);
    this.#setFlag('heap-growing-percent', growingPercentOf(this.#isBusy, getHeapStatistics().used_heap_size));
    const young = this.#isBusy ? youngBytes.busy : youngBytes.calm;
    this.#setFlag('semi-space-growth-factor', 2 * youngRoom() <= young ? 2 : 1);
  }

  /**
   * Old objects, a few milliseconds at a time. Where V8 begins after a start by itself, the heap has twice its size, and what a first sweep
   * read is still there: V8 and glibc keep most of that memory for as long as the process runs.
   */
  #collect(): void {
    // In percent of the way to where V8 would begin.
    this.#setFlag('incremental-marking-hard-trigger', 1);
    // Garbage, like that of the start.
    this.#collected.register({}, null);
  }

  /**
   * In one go: while everything is new, V8 would double it more than once between two looks. It does so when many objects survived: here
   * they do, and are garbage soon.
   */
  #growYoung(): void {
    const survivors: unknown[][] = [];
    for (let n = 0; n < survivorsAtMost && youngRoom() < youngBytes.calm; n += 1)
      survivors[n % survivorsKept] = new Array(survivorBytes / 8);
  }

  #setFlag(flag: string, value: number): void {
    if (this.#flags.get(flag) === value) return;
    this.#flags.set(flag, value);
    setFlagsFromString(`--${flag}=${value}`);
  }
}
