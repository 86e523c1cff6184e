// The browsers that signed in. Read on every request of theirs, so that a sign-out holds at once.
import type { Session, SessionLimits } from '../core/session.ts';
import type { EpochMs } from '../core/time.ts';
import type { Gate } from './gate.ts';

export class StoredSessions {
  readonly #gate: Gate;

  constructor(gate: Gate) {
    this.#gate = gate;
  }

  /** null: there is none, or it ended. */
  async find(id: string): Promise<Session | null> {
    const row = await this.#gate.read((db) =>
      db.selectFrom('sessions').selectAll().where('id', '=', id).executeTakeFirst(),
    );
    return row ? { id, token: row.token, startedAt: row.started_at, usedAt: row.used_at } : null;
  }

  /** A new one. Those that are over are forgotten, and of the same token the one that was not used for the longest. */
  async start({ id, token, startedAt, usedAt }: Session, limits: SessionLimits): Promise<void> {
    const { startedAfter, usedAfter, perToken } = limits;
    await this.#gate.write(async (trx) => {
      await trx
        .deleteFrom('sessions')
        .where((is) => is.or([is('started_at', '<=', startedAfter), is('used_at', '<=', usedAfter)]))
        .execute();
      await trx.insertInto('sessions').values({ id, token, started_at: startedAt, used_at: usedAt }).execute();
      const kept = trx
        .selectFrom('sessions')
        .select('id')
        .where('token', '=', token)
        .orderBy('used_at', 'desc')
        .limit(perToken);
      await trx.deleteFrom('sessions').where('token', '=', token).where('id', 'not in', kept).execute();
    });
  }

  /** It has begun by then, too: a clock that was ahead makes no session last longer. */
  async used(id: string, at: EpochMs): Promise<void> {
    await this.#gate.write((trx) =>
      trx
        .updateTable('sessions')
        .set((is) => ({
          used_at: at,
          started_at: is.case().when('started_at', '>', at).then(at).else(is.ref('started_at')).end(),
        }))
        .where('id', '=', id)
        .execute(),
    );
  }

  async end(id: string): Promise<void> {
    await this.#gate.write((trx) => trx.deleteFrom('sessions').where('id', '=', id).execute());
  }
}
