// What people know and what they do not want to hear: announcements, when each group was told, and silences.
import type { Kysely } from 'kysely';
import type { Announcement, Silence } from '../model/alert.ts';
import type { TellingChanges, TellingMemory } from '../model/outbox.ts';
import type { EpochMs } from '../model/time.ts';
import { parsed } from './parsed.ts';
import { inPieces } from './pieces.ts';
import type { Tables } from './schema.ts';

type Db = Kysely<Tables>;

export async function loadTelling(db: Db): Promise<TellingMemory> {
  const announcements = await db.selectFrom('announcements').selectAll().execute();
  const groups = await db.selectFrom('told_groups').selectAll().execute();
  return {
    announcements: announcements.map(({ fingerprint, announcement }) =>
      parsed<Announcement>(announcement, 'announcements', { fingerprint }),
    ),
    groups: groups.map((row) => ({ group: row.group_name, at: row.told_at })),
  };
}

/** Within the caller's transaction. */
export async function writeTelling(trx: Db, { announced, ended, groups }: TellingChanges, now: EpochMs): Promise<void> {
  await inPieces(ended, (some) => trx.deleteFrom('announcements').where('fingerprint', 'in', some).execute());
  await inPieces(announced, (some) =>
    trx
      .insertInto('announcements')
      .values(some.map((one) => ({ fingerprint: one.fingerprint, announcement: JSON.stringify(one) })))
      .onConflict((conflict) =>
        conflict.column('fingerprint').doUpdateSet((of) => ({ announcement: of.ref('excluded.announcement') })),
      )
      .execute(),
  );
  await inPieces(groups, (some) =>
    trx
      .insertInto('told_groups')
      .values(some.map((group) => ({ group_name: group, told_at: now })))
      .onConflict((conflict) => conflict.column('group_name').doUpdateSet({ told_at: now }))
      .execute(),
  );
}

/** New, or changed: expired ones have their end as `until`. Within the caller's transaction. */
export async function recordSilence(trx: Db, silence: Silence, now: EpochMs): Promise<void> {
  const changing = { until: silence.until, silence: JSON.stringify(silence) };
  // Who silenced what stays in the audit log.
  await trx.deleteFrom('silences').where('until', '<=', now).execute();
  await trx
    .insertInto('silences')
    .values({ id: silence.id, ...changing })
    .onConflict((conflict) => conflict.column('id').doUpdateSet(changing))
    .execute();
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
