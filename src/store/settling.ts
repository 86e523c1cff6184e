// What a look at thousands of transitions changes is settled in pieces: one transaction would hold the event loop for tens of
// milliseconds. The pieces are written down first; a small transaction makes them count, together with the messages; then each is
// carried out. What a crash or a failure leaves is dropped or carried out before anything else is read or settled.
import type { Kysely } from 'kysely';
import type { DeliveryRecord, NotificationLogChanges } from '../core/outbox.ts';
import { ownTurn } from '../world/event-loop.ts';
import type { Gate } from './gate.ts';
import { writeNotificationLog } from './notification-log.ts';
import { inPieces } from './pieces.ts';
import { parsed } from './schema/stored.ts';
import type { Tables } from './schema/tables.ts';

type Db = Kysely<Tables>;

/** Transitions, announcements or groups of a piece: each of its transactions takes a few milliseconds. */
const changesAPiece = 250;

/** What a look settles, or a piece of it. */
interface Settlement extends NotificationLogChanges, Pick<DeliveryRecord, 'transitionIds' | 'now'> {}

export class Settling {
  readonly #gate: Gate;
  /** Nothing is left behind, as far as this process knows. */
  #isOver = false;

  constructor(gate: Gate) {
    this.#gate = gate;
  }

  /** Settles it in one transaction with `messages`, as far as anybody can tell who reads after `finish`. */
  async settle(settlement: Settlement, messages: (trx: Db) => Promise<void>): Promise<void> {
    await this.finish();
    const pieces = piecesOf(settlement);
    if (pieces.length <= 1) {
      return this.#gate.write(async (trx) => {
        for (const piece of pieces) await carryOut(trx, piece);
        await messages(trx);
      });
    }
    this.#isOver = false;
    await this.#inTurns(pieces, (trx, piece) => writeDown(trx, JSON.stringify(piece)));
    await this.#gate.write(async (trx) => {
      await writeDown(trx, null);
      await messages(trx);
    });
    // It counts. What can't be carried out now is before the next look.
    await this.finish().catch(() => {});
  }

  /** Carries out what counts and drops what does not. `another`: another process may have left it. */
  async finish(another = false): Promise<void> {
    if (this.#isOver && !another) return;
    const rows = await this.#gate.read((db) => db.selectFrom('settlements').select('id').orderBy('id').execute());
    if (rows.length > 0) {
      await this.#gate.write(dropUncounted);
      await this.#inTurns(rows, (trx, { id }) => carryOutStored(trx, id));
    }
    this.#isOver = true;
  }

  /** Each in a transaction and a turn of the event loop of its own. */
  async #inTurns<Row>(rows: readonly Row[], work: (trx: Db, row: Row) => Promise<void>): Promise<void> {
    for (const row of rows) {
      await ownTurn('patient');
      await this.#gate.write((trx) => work(trx, row));
    }
  }
}

/** In the order in which the rows lie in their tables, as far as that is known: a piece then touches few pages. */
function piecesOf({ transitionIds, announced, ended, groups, now }: Settlement): readonly Settlement[] {
  const inOrder = [...Float64Array.from(transitionIds).sort()];
  const most = Math.max(inOrder.length, announced.length, ended.length, groups.length);
  return Array.from({ length: Math.ceil(most / changesAPiece) }, (_, index) => {
    const [from, to] = [index * changesAPiece, (index + 1) * changesAPiece];
    return {
      transitionIds: inOrder.slice(from, to),
      announced: announced.slice(from, to),
      ended: ended.slice(from, to),
      groups: groups.slice(from, to),
      now,
    };
  });
}

async function carryOut(trx: Db, { transitionIds, now, ...changes }: Settlement): Promise<void> {
  await inPieces(transitionIds, (ids) =>
    trx.updateTable('transitions').set({ notified: 1 }).where('id', 'in', ids).execute(),
  );
  await writeNotificationLog(trx, changes, now);
}

/** null: what was written down before it counts. */
async function writeDown(trx: Db, settlement: string | null): Promise<void> {
  await trx.insertInto('settlements').values({ settlement }).execute();
}

async function dropUncounted(trx: Db): Promise<void> {
  const counted = trx.selectFrom('settlements').select('id').where('settlement', 'is', null).orderBy('id', 'desc');
  const last = await counted.limit(1).executeTakeFirst();
  await trx
    .deleteFrom('settlements')
    .where('id', '>', last?.id ?? 0)
    .execute();
}

async function carryOutStored(trx: Db, id: number): Promise<void> {
  const row = await trx.deleteFrom('settlements').where('id', '=', id).returning('settlement').executeTakeFirst();
  if (typeof row?.settlement === 'string')
    await carryOut(trx, parsed<Settlement>(row.settlement, 'settlements', { id }));
}
