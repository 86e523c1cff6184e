// Runs of recipes and their rows, in chunks of JSON text that nobody reads until somebody asks for them.
import { hasEnded, type Run } from '../model/recipe.ts';
import type { EpochMs } from '../model/time.ts';
import type { Gate } from './gate.ts';
import { parsed } from './parsed.ts';

/** Consecutive rows of a run. */
export interface RowChunk {
  readonly firstRow: number;
  readonly count: number;
  /** A JSON array of rows, each an array in the order of the run's columns. */
  readonly rows: string;
}

/** What is left of a run after its retention, so that "gone" is not "never there": kept this much longer. */
const rememberedMs = 366 * 24 * 60 * 60_000;

export class StoredRuns {
  readonly #gate: Gate;

  constructor(gate: Gate) {
    this.#gate = gate;
  }

  /** The run as it is now, and rows that were added to it. */
  async write(run: Run, chunks: readonly RowChunk[] = []): Promise<void> {
    const changing = { ended: hasEnded(run) ? 1 : 0, run: JSON.stringify(run) };
    await this.#gate.write(async (trx) => {
      await trx
        .insertInto('runs')
        .values({ id: run.id, recipe: run.recipe, created_at: run.createdAt, ...changing })
        .onConflict((conflict) => conflict.column('id').doUpdateSet(changing))
        .execute();
      for (const { firstRow, count, rows } of chunks) {
        await trx.insertInto('run_rows').values({ run_id: run.id, first_row: firstRow, count, rows }).execute();
      }
    });
  }

  /** null: there never was one, or nobody remembers. */
  read(id: string): Promise<Run | 'pruned' | null> {
    return this.#gate.read(async (db) => {
      const row = await db.selectFrom('runs').select('run').where('id', '=', id).executeTakeFirst();
      if (!row) return null;
      return row.run === null ? 'pruned' : parsed<Run>(row.run, 'runs', { id });
    });
  }

  /** The next chunks that hold rows from `offset` on, at most `limit` chunks. */
  chunks(id: string, offset: number, limit: number): Promise<readonly RowChunk[]> {
    return this.#gate.read(async (db) => {
      const rows = await db
        .selectFrom('run_rows')
        .select(['first_row', 'count', 'rows'])
        .where('run_id', '=', id)
        .where((of) => of(of('first_row', '+', of.ref('count')), '>', offset))
        .orderBy('first_row')
        .limit(limit)
        .execute();
      return rows.map((row) => ({ firstRow: row.first_row, count: row.count, rows: row.rows }));
    });
  }

  /** The newest first. */
  newest(recipe: string, limit: number): Promise<readonly Run[]> {
    return this.#gate.read(async (db) => {
      const rows = await db
        .selectFrom('runs')
        .select(['id', 'run'])
        .where('recipe', '=', recipe)
        .where('run', 'is not', null)
        .orderBy('created_at', 'desc')
        .orderBy('id', 'desc')
        .limit(limit)
        .execute();
      return rows.map(({ id, run }) => parsed<Run>(run ?? '', 'runs', { id }));
    });
  }

  /** Those that a process left behind when it ended. */
  unended(): Promise<readonly Run[]> {
    return this.#gate.read(async (db) => {
      const rows = await db.selectFrom('runs').select(['id', 'run']).where('ended', '=', 0).execute();
      return rows.flatMap(({ id, run }) => (run === null ? [] : [parsed<Run>(run, 'runs', { id })]));
    });
  }

  /** Deletes the oldest run from before that moment with its rows; false when there is none. One small transaction. */
  async pruneOne(before: EpochMs): Promise<boolean> {
    return this.#gate.write(async (trx) => {
      const old = await trx
        .selectFrom('runs')
        .select('id')
        .where('created_at', '<', before)
        .where('ended', '=', 1)
        .where('run', 'is not', null)
        .orderBy('created_at')
        .limit(1)
        .executeTakeFirst();
      if (old) {
        await trx.deleteFrom('run_rows').where('run_id', '=', old.id).execute();
        await trx.updateTable('runs').set({ run: null }).where('id', '=', old.id).execute();
      }
      await trx
        .deleteFrom('runs')
        .where('created_at', '<', before - rememberedMs)
        .where('run', 'is', null)
        .execute();
      return old !== undefined;
    });
  }
}
