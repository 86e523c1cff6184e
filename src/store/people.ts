// Settings by people: silences, write stops, and the sessions of signed-in browsers.
import type { Action } from '../core/action.ts';
import type { Silence } from '../core/alert.ts';
import type { Session, SessionLimits } from '../core/records.ts';
import type { EpochMs } from '../core/time.ts';
import { isOff, scopeKey, scopesOver, type WritesOff } from '../core/write-scope.ts';
import type { Gate } from './database.ts';
import { parsed, storedWritesOff, upsert } from './rows.ts';
import type { Db } from './schema/tables.ts';

/** Year 9999. */
const latestMoment = Date.UTC(9999, 0, 1);

/** An expired silence stays until the next upkeep. */
export function writeSilence(trx: Db, silence: Silence): Promise<void> {
  const { id, until, repeats } = silence;
  // A last window that began before the end of the repetition ends after it.
  const last = repeats ? (repeats.ends ?? latestMoment) + until - silence.from : until;
  return upsert(trx, 'silences', [{ id, until: last, silence: JSON.stringify(silence) }]);
}

export async function loadSilences(db: Db): Promise<readonly Silence[]> {
  const rows = await db.selectFrom('silences').select(['id', 'silence']).orderBy('until').execute();
  return rows.map(({ id, silence }) => parsed<Silence>(silence, 'silences', { id }));
}

export async function loadWritesOff(db: Db): Promise<readonly WritesOff[]> {
  return (await db.selectFrom('writes_off').selectAll().execute()).map(storedWritesOff);
}

export async function writesOffOver(
  db: Db,
  { account, mailboxId }: Pick<Action, 'account' | 'mailboxId'>,
  now: EpochMs,
): Promise<WritesOff | null> {
  const keys = scopesOver(account, mailboxId).map(scopeKey);
  const rows = await db.selectFrom('writes_off').selectAll().where('scope', 'in', keys).execute();
  return rows.map(storedWritesOff).find((off) => isOff(off, now)) ?? null;
}

// Sessions of signed-in browsers. They are read on every request, so that a sign-out takes effect at once.

export class StoredSessions {
  readonly #gate: Gate;

  constructor(gate: Gate) {
    this.#gate = gate;
  }

  async find(id: string): Promise<Session | null> {
    const row = await this.#gate.read((db) =>
      db.selectFrom('sessions').selectAll().where('id', '=', id).executeTakeFirst(),
    );
    return row ? { id, token: row.token, startedAt: row.started_at, usedAt: row.used_at } : null;
  }

  /** Deletes expired sessions, and the least recently used ones of the same token above the limit. */
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

  /** Corrects a start in the future: a clock that was ahead must not prolong a session. */
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
