// Runs that are kept for as long as the process lives: of a command that reads a store without its daemon.
import { hasEnded, type Run } from '../model/recipe.ts';
import type { EpochMs } from '../model/time.ts';
import type { RowChunk, StoredRuns } from '../store/runs.ts';

/** Where a book writes its runs: the store, or nowhere that lasts. */
export type RunLedger = Pick<StoredRuns, 'write' | 'read' | 'chunks' | 'newest' | 'unended' | 'pruneOne'>;

export class MemoryRuns implements RunLedger {
  readonly #runs = new Map<string, Run>();
  readonly #chunks = new Map<string, RowChunk[]>();

  async write(run: Run, chunks: readonly RowChunk[] = []): Promise<void> {
    this.#runs.set(run.id, run);
    this.#chunks.set(run.id, [...(this.#chunks.get(run.id) ?? []), ...chunks]);
  }
  async read(id: string): Promise<Run | null> {
    return this.#runs.get(id) ?? null;
  }
  async chunks(id: string, offset: number, limit: number): Promise<readonly RowChunk[]> {
    const all = this.#chunks.get(id) ?? [];
    return all.filter(({ firstRow, count }) => firstRow + count > offset).slice(0, limit);
  }
  async newest(recipe: string, limit: number): Promise<readonly Run[]> {
    const runs = [...this.#runs.values()].filter((run) => run.recipe === recipe);
    return runs.reverse().slice(0, limit);
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
