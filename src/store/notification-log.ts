// What people were notified of: the alerts that were announced to them, and when each group was sent last.
import type { Announcement } from '../core/alert.ts';
import type { NotificationLog, NotificationLogChanges } from '../core/outbox.ts';
import type { EpochMs } from '../core/time.ts';
import { inPieces, lastOfEach } from './pieces.ts';
import { parsed } from './rows.ts';
import type { Db } from './schema/tables.ts';

export async function loadNotificationLog(db: Db): Promise<NotificationLog> {
  const announcements = await db.selectFrom('announcements').selectAll().execute();
  const groups = await db.selectFrom('notified_groups').selectAll().execute();
  return {
    announcements: announcements.map(({ fingerprint, announcement }) =>
      parsed<Announcement>(announcement, 'announcements', { fingerprint }),
    ),
    groups: groups.map((row) => ({ group: row.group_name, at: row.notified_at })),
  };
}

/** Within the caller's transaction. */
export async function writeNotificationLog(
  trx: Db,
  { announced, ended, groups }: NotificationLogChanges,
  now: EpochMs,
): Promise<void> {
  await inPieces(ended, (some) => trx.deleteFrom('announcements').where('fingerprint', 'in', some).execute());
  const newest = lastOfEach(announced, ({ fingerprint }) => fingerprint);
  await inPieces(newest, (some) =>
    trx
      .insertInto('announcements')
      .values(some.map((one) => ({ fingerprint: one.fingerprint, announcement: JSON.stringify(one) })))
      .onConflict((conflict) =>
        conflict.column('fingerprint').doUpdateSet((of) => ({ announcement: of.ref('excluded.announcement') })),
      )
      .execute(),
  );
  await inPieces([...new Set(groups)], (some) =>
    trx
      .insertInto('notified_groups')
      .values(some.map((group) => ({ group_name: group, notified_at: now })))
      .onConflict((conflict) => conflict.column('group_name').doUpdateSet({ notified_at: now }))
      .execute(),
  );
}
