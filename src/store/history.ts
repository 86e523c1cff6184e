// Decisions, actions and changes by others about a mailbox, including the earlier ids of its address.
import { type Selectable, sql } from 'kysely';
import type { Action } from '../core/action.ts';
import { type DecisionDay, goingOn, type HeldSpan, type RecordedDecision } from '../core/decision.ts';
import type { Change, MailboxState } from '../core/mailbox.ts';
import { dayMs, type EpochMs } from '../core/time.ts';
import type { Verdict } from '../core/verdict.ts';
import { nextTurn } from '../world/world.ts';
import type { Gate } from './database.ts';
import { parsed, storedAction } from './rows.ts';
import { type Db, isHeld, type Tables } from './schema/tables.ts';

export interface MailboxEntries {
  /** Newest first. */
  readonly decisions: readonly RecordedDecision[];
  readonly actions: readonly Action[];
  /** Changes that others made. */
  readonly changes: readonly Change[];
}

/** Reads the entries up to a moment, at most `limit` of each kind. */
export async function loadEntries(
  db: Db,
  mailbox: MailboxState,
  { until, limit }: { readonly until: EpochMs; readonly limit: number },
): Promise<MailboxEntries> {
  const ids = [mailbox.id, ...(mailbox.memory?.formerIds ?? [])];
  const decisions = await db
    .selectFrom('decisions')
    .select(decisionColumns)
    .where('account', '=', mailbox.account)
    .where('mailbox_id', 'in', ids)
    .where('since', '<=', until)
    .orderBy('id', 'desc')
    .limit(limit)
    .execute();
  const actions = await db
    .selectFrom('actions')
    .select(['id', 'action'])
    .where('account', '=', mailbox.account)
    .where('mailbox_id', 'in', ids)
    .where('planned_at', '<=', until)
    .orderBy('planned_at', 'desc')
    .limit(limit)
    .execute();
  const changes = await db
    .selectFrom('changes')
    .select(['id', 'change'])
    .where('account', '=', mailbox.account)
    .where('mailbox_id', 'in', ids)
    .where('at', '<=', until)
    .orderBy('id', 'desc')
    .limit(limit)
    .execute();
  const { newest } = await db
    .selectFrom('decisions')
    .select((of) => of.fn.max<number | null>('id').as('newest'))
    .where('account', '=', mailbox.account)
    .where('mailbox_id', '=', mailbox.id)
    .executeTakeFirstOrThrow();
  return {
    decisions: decisions.map((row) => (row.id === newest ? goingOn(readDecision(row), mailbox) : readDecision(row))),
    actions: actions.map(storedAction),
    changes: changes.map(({ id, change }) => parsed<Change>(change, 'changes', { id })),
  };
}

// Reads decisions as the spans that people see.

/** Columns for `readDecision`. */
const decisionColumns = [
  ...['id', 'since', 'until', 'judged'],
  ...['verdict', 'days', 'first_sent', 'first_days'],
] as const satisfies readonly (keyof Tables['decisions'])[];

type DecisionRow = Pick<Selectable<Tables['decisions']>, (typeof decisionColumns)[number]>;

/** The newest decisions on a mailbox, newest first. */
export async function loadDecisions(
  db: Db,
  mailbox: { readonly account: string; readonly id: string },
  limit: number,
): Promise<readonly RecordedDecision[]> {
  const rows = await db
    .selectFrom('decisions')
    .select(decisionColumns)
    .where('account', '=', mailbox.account)
    .where('mailbox_id', '=', mailbox.id)
    .orderBy('id', 'desc')
    .limit(limit)
    .execute();
  return rows.map(readDecision);
}

/** Throws DamagedRowError. */
function readDecision({ id, since, until, judged, ...row }: DecisionRow): RecordedDecision {
  const json = <Value>(text: string) => parsed<Value>(text, 'decisions', { id });
  return {
    ...{ since, until, count: judged, firstSent: row.first_sent, verdict: json<Verdict>(row.verdict) },
    ...{ days: json<readonly DecisionDay[]>(row.days), firstDays: json<readonly DecisionDay[]>(row.first_days) },
  };
}

// Data for the daily statistics of the fleet: actions of the guard per day, and held mailboxes.

/** Number of confirmed actions of the guard, by the UTC day of planning (days since 1970). */
export interface ActedDay {
  readonly day: number;
  readonly count: number;
}

/** Spans per read. If all mailboxes are held, other work runs between two reads. */
const spansARead = 500;

export class FleetDays {
  readonly #gate: Gate;

  constructor(gate: Gate) {
    this.#gate = gate;
  }

  /** Days since a moment on which the guard acted, with their counts. */
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

  /** Spans in which mailboxes were held, and which ended at a moment or later. Yields batches, ordered by end. */
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
