// The outbox: transitions without a message, and messages that wait for delivery to a channel.
import type { Announcement, Transition } from '../core/alert.ts';
import {
  type Delivery,
  type DeliveryEvent,
  type DeliveryPlace,
  deliveryAfter,
  type ListedDelivery,
  type NewDelivery,
  pendingDelivery,
  publicState,
  type StoredTransition,
  type WhichUndelivered,
} from '../core/delivery.ts';
import type { Incident } from '../core/incident.ts';
import type {
  DeliveryRecord,
  DigestFacts,
  MutedNews,
  MutedNewsChanges,
  NotificationLog,
  NotificationLogChanges,
  OutboxCount,
} from '../core/records.ts';
import { dayMs, type EpochMs } from '../core/time.ts';
import type { Gate } from './database.ts';
import { inPieces, isAfter, parsed, storedAction, upsert } from './rows.ts';
import { metaOf, setMeta } from './schema/migrations.ts';
import type { Db } from './schema/tables.ts';

const digestKey = 'digested_until';
/** Largest number of entries that a digest is built from; it shows far fewer. */
const maxDigested = 5_000;

export class StoredOutbox {
  readonly #gate: Gate;

  constructor(gate: Gate) {
    this.#gate = gate;
  }

  unnotifiedTransitions(limit: number): Promise<readonly StoredTransition[]> {
    return this.#gate.read(async (db) => {
      const unnotified = db.selectFrom('transitions').select(['id', 'transition']).where('notified', '=', 0);
      return (await unnotified.orderBy('id').limit(limit).execute()).map(storedTransition);
    });
  }

  loadNotificationLog(): Promise<NotificationLog> {
    return this.#gate.read(async (db) => {
      const announcements = await db.selectFrom('announcements').selectAll().execute();
      const groups = await db.selectFrom('notified_groups').selectAll().execute();
      const muted = await db.selectFrom('muted_news').selectAll().execute();
      return {
        muted: muted.map(({ news, ...place }) => parsed<MutedNews>(news, 'muted_news', place)),
        announcements: announcements.map(({ fingerprint, announcement }) =>
          parsed<Announcement>(announcement, 'announcements', { fingerprint }),
        ),
        groups: groups.map((row) => ({ group: row.group_name, at: row.notified_at })),
      };
    });
  }

  recordDeliveries({
    transitionIds,
    notificationLog,
    incidents,
    muted,
    deliveries,
    now,
  }: DeliveryRecord): Promise<void> {
    return this.#gate.write(async (trx) => {
      await inPieces(transitionIds, (ids) =>
        trx.updateTable('transitions').set({ notified: 1 }).where('id', 'in', ids).execute(),
      );
      if (notificationLog) await writeNotificationLog(trx, notificationLog, now);
      if (incidents) await writeIncidents(trx, incidents);
      if (muted) await writeMutedNews(trx, muted);
      for (const delivery of deliveries) await insertDelivery(trx, delivery, now);
    });
  }

  pendingDeliveries(channel: string, limit: number): Promise<readonly Delivery[]> {
    return this.#gate.read(async (db) => {
      const pending = db.selectFrom('deliveries').select(deliveryColumns).where('channel', '=', channel);
      const rows = await pending.where('state', '=', 'pending').orderBy('sequence').limit(limit).execute();
      return rows.map(storedDelivery);
    });
  }

  /** Called before an attempt of a channel that sends once: the next process sees this after a crash. */
  beginDelivery(id: string, now: EpochMs): Promise<void> {
    return this.settleDelivery(id, { kind: 'begun', at: now });
  }

  async settleDelivery(id: string, event: DeliveryEvent): Promise<void> {
    await this.#gate.write((trx) => moveDelivery(trx, id, event));
  }

  undelivered({ channel, delivery }: WhichUndelivered): Promise<readonly Pick<Delivery, 'id' | 'channel'>[]> {
    return this.#gate.read((db) => {
      let undelivered = db.selectFrom('deliveries').select(['id', 'channel']).where('state', '=', 'undelivered');
      if (channel !== null) undelivered = undelivered.where('channel', '=', channel);
      if (delivery !== null) undelivered = undelivered.where('id', '=', delivery);
      return undelivered.orderBy('channel').orderBy('sequence').execute();
    });
  }

  /** The given deliveries that are still given up become pending again, with the same ids and bytes. */
  resendDeliveries(
    wanted: readonly string[],
    now: EpochMs,
  ): Promise<readonly { readonly channel: string; readonly count: number }[]> {
    return this.#gate.write(async (trx) => {
      const channels: string[] = [];
      await inPieces(wanted, async (ids) => {
        const undelivered = trx
          .selectFrom('deliveries')
          .select('id')
          .where('id', 'in', ids)
          .where('state', '=', 'undelivered');
        for (const { id } of await undelivered.execute())
          channels.push(await moveDelivery(trx, id, { kind: 'resent', at: now }));
      });
      return [...Map.groupBy(channels, String)].map(([channel, all]) => ({ channel, count: all.length }));
    });
  }

  /** Backlog of every channel with pending messages, or with messages given up since `since`, configured or not. */
  outboxState(since: EpochMs): Promise<readonly OutboxCount[]> {
    return this.#gate.read(async (db) => {
      const rows = await db
        .selectFrom('deliveries')
        .select((of) => [
          'channel',
          'state',
          of.fn.countAll<number>().as('count'),
          of.fn.min('created_at').as('oldest'),
        ])
        .where((where) =>
          where.or([
            where('state', '=', 'pending'),
            where.and([where('state', '=', 'undelivered'), where('settled_at', '>=', since)]),
          ]),
        )
        .groupBy(['channel', 'state'])
        .execute();
      return [...new Set(rows.map(({ channel }) => channel))].map((channel) => {
        const of = (state: 'pending' | 'undelivered') =>
          rows.find((row) => row.channel === channel && row.state === state);
        const pending = of('pending');
        return {
          channel,
          pending: Number(pending?.count ?? 0),
          oldestPendingAt: pending?.oldest ?? null,
          undelivered: Number(of('undelivered')?.count ?? 0),
        };
      });
    });
  }

  recentTransitions(limit: number, before?: number): Promise<readonly StoredTransition[]> {
    return this.#gate.read(async (db) => {
      const all = db.selectFrom('transitions').select(['id', 'transition']);
      const query = before === undefined ? all : all.where('id', '<', before);
      const rows = await query.orderBy('id', 'desc').limit(limit).execute();
      return rows.map(storedTransition);
    });
  }

  recentDeliveries(limit: number, before?: DeliveryPlace): Promise<readonly ListedDelivery[]> {
    return this.#gate.read(async (db) => {
      let query = db.selectFrom('deliveries').select(['id', 'delivery']);
      if (before) {
        const { createdAt, sequence, id } = before;
        query = query.where(isAfter(['created_at', 'sequence', 'id'], [createdAt, sequence, id]));
      }
      const inOrder = query.orderBy('created_at', 'desc').orderBy('sequence', 'desc').orderBy('id', 'desc');
      return (await inOrder.limit(limit).execute()).map(listedDelivery);
    });
  }

  digestedUntil(): Promise<EpochMs | null> {
    return this.#gate.read(async (db) => {
      const until = await metaOf(db, digestKey);
      return until === null ? null : Number(until);
    });
  }

  digestFacts(since: EpochMs): Promise<DigestFacts> {
    return this.#gate.read(async (db) => {
      const actions = await db
        .selectFrom('actions')
        .select(['id', 'action'])
        .where('planned_at', '>=', since - dayMs)
        .orderBy('planned_at')
        .limit(maxDigested)
        .execute();
      const undelivered = await db
        .selectFrom('deliveries')
        .select(deliveryColumns)
        .where('state', '=', 'undelivered')
        .where('settled_at', '>=', since)
        .orderBy('settled_at')
        .limit(maxDigested)
        .execute();
      return {
        actions: actions
          .map(storedAction)
          .filter(({ settledAt, state }) => settledAt !== null && settledAt >= since && state !== 'dropped'),
        undelivered: undelivered.map(storedDelivery),
      };
    });
  }

  recordDigest({ deliveries, until }: Pick<DeliveryRecord, 'deliveries'> & { readonly until: EpochMs }): Promise<void> {
    return this.#gate.write(async (trx) => {
      for (const delivery of deliveries) await insertDelivery(trx, delivery, until);
      await setMeta(trx, digestKey, String(until));
    });
  }
}

const storedTransition = ({ id, transition }: { readonly id: number; readonly transition: string }) => ({
  id,
  transition: parsed<Transition>(transition, 'transitions', { id }),
});

async function insertDelivery(trx: Db, delivery: NewDelivery, now: EpochMs): Promise<void> {
  const last = await trx
    .selectFrom('deliveries')
    .select((of) => of.fn.max('sequence').as('sequence'))
    .where('channel', '=', delivery.channel)
    .executeTakeFirst();
  const { payload, ...made } = pendingDelivery(delivery, now, (last?.sequence ?? 0) + 1);
  const { id, channel, sequence, createdAt: created_at } = made;
  await trx
    .insertInto('deliveries')
    .values({ id, channel, sequence, created_at, payload, ...bodyOf(made) })
    .execute();
}

const bodyOf = (delivery: ListedDelivery) => ({
  ...{ state: publicState(delivery), settled_at: delivery.settledAt },
  delivery: JSON.stringify(delivery),
});

async function moveDelivery(trx: Db, id: string, event: DeliveryEvent): Promise<string> {
  const find = trx.selectFrom('deliveries').select(['id', 'delivery']).where('id', '=', id);
  // The payload does not affect the transition, and can be half a megabyte.
  const before = { ...listedDelivery(await find.executeTakeFirstOrThrow()), payload: '' };
  const { payload: _, ...after } = deliveryAfter(before, event);
  await trx.updateTable('deliveries').set(bodyOf(after)).where('id', '=', id).execute();
  return after.channel;
}

const deliveryColumns = ['id', 'delivery', 'payload'] as const;

interface DeliveryRow {
  readonly id: string;
  readonly delivery: string;
}

const listedDelivery = ({ id, delivery }: DeliveryRow) => parsed<ListedDelivery>(delivery, 'deliveries', { id });

const storedDelivery = (row: DeliveryRow & { readonly payload: string }): Delivery => ({
  ...listedDelivery(row),
  payload: row.payload,
});

async function writeNotificationLog(
  trx: Db,
  { announced, ended, groups }: NotificationLogChanges,
  now: EpochMs,
): Promise<void> {
  await inPieces(ended, (some) => trx.deleteFrom('announcements').where('fingerprint', 'in', some).execute());
  const announcements = announced.map((one) => ({
    fingerprint: one.fingerprint,
    announcement: JSON.stringify(one),
  }));
  await upsert(trx, 'announcements', announcements);
  const notified = groups.map((group) => ({ group_name: group, notified_at: now }));
  await upsert(trx, 'notified_groups', notified);
}

async function writeMutedNews(trx: Db, { kept, dropped }: MutedNewsChanges): Promise<void> {
  for (const [channel, places] of Map.groupBy(dropped, (one) => one.channel)) {
    const all = places.map(({ about }) => about);
    await inPieces(all, (some) =>
      trx.deleteFrom('muted_news').where('channel', '=', channel).where('about', 'in', some).execute(),
    );
  }
  const rows = kept.map((one) => ({ channel: one.channel, about: one.about, news: JSON.stringify(one) }));
  await upsert(trx, 'muted_news', rows);
}

const endedLoaded = 50;

export async function loadIncidents(db: Db): Promise<readonly Incident[]> {
  const all = db.selectFrom('incidents').select(['id', 'incident']);
  const open = await all.where('ended_at', 'is', null).execute();
  const ended = await all.where('ended_at', 'is not', null).orderBy('ended_at', 'desc').limit(endedLoaded).execute();
  return [...open, ...ended].map(({ id, incident }) => parsed<Incident>(incident, 'incidents', { id }));
}

async function writeIncidents(trx: Db, incidents: readonly Incident[]): Promise<void> {
  await upsert(
    trx,
    'incidents',
    incidents.map((one) => ({
      ...{ id: one.id, began_at: one.beganAt, ended_at: one.endedAt },
      incident: JSON.stringify(one),
    })),
  );
}
