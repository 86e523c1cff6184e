// A migration: guard_held belongs to an API. Earlier versions named it after the account that stood first in the file, so
// that there may be several for one API. What people know of them goes over to the one that is left.
import { type Kysely, sql } from 'kysely';
import type { Tables } from './tables.ts';

type Db = Kysely<Tables>;

const rule = 'guard_held';

/** `guard_held|ACCOUNT||API`, as earlier versions wrote it, becomes `guard_held|||API`. */
function renamed(fingerprint: string): string {
  return `${rule}|||${fingerprint.split('|').slice(3).join('|')}`;
}

export async function heldByApi(db: Db): Promise<void> {
  await renameAlerts(db);
  await renameAnnouncements(db);
  await renameUnnotified(db);
}

/** Of several alerts for one API the one that fires, and of those the newest, has the facts of now. */
async function renameAlerts(db: Db): Promise<void> {
  const rows = await db.selectFrom('alerts').selectAll().where('fingerprint', 'like', `${rule}|%`).execute();
  const age = (alert: { firingAt: number | null }) => alert.firingAt ?? Number.NEGATIVE_INFINITY;
  const alerts = rows.map((row) => JSON.parse(row.alert)).sort((a, b) => age(a) - age(b));
  const left = new Map(alerts.map((alert) => [renamed(alert.fingerprint), alert]));
  await db.deleteFrom('alerts').where('fingerprint', 'like', `${rule}|%`).execute();
  for (const [fingerprint, alert] of left) {
    const moved = JSON.stringify({ ...alert, fingerprint, account: '' });
    await db
      .insertInto('alerts')
      .values({ fingerprint, account: '', mailbox_id: null, status: alert.status, alert: moved })
      .execute();
  }
}

/** Whoever was notified of one of them is notified of the end. null: by a version that did not remember whom. */
async function renameAnnouncements(db: Db): Promise<void> {
  const rows = await db.selectFrom('announcements').selectAll().where('fingerprint', 'like', `${rule}|%`).execute();
  const known = rows.map((row) => JSON.parse(row.announcement)).sort((a, b) => a.at - b.at);
  await db.deleteFrom('announcements').where('fingerprint', 'like', `${rule}|%`).execute();
  for (const [fingerprint, ofApi] of Map.groupBy(known, (one) => renamed(one.fingerprint))) {
    const forgotten = ofApi.some(({ channels }) => channels === null);
    const channels = forgotten ? null : [...new Set(ofApi.flatMap((one) => one.channels))];
    const announcement = JSON.stringify({ ...ofApi.at(-1), fingerprint, channels });
    await db.insertInto('announcements').values({ fingerprint, announcement }).execute();
  }
}

/** What was not announced yet is announced under the new name, so that it is known under that one. */
async function renameUnnotified(db: Db): Promise<void> {
  const rows = await db.selectFrom('transitions').select(['id', 'transition']).where(sql.ref('told'), '=', 0).execute();
  for (const { id, transition: text } of rows) {
    const transition = JSON.parse(text);
    if (transition.alert.rule !== rule) continue;
    const alert = { ...transition.alert, fingerprint: renamed(transition.alert.fingerprint), account: '' };
    await db
      .updateTable('transitions')
      .set({ transition: JSON.stringify({ ...transition, alert }) })
      .where('id', '=', id)
      .execute();
  }
}
