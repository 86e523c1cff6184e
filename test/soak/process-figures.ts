// What a process holds, sample by sample, from its own metrics.
import type { Scrape } from '../support/scrape.ts';
import { type Flatness, flatnessOf } from './flatness.ts';

const memorySlack = { rss: { share: 0.1, plus: 16e6 }, heap: { share: 0.25, plus: 16e6 } };

export class ProcessFigures {
  readonly #rss: number[] = [];
  readonly #heap: number[] = [];
  readonly #files: number[] = [];
  readonly #resources: number[] = [];

  take({ samples }: Scrape): void {
    const of = (name: string) => samples.find((one) => one.name === name)?.value ?? Number.NaN;
    this.#rss.push(of('process_resident_memory_bytes'));
    this.#heap.push(of('nodejs_heap_size_used_bytes'));
    this.#files.push(of('process_open_fds'));
    const active = samples.filter(({ name }) => name === 'nodejs_active_resources' || name === 'nodejs_active_handles');
    this.#resources.push(active.reduce((sum, { value }) => sum + value, 0));
  }

  /** Memory tells something once pools, pages and caches are full: after some minutes. */
  report(): Record<'rss' | 'heap' | 'files' | 'resources', Flatness> {
    return {
      rss: flatnessOf(this.#rss, memorySlack.rss),
      heap: flatnessOf(this.#heap, memorySlack.heap),
      files: flatnessOf(this.#files, { share: 0, plus: 8 }),
      resources: flatnessOf(this.#resources, { share: 0, plus: 8 }),
    };
  }
}
