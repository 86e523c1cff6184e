// Runs of recipes, and their rows in chunks of JSON text that are read only on request.
import { type Selectable, sql } from 'kysely';
import { hasEnded, type Run, type RunPlace } from '../core/recipe.ts';
import type { EpochMs } from '../core/time.ts';
import type { Gate } from './database.ts';
import { isAfter, parsed, upsert } from './rows.ts';
import type { Db, Tables } from './schema/tables.ts';

export interface RowChunk {
  readonly firstRow: number;
  readonly count: number;
  /** A JSON array of rows, each an array in the order of the run's columns. */
  readonly rows: string;
}

/** Limits for the size of runs and their rows. If a limit is reached, the oldest ended runs are deleted. */
export interface RunRoom {
  readonly ownerBytes: number;
  readonly bytes: number;
}

export const usualRoom: RunRoom = { ownerBytes: 128 * 1024 * 1024, bytes: 512 * 1024 * 1024 };

export type RunStore = Pick<StoredRuns, 'write' | 'read' | 'chunks' | 'newest' | 'unended' | 'pruneOne'>;

export class StoredRuns {
  readonly #gate: Gate;
  readonly #room: RunRoom;

  constructor(gate: Gate, room: RunRoom = usualRoom) {
    this.#gate = gate;
    this.#room = room;
  }

  /** Deletes the oldest ended runs to make room. A run without new rows is always written. */
  write(run: Run, chunks: readonly RowChunk[] = []): Promise<'written' | 'no_room'> {
    const changing = { ended: hasEnded(run) ? 1 : 0, run: JSON.stringify(run) };
    const rowBytes = chunks.reduce((sum, { rows }) => sum + Buffer.byteLength(rows), 0);
    return this.#gate.write(async (trx) => {
      const known = await trx.selectFrom('runs').select('bytes').where('id', '=', run.id).executeTakeFirst();
      // Growth of the run's own record during the run is negligible.
      const added = rowBytes + (known ? 0 : Buffer.byteLength(changing.run));
      const fits = added === 0 || (await this.#makeRoom(trx, run.by, added));
      if (!fits && rowBytes > 0) return 'no_room';
      const bytes = Number(known?.bytes ?? 0) + added;
      const { id, recipe, createdAt: created_at, by: owner } = run;
      await upsert(trx, 'runs', [{ id, recipe, created_at, owner, bytes, ...changing }]);
      for (const { firstRow, count, rows } of chunks) {
        await trx.insertInto('run_rows').values({ run_id: run.id, first_row: firstRow, count, rows }).execute();
      }
      return 'written';
    });
  }

  read(id: string): Promise<Run | null> {
    return this.#gate.read(async (db) => {
      const row = await db.selectFrom('runs').select(['id', 'run']).where('id', '=', id).executeTakeFirst();
      return row ? storedRun(row) : null;
    });
  }

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

  newest(recipe: string, limit: number, { before, by }: { before?: RunPlace | null; by?: string } = {}) {
    return this.#gate.read(async (db) => {
      let query = db.selectFrom('runs').select(['id', 'run']).where('recipe', '=', recipe);
      if (by !== undefined) query = query.where('owner', '=', by);
      if (before) query = query.where(isAfter(['created_at', 'id'], [before.createdAt, before.id]));
      const rows = await query.orderBy('created_at', 'desc').orderBy('id', 'desc').limit(limit).execute();
      return rows.map(storedRun);
    });
  }

  unended(): Promise<readonly Run[]> {
    return this.#gate.read(async (db) => {
      // A literal matches the partial index; a parameter would not.
      const rows = await db.selectFrom('runs').select(['id', 'run']).where('ended', '=', sql.lit(0)).execute();
      return rows.map(storedRun);
    });
  }

  /** Deletes the oldest ended run if it is older than `before`, or if the runs exceed their limit. */
  async pruneOne(before: EpochMs): Promise<boolean> {
    return this.#gate.write(async (trx) => {
      const old = await oldestEnded(trx, null);
      const isFull = (await totalBytes(trx, null)) > this.#room.bytes;
      const pruned = old !== null && (isFull || old.created_at < before);
      if (pruned) await prune(trx, old);
      return pruned;
    });
  }

  /** Returns false if no run is left to delete. */
  async #makeRoom(trx: Db, owner: string, added: number): Promise<boolean> {
    const limits = [
      [owner, this.#room.ownerBytes],
      [null, this.#room.bytes],
    ] as const;
    for (const [whose, most] of limits) {
      let excess = (await totalBytes(trx, whose)) + added - most;
      while (excess > 0) {
        const old = await oldestEnded(trx, whose);
        if (!old) return false;
        await prune(trx, old);
        excess -= Number(old.bytes);
      }
    }
    return true;
  }
}

const storedRun = ({ id, run }: { readonly id: string; readonly run: string }) => parsed<Run>(run, 'runs', { id });

type KeptRun = Pick<Selectable<Tables['runs']>, 'id' | 'bytes' | 'created_at'>;

async function totalBytes(db: Db, owner: string | null): Promise<number> {
  const sum = db.selectFrom('runs').select((of) => of.fn.sum<number | null>('bytes').as('bytes'));
  const row = await (owner === null ? sum.where('owner', '>', '') : sum.where('owner', '=', owner)).executeTakeFirst();
  return Number(row?.bytes ?? 0);
}

async function oldestEnded(db: Db, owner: string | null): Promise<KeptRun | null> {
  const ended = db.selectFrom('runs').select(['id', 'bytes', 'created_at']).where('ended', '=', 1);
  const theirs = owner === null ? ended : ended.where('owner', '=', owner);
  return (await theirs.where('created_at', '>=', 0).orderBy('created_at').limit(1).executeTakeFirst()) ?? null;
}

async function prune(db: Db, { id }: KeptRun): Promise<void> {
  await db.deleteFrom('run_rows').where('run_id', '=', id).execute();
  await db.deleteFrom('runs').where('id', '=', id).execute();
}
