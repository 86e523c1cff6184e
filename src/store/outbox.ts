// The outbox: transitions waiting to be told, and deliveries waiting to be sent. What takes a `trx` belongs into a transaction.
import { setImmediate as turn } from 'node:timers/promises';
import type { Kysely, Selectable } from 'kysely';
import type { Transition } from '../model/alert.ts';
import type { Delivery, DeliveryState, NewDelivery, StoredTransition, WhichUndelivered } from '../model/delivery.ts';
import type { DeliveryRecord, DeliverySettlement, OutboxCount } from '../model/outbox.ts';
import { dayMs, type EpochMs } from '../model/time.ts';
import { setMeta } from './migrations.ts';
import { parsed } from './parsed.ts';
import { inPieces, rowsAPiece } from './pieces.ts';
import type { Tables } from './schema.ts';
import { storedAction } from './stored.ts';
import { writeTelling } from './telling.ts';

type Db = Kysely<Tables>;

/** Read in pieces, with a turn of the event loop between two: a storm has thousands. */
export async function untoldTransitions(db: Db, limit: number): Promise<readonly StoredTransition[]> {
  const untold: StoredTransition[] = [];
  while (untold.length < limit) {
    const rows = await db
      .selectFrom('transitions')
      .select(['id', 'transition'])
      .where('told', '=', 0)
      .where('id', '>', untold.at(-1)?.id ?? 0)
      .orderBy('id')
      .limit(Math.min(rowsAPiece, limit - untold.length))
      .execute();
    untold.push(...rows.map(({ id, transition }) => ({ id, transition: storedTransition(transition, id) })));
    if (rows.length < rowsAPiece) break;
    await turn();
  }
  return untold;
}

const storedTransition = (json: string, id: number) => parsed<Transition>(json, 'transitions', { id });

export async function recordDeliveries(trx: Db, record: DeliveryRecord): Promise<void> {
  await inPieces(record.transitionIds, (ids) =>
    trx.updateTable('transitions').set({ told: 1 }).where('id', 'in', ids).execute(),
  );
  if (record.telling) await writeTelling(trx, record.telling, record.now);
  for (const delivery of record.deliveries) await insertDelivery(trx, delivery, record.now);
}

async function insertDelivery(trx: Db, delivery: NewDelivery, now: EpochMs): Promise<void> {
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
      created_at: now,
      next_attempt_at: now,
      settled_at: null,
      detail: null,
      alerts: JSON.stringify(delivery.alerts),
      begun_at: null,
      receipt: null,
    })
    .execute();
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

/** Before an attempt that must not be repeated blindly. */
export async function beginDelivery(trx: Db, id: string, now: EpochMs): Promise<void> {
  await trx.updateTable('deliveries').set({ begun_at: now }).where('id', '=', id).execute();
}

export async function settleDelivery(trx: Db, settle: DeliverySettlement): Promise<void> {
  const { receipt } = settle;
  await trx
    .updateTable('deliveries')
    .set((of) => ({
      state: settle.state,
      attempts: of('attempts', '+', receipt === undefined ? 1 : 0),
      next_attempt_at: settle.nextAttemptAt ?? settle.now,
      settled_at: settle.state === 'pending' ? null : settle.now,
      detail: settle.detail,
      begun_at: null,
      ...(receipt === undefined ? {} : { receipt }),
    }))
    .where('id', '=', settle.id)
    .execute();
}

/** Deliveries that were given up, in the order of sending. */
export function undelivered(
  db: Db,
  { channel, delivery }: WhichUndelivered,
): Promise<readonly { readonly id: string; readonly channel: string }[]> {
  let dead = db.selectFrom('deliveries').select(['id', 'channel']).where('state', '=', 'dead');
  if (channel !== null) dead = dead.where('channel', '=', channel);
  if (delivery !== null) dead = dead.where('id', '=', delivery);
  return dead.orderBy('channel').orderBy('sequence').execute();
}

/** A person wants these sent once more, as they were and under their ids. Returns how many still were given up, by channel. */
export async function resendDeliveries(
  trx: Db,
  wanted: readonly string[],
  now: EpochMs,
): Promise<readonly { readonly channel: string; readonly count: number }[]> {
  const counts = new Map<string, number>();
  const again = {
    state: 'pending',
    attempts: 0,
    next_attempt_at: now,
    settled_at: null,
    begun_at: null,
    receipt: null,
  };
  await inPieces(wanted, async (ids) => {
    const dead = trx.updateTable('deliveries').set(again).where('id', 'in', ids).where('state', '=', 'dead');
    for (const { channel } of await dead.returning('channel').execute())
      counts.set(channel, (counts.get(channel) ?? 0) + 1);
  });
  return [...counts].map(([channel, count]) => ({ channel, count }));
}

/** One entry for every channel with something pending, or given up since `deadSince`. */
export async function outboxState(db: Db, deadSince: EpochMs): Promise<readonly OutboxCount[]> {
  const rows = await db
    .selectFrom('deliveries')
    .select((of) => ['channel', 'state', of.fn.countAll<number>().as('count'), of.fn.min('created_at').as('oldest')])
    .where((where) =>
      where.or([
        where('state', '=', 'pending'),
        where.and([where('state', '=', 'dead'), where('settled_at', '>=', deadSince)]),
      ]),
    )
    .groupBy(['channel', 'state'])
    .execute();
  return [...new Set(rows.map(({ channel }) => channel))].map((channel) => {
    const of = (state: DeliveryState) => rows.find((row) => row.channel === channel && row.state === state);
    const pending = of('pending');
    return {
      channel,
      pending: Number(pending?.count ?? 0),
      oldestPendingAt: pending?.oldest ?? null,
      givenUp: Number(of('dead')?.count ?? 0),
    };
  });
}

const digestKey = 'digested_until';
/** What one digest is made of at most; it shows far less. */
const maxDigested = 5_000;

export async function digestedUntil(db: Db): Promise<EpochMs | null> {
  const row = await db.selectFrom('meta').select('value').where('key', '=', digestKey).executeTakeFirst();
  return row ? Number(row.value) : null;
}

/** Actions that were settled, and messages that were given up, since the moment; oldest first. */
export async function digestFacts(db: Db, since: EpochMs) {
  const actions = await db
    .selectFrom('actions')
    .select(['id', 'action'])
    .where('planned_at', '>=', since - dayMs)
    .orderBy('planned_at')
    .limit(maxDigested)
    .execute();
  const givenUp = await db
    .selectFrom('deliveries')
    .selectAll()
    .where('state', '=', 'dead')
    .where('settled_at', '>=', since)
    .orderBy('settled_at')
    .limit(maxDigested)
    .execute();
  return {
    actions: actions
      .map(storedAction)
      .filter(({ settledAt, state }) => settledAt !== null && settledAt >= since && state !== 'dropped'),
    givenUp: givenUp.map(readDelivery),
  };
}

export async function recordDigest(
  trx: Db,
  record: { readonly deliveries: readonly NewDelivery[]; readonly until: EpochMs },
): Promise<void> {
  for (const delivery of record.deliveries) await insertDelivery(trx, delivery, record.until);
  await setMeta(trx, digestKey, String(record.until));
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
    alerts: parsed(row.alerts, 'deliveries', { id: row.id }),
    begunAt: row.begun_at,
    receipt: row.receipt,
  };
}
