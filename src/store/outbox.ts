// The outbox: transitions waiting to be told, and deliveries waiting to be sent.
import type { Kysely, Selectable } from 'kysely';
import type { Delivery, DeliveryState, NewDelivery, StoredTransition } from '../model/delivery.ts';
import type { EpochMs } from '../model/time.ts';
import type { Tables } from './schema.ts';
import { type TellingChanges, writeTelling } from './telling.ts';

type Db = Kysely<Tables>;

/** What became of an attempt to send. `pending`: it is tried again at `nextAttemptAt`. */
export interface DeliverySettlement {
  readonly id: string;
  readonly state: DeliveryState;
  readonly now: EpochMs;
  readonly nextAttemptAt?: EpochMs;
  readonly detail: string | null;
}

export interface OutboxChannelState {
  readonly channel: string;
  readonly pending: number;
  readonly oldestPendingAt: EpochMs | null;
}

export async function untoldTransitions(db: Db, limit: number): Promise<readonly StoredTransition[]> {
  const rows = await db
    .selectFrom('transitions')
    .select(['id', 'transition'])
    .where('told', '=', 0)
    .orderBy('id')
    .limit(limit)
    .execute();
  return rows.map((row) => ({ id: row.id, transition: JSON.parse(row.transition) }));
}

/** SQLite takes 32,766 parameters a statement; this stays far below. */
const idsAStatement = 500;

export async function recordDeliveries(
  db: Db,
  record: {
    readonly transitionIds: readonly number[];
    readonly deliveries: readonly NewDelivery[];
    readonly telling?: TellingChanges;
    readonly now: EpochMs;
  },
): Promise<void> {
  await db.transaction().execute(async (trx) => {
    for (let from = 0; from < record.transitionIds.length; from += idsAStatement) {
      const ids = record.transitionIds.slice(from, from + idsAStatement);
      await trx.updateTable('transitions').set({ told: 1 }).where('id', 'in', ids).execute();
    }
    if (record.telling) await writeTelling(trx, record.telling, record.now);
    for (const delivery of record.deliveries) {
      const last = await trx
        .selectFrom('deliveries')
        .select((of) => of.fn.max('sequence').as('sequence'))
        .where('channel', '=', delivery.channel)
        .executeTakeFirst();
      await trx
        .insertInto('deliveries')
        .values({
          id: delivery.id,
          channel: delivery.channel,
          group_name: delivery.group,
          sequence: (last?.sequence ?? 0) + 1,
          payload: delivery.payload,
          title: delivery.title,
          state: 'pending',
          attempts: 0,
          created_at: record.now,
          next_attempt_at: record.now,
          settled_at: null,
          detail: null,
        })
        .execute();
    }
  });
}

export async function pendingDeliveries(db: Db, channel: string, limit: number): Promise<readonly Delivery[]> {
  const rows = await db
    .selectFrom('deliveries')
    .selectAll()
    .where('channel', '=', channel)
    .where('state', '=', 'pending')
    .orderBy('sequence')
    .limit(limit)
    .execute();
  return rows.map(readDelivery);
}

export async function settleDelivery(db: Db, settle: DeliverySettlement): Promise<void> {
  await db
    .updateTable('deliveries')
    .set((of) => ({
      state: settle.state,
      attempts: of('attempts', '+', 1),
      next_attempt_at: settle.nextAttemptAt ?? settle.now,
      settled_at: settle.state === 'pending' ? null : settle.now,
      detail: settle.detail,
    }))
    .where('id', '=', settle.id)
    .execute();
}

export async function outboxState(db: Db): Promise<readonly OutboxChannelState[]> {
  const rows = await db
    .selectFrom('deliveries')
    .select((of) => ['channel', of.fn.countAll<number>().as('pending'), of.fn.min('created_at').as('oldest')])
    .where('state', '=', 'pending')
    .groupBy('channel')
    .execute();
  return rows.map((row) => ({ channel: row.channel, pending: Number(row.pending), oldestPendingAt: row.oldest }));
}

export async function recentDeliveries(db: Db, limit: number): Promise<readonly Delivery[]> {
  const rows = await db
    .selectFrom('deliveries')
    .selectAll()
    .orderBy('created_at', 'desc')
    .orderBy('sequence', 'desc')
    .limit(limit)
    .execute();
  return rows.map(readDelivery);
}

function readDelivery(row: Selectable<Tables['deliveries']>): Delivery {
  return {
    id: row.id,
    channel: row.channel,
    group: row.group_name,
    sequence: row.sequence,
    payload: row.payload,
    title: row.title,
    state: row.state as DeliveryState,
    attempts: row.attempts,
    createdAt: row.created_at,
    nextAttemptAt: row.next_attempt_at,
    settledAt: row.settled_at,
    detail: row.detail,
  };
}
