// What the fleet's days are counted from: how often the guard acted, and which mailboxes it held.
import { sql } from 'kysely';
import type { HeldSpan } from '../core/decision.ts';
import { dayMs, type EpochMs } from '../core/time.ts';
import { nextTurn } from '../world/world.ts';
import type { Gate } from './gate.ts';
import { isHeld } from './schema/tables.ts';

/** How many actions of the guard were confirmed, by the UTC day on which they were planned (days since 1970). */
export interface ActedDay {
  readonly day: number;
  readonly count: number;
}

/** In a storm all mailboxes are held: others get a turn between two reads of so many. */
const spansARead = 500;

export class FleetDays {
  readonly #gate: Gate;

  constructor(gate: Gate) {
    this.#gate = gate;
  }

  /** Days since a moment on which the guard acted. */
  acted(since: EpochMs): Promise<readonly ActedDay[]> {
    return this.#gate.read(async (db) => {
      const rows = await db
        .selectFrom('actions')
        .select([sql<number>`planned_at / ${sql.lit(dayMs)}`.as('day'), (of) => of.fn.countAll<number>().as('count')])
        .where('planned_at', '>=', since)
        .where('state', '=', 'confirmed')
        .where(sql<boolean>`json_extract(action, '$.by') IS NULL`)
        .groupBy('day')
        .execute();
      return rows.map(({ day, count }) => ({ day: Number(day), count: Number(count) }));
    });
  }

  /** When mailboxes were held, as far as it was at a moment or later: in pieces, those that ended first first. */
  async *held(since: EpochMs): AsyncGenerator<readonly HeldSpan[]> {
    let [until, id] = [since, 0];
    for (;;) {
      const rows = await this.#gate.read((db) =>
        db
          .selectFrom('decisions')
          .select(['id', 'account', 'mailbox_id', 'since', 'until'])
          .where(isHeld)
          .where((is) => is(is.refTuple('until', 'id'), '>', is.tuple(until, id)))
          .orderBy('until')
          .orderBy('id')
          .limit(spansARead)
          .execute(),
      );
      yield rows.map((row) => ({ account: row.account, id: row.mailbox_id, since: row.since, until: row.until }));
      const last = rows.at(-1);
      if (rows.length < spansARead || !last) return;
      [until, id] = [last.until, last.id];
      await nextTurn();
    }
  }
}
