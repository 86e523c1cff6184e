// What people set: silences, emergency stops, and the sessions of browsers that signed in.
import type { Action } from '../core/action.ts';
import type { Silence } from '../core/alert.ts';
import type { Session, SessionLimits } from '../core/session.ts';
import type { EpochMs } from '../core/time.ts';
import { isOff, scopeKey, scopesOver, type WritesOff } from '../core/write-scope.ts';
import type { Gate } from './database.ts';
import { parsed, storedWritesOff, upsert } from './rows.ts';
import type { Db } from './schema/tables.ts';

/** Writes a new silence, or one that changed: an expired one has its end as `until`. */
export async function writeSilence(trx: Db, silence: Silence, now: EpochMs): Promise<void> {
  // Who silenced what stays in the audit log.
  await trx.deleteFrom('silences').where('until', '<=', now).execute();
  await upsert(trx, 'silences', [{ id: silence.id, until: silence.until, silence: JSON.stringify(silence) }]);
}

/** Those that have not expired at that moment, by their end. */
export async function loadSilences(db: Db, now: EpochMs): Promise<readonly Silence[]> {
  const rows = await db
    .selectFrom('silences')
    .select(['id', 'silence'])
    .where('until', '>', now)
    .orderBy('until')
    .execute();
  return rows.map(({ id, silence }) => parsed<Silence>(silence, 'silences', { id }));
}

/** Also those that have expired and were not yet taken away. */
export async function loadWritesOff(db: Db): Promise<readonly WritesOff[]> {
  return (await db.selectFrom('writes_off').selectAll().execute()).map(storedWritesOff);
}

/** The one that covers the mailbox of an action at that moment; null: none does. */
export async function writesOffOver(
  db: Db,
  { account, mailboxId }: Pick<Action, 'account' | 'mailboxId'>,
  now: EpochMs,
): Promise<WritesOff | null> {
  const keys = scopesOver(account, mailboxId).map(scopeKey);
  const rows = await db.selectFrom('writes_off').selectAll().where('scope', 'in', keys).execute();
  return rows.map(storedWritesOff).find((off) => isOff(off, now)) ?? null;
}

// The browsers that signed in. Read on every request of theirs, so that a sign-out holds at once.

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
