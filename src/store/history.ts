// History: commands of people, actions of the guard, decisions, and changes by others.
import { type Selectable, sql } from 'kysely';
import type { Action } from '../core/action.ts';
import type { AlertChanges } from '../core/alert.ts';
import { type DecisionDay, goingOn, type HeldSpan, type RecordedDecision } from '../core/decision.ts';
import type { Change, MailboxState } from '../core/mailbox.ts';
import type { CommandEnd, CommandEntry, CommandName, Requester } from '../core/operator-command.ts';
import type { HistoryQuery } from '../core/records.ts';
import { dayMs, type EpochMs } from '../core/time.ts';
import type { Verdict } from '../core/verdict.ts';
import type { Gate } from './database.ts';
import { inPieces, isAfter, parsed, storedAction } from './rows.ts';
import { type Db, isHeld, type Tables } from './schema/tables.ts';
import { writeAlerts } from './writes.ts';

export interface CommandBegin extends CommandName, Requester {
  readonly at: EpochMs;
}

export interface CommandSettlement {
  readonly id: number;
  readonly end: CommandEnd;
  readonly outcome: string;
  readonly at: EpochMs;
  readonly alerts: AlertChanges;
}

export class AuditLog {
  readonly #gate: Gate;

  constructor(gate: Gate) {
    this.#gate = gate;
  }

  /** Records a command before it runs. Returns the id of the new entry. */
  beginCommand({ at, by, reason, name, command, account, mailboxes }: CommandBegin): Promise<number> {
    return this.#gate.write(async (trx) => {
      const { id } = await trx
        .insertInto('operator_commands')
        .values({ at, by, reason, name, command, account, result: null, ended_at: null, outcome: '' })
        .returning('id')
        .executeTakeFirstOrThrow();
      const rows = mailboxes.map((one) => ({
        ...{ command_id: id, account: one.account },
        ...{ mailbox_id: one.id, email: one.email },
      }));
      await inPieces(rows, (some) => trx.insertInto('command_mailboxes').values(some).execute());
      return id;
    });
  }

  async endCommand({ id, end, outcome, at, alerts }: CommandSettlement): Promise<void> {
    await this.#gate.write(async (trx) => {
      const ended = { result: end, outcome, ended_at: at };
      await trx.updateTable('operator_commands').set(ended).where('id', '=', id).execute();
      await writeAlerts(trx, alerts);
    });
  }

  /** Commands without an outcome, oldest first: their process ended before they did. */
  unendedCommands(): Promise<readonly CommandEntry[]> {
    return this.#gate.read(async (db) => {
      const begun = db.selectFrom('operator_commands').select(commandColumns).where('result', 'is', null);
      return withMailboxes(db, await begun.orderBy('id').execute());
    });
  }

  commands(query: HistoryQuery<number>): Promise<readonly CommandEntry[]> {
    return this.#gate.read((db) => loadCommands(db, query));
  }

  guardActions(query: HistoryQuery<string>): Promise<readonly Action[]> {
    return this.#gate.read((db) => loadGuardActions(db, query));
  }
}

async function loadCommands(
  db: Db,
  { since, before, mailbox, by, operation, limit }: HistoryQuery<number>,
): Promise<readonly CommandEntry[]> {
  let query = db.selectFrom('operator_commands').select(commandColumns).where('at', '>=', since);
  if (by != null) query = query.where('by', '=', by);
  if (operation != null) query = query.where('name', '=', operation);
  if (mailbox) {
    const about = db
      .selectFrom('command_mailboxes')
      .select('command_id')
      .where('account', '=', mailbox.account)
      .where('mailbox_id', 'in', mailbox.ids);
    query = query.where('id', 'in', about);
  }
  if (before) query = query.where(isAfter(['at', 'id'], [before.at, before.id]));
  return withMailboxes(db, await query.orderBy('at', 'desc').orderBy('id', 'desc').limit(limit).execute());
}

export async function loadGuardActions(
  db: Db,
  { since, before, mailbox, operation, reason, limit }: HistoryQuery<string>,
): Promise<readonly Action[]> {
  let query = db.selectFrom('actions').select(['id', 'action']).where('planned_at', '>=', since);
  if (mailbox) query = query.where('account', '=', mailbox.account).where('mailbox_id', 'in', mailbox.ids);
  if (before) query = query.where(isAfter(['planned_at', 'id'], [before.at, before.id]));
  if (operation != null) query = query.where(sql<boolean>`json_extract(action, '$.kind') = ${operation}`);
  // The JSON of an action contains a reason once, in its verdict.
  if (reason != null) query = query.where('action', 'like', `%"reason":"${reason}"%`);
  // Actions with a requester are excluded: they are listed as commands.
  const guards = query.where(sql<boolean>`json_extract(action, '$.by') IS NULL`);
  const rows = await guards.orderBy('planned_at', 'desc').orderBy('id', 'desc').limit(limit).execute();
  return rows.map(storedAction);
}

const commandColumns = [
  ...(['id', 'at', 'by', 'name', 'command', 'account', 'reason', 'result', 'ended_at', 'outcome'] as const),
];

type CommandRow = Pick<Selectable<Tables['operator_commands']>, (typeof commandColumns)[number]>;

async function withMailboxes(db: Db, rows: readonly CommandRow[]): Promise<readonly CommandEntry[]> {
  const named: Selectable<Tables['command_mailboxes']>[] = [];
  await inPieces(rows, async (some) => {
    const ids = some.map(({ id }) => id);
    named.push(...(await db.selectFrom('command_mailboxes').selectAll().where('command_id', 'in', ids).execute()));
  });
  const ofCommand = Map.groupBy(named, ({ command_id }) => command_id);
  return rows.map(({ result, ended_at: endedAt, ...row }) => ({
    ...row,
    end: result as CommandEnd | null,
    endedAt,
    mailboxes: (ofCommand.get(row.id) ?? []).map(({ account, mailbox_id: id, email }) => ({ account, id, email })),
  }));
}

// Decisions, actions and changes of a mailbox, including the earlier ids of its address.

export interface MailboxEntries {
  readonly decisions: readonly RecordedDecision[];
  readonly actions: readonly Action[];
  readonly changes: readonly Change[];
}

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

const decisionColumns = [
  ...['id', 'since', 'until', 'judged'],
  ...['verdict', 'days', 'first_sent', 'first_days'],
] as const satisfies readonly (keyof Tables['decisions'])[];

type DecisionRow = Pick<Selectable<Tables['decisions']>, (typeof decisionColumns)[number]>;

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

  /** Spans in which mailboxes were held, and which ended at a moment or later. */
  held(since: EpochMs): Promise<readonly HeldSpan[]> {
    return this.#gate.read((db) =>
      db
        .selectFrom('decisions')
        .select(['account', 'mailbox_id as id', 'since', 'until'])
        .where(isHeld)
        .where('until', '>=', since)
        .execute(),
    );
  }
}
