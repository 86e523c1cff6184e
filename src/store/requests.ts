// What one replica asks of another, because the other guards the account: asked, taken once, and answered.
import type { EpochMs } from '../core/time.ts';
import type { Gate } from './gate.ts';
import { parsed } from './schema/stored.ts';

export interface NewRequest {
  readonly id: string;
  /** Who may take it: whoever holds this scope, or the replica of this id. */
  readonly target: string;
  readonly askedAt: EpochMs;
  /** It is not taken any more from this moment on. */
  readonly expiresAt: EpochMs;
  /** JSON. */
  readonly asked: unknown;
}

export interface TakenRequest<Asked> {
  readonly id: string;
  readonly asked: Asked;
}

/** How far a request has come. */
export interface RequestState<Outcome> {
  /** The id of the replica that began it. */
  readonly takenBy: string | null;
  readonly outcome: Outcome | null;
}

/** Outcomes are kept this long: whoever asked has them by then, or is gone. */
const keptMs = 60 * 60_000;
/** So many are taken at once. */
const mostAtOnce = 20;

export class StoredRequests {
  readonly #gate: Gate;

  constructor(gate: Gate) {
    this.#gate = gate;
  }

  /** Calls the listener, soon and perhaps more often than needed, after a request was made or answered by another process. */
  listen(listener: () => void): void {
    this.#gate.listen(listener);
  }

  async ask({ id, target, askedAt, expiresAt, asked }: NewRequest): Promise<void> {
    const row = { id, target, asked_at: askedAt, expires_at: expiresAt, asked: JSON.stringify(asked) };
    await this.#gate.write(async (trx) => {
      await trx
        .deleteFrom('requests')
        .where('asked_at', '<', askedAt - keptMs)
        .execute();
      await trx
        .insertInto('requests')
        .values({ ...row, taken_by: null, outcome: null })
        .execute();
      await this.#gate.notify(trx);
    });
  }

  /** Takes what is for one of these targets and nobody has taken. Nobody else gets it from now on, whatever becomes of it. */
  async take<Asked>(
    targets: readonly string[],
    { by, now }: { readonly by: string; readonly now: EpochMs },
  ): Promise<readonly TakenRequest<Asked>[]> {
    const waiting = await this.#gate.read((db) =>
      db
        .selectFrom('requests')
        .select('id')
        .where('taken_by', 'is', null)
        .where('target', 'in', targets)
        .where('expires_at', '>', now)
        .orderBy('asked_at')
        .limit(mostAtOnce)
        .execute(),
    );
    if (waiting.length === 0) return [];
    const ids = waiting.map(({ id }) => id);
    const rows = await this.#gate.write((trx) =>
      trx
        .updateTable('requests')
        .set({ taken_by: by })
        .where('id', 'in', ids)
        .where('taken_by', 'is', null)
        .returning(['id', 'asked'])
        .execute(),
    );
    return rows.map(({ id, asked }) => ({ id, asked: parsed<Asked & object>(asked, 'requests', { id }) }));
  }

  async finish(id: string, by: string, outcome: unknown): Promise<void> {
    await this.#gate.write(async (trx) => {
      const done = trx.updateTable('requests').set({ outcome: JSON.stringify(outcome) });
      await done.where('id', '=', id).where('taken_by', '=', by).execute();
      await this.#gate.notify(trx);
    });
  }

  /** null: there is none any more. */
  state<Outcome extends object>(id: string): Promise<RequestState<Outcome> | null> {
    return this.#gate.read(async (db) => {
      const query = db.selectFrom('requests').select(['taken_by', 'outcome']).where('id', '=', id);
      const row = await query.executeTakeFirst();
      if (!row) return null;
      const { taken_by: takenBy, outcome } = row;
      return { takenBy, outcome: outcome === null ? null : parsed<Outcome>(outcome, 'requests', { id }) };
    });
  }

  /** From now on nobody takes it. False when somebody has. */
  async withdraw(id: string): Promise<boolean> {
    return this.#gate.write(async (trx) => {
      const gone = trx.deleteFrom('requests').where('id', '=', id).where('taken_by', 'is', null);
      const { numDeletedRows } = await gone.executeTakeFirst();
      return numDeletedRows > 0n;
    });
  }
}
