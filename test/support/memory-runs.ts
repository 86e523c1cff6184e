// Runs of recipes that are kept in memory, for tests without a store.
import { hasEnded, type Run, type RunPlace } from '../../src/core/recipe.ts';
import type { EpochMs } from '../../src/core/time.ts';
import type { RowChunk, RunStore } from '../../src/store/runs.ts';

export class MemoryRuns implements RunStore {
  readonly #runs = new Map<string, Run>();
  readonly #chunks = new Map<string, RowChunk[]>();

  async write(run: Run, chunks: readonly RowChunk[] = []): Promise<'written' | 'no_room'> {
    this.#runs.set(run.id, run);
    this.#chunks.set(run.id, [...(this.#chunks.get(run.id) ?? []), ...chunks]);
    return 'written';
  }
  async read(id: string): Promise<Run | null> {
    return this.#runs.get(id) ?? null;
  }
  async chunks(id: string, offset: number, limit: number): Promise<readonly RowChunk[]> {
    const all = this.#chunks.get(id) ?? [];
    return all.filter(({ firstRow, count }) => firstRow + count > offset).slice(0, limit);
  }
  async newest(recipe: string, limit: number, before: RunPlace | null = null): Promise<readonly Run[]> {
    const runs = [...this.#runs.values()].filter((run) => run.recipe === recipe).reverse();
    const from = before === null ? 0 : runs.findIndex(({ id }) => id === before.id) + 1;
    return runs.slice(from, from + limit);
  }
  async unended(): Promise<readonly Run[]> {
    return [...this.#runs.values()].filter((run) => !hasEnded(run));
  }
  async pruneOne(before: EpochMs): Promise<boolean> {
    const old = [...this.#runs.values()].find((run) => hasEnded(run) && run.createdAt < before);
    if (old) this.#chunks.delete(old.id);
    return old !== undefined && this.#runs.delete(old.id);
  }
}
