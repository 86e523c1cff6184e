// The audit log: what people asked for, written before it is done, and its outcome; beside it what the guard did by itself.
import { type Selectable, sql } from 'kysely';
import type { Action } from '../core/action.ts';
import type { AlertChanges } from '../core/alert.ts';
import type { CommandEnd, CommandEntry, CommandName, Requester } from '../core/operator-command.ts';
import type { EpochMs } from '../core/time.ts';
import type { Reason } from '../core/verdict.ts';
import type { Gate } from './database.ts';
import { inPieces, storedAction } from './rows.ts';
import type { Db, Tables } from './schema/tables.ts';
import { writeAlerts } from './writes.ts';

/** A command that begins. */
export interface CommandBegin extends CommandName, Requester {
  readonly at: EpochMs;
}

export interface CommandSettlement {
  readonly id: number;
  readonly end: CommandEnd;
  readonly outcome: string;
  readonly at: EpochMs;
  /** Who is notified of it. */
  readonly alerts: AlertChanges;
}

/** What is asked of the audit log; all that is given must fit. */
export interface HistoryQuery<Id> {
  readonly since: EpochMs;
  /** Only what comes behind this in the list: of an earlier moment, or of the same with a lower id. null, or absent: from the newest on. */
  readonly before?: { readonly at: EpochMs; readonly id: Id } | null;
  /** Under all ids that its address had. */
  readonly mailbox: { readonly account: string; readonly ids: readonly string[] } | null;
  /** Of commands: who asked for them. null, or absent: anybody. */
  readonly by?: string | null;
  /** The operation of a command, or the kind of an action. null, or absent: any. */
  readonly operation?: string | null;
  /** Of actions: why they were decided. null, or absent: for any reason. */
  readonly reason?: Reason | null;
  readonly limit: number;
}

export class AuditLog {
  readonly #gate: Gate;

  constructor(gate: Gate) {
    this.#gate = gate;
  }

  /** A person asks for something: written down before it is done. Returns the id of the new line. */
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

  /** The outcome of a command, and who is notified of it. */
  async endCommand({ id, end, outcome, at, alerts }: CommandSettlement): Promise<void> {
    await this.#gate.write(async (trx) => {
      const ended = { result: end, outcome, ended_at: at };
      await trx.updateTable('operator_commands').set(ended).where('id', '=', id).execute();
      await writeAlerts(trx, alerts);
    });
  }

  /** Commands without an outcome, oldest first: the process that began them ended before it. */
  unendedCommands(): Promise<readonly CommandEntry[]> {
    return this.#gate.read(async (db) => {
      const begun = db.selectFrom('operator_commands').select(commandColumns).where('result', 'is', null);
      return withMailboxes(db, await begun.orderBy('id').execute());
    });
  }

  /** Commands, the newest first. */
  commands(query: HistoryQuery<number>): Promise<readonly CommandEntry[]> {
    return this.#gate.read((db) => loadCommands(db, query));
  }

  /** What the guard did by itself, the newest first. */
  guardActions(query: HistoryQuery<string>): Promise<readonly Action[]> {
    return this.#gate.read((db) => loadGuardActions(db, query));
  }
}

/** The newest first. */
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
  if (before) {
    const { at, id } = before;
    query = query.where('at', '<=', at).where((row) => row.or([row('at', '<', at), row('id', '<', id)]));
  }
  return withMailboxes(db, await query.orderBy('at', 'desc').orderBy('id', 'desc').limit(limit).execute());
}

/** What the guard did by itself, the newest first. */
export async function loadGuardActions(
  db: Db,
  { since, before, mailbox, operation, reason, limit }: HistoryQuery<string>,
): Promise<readonly Action[]> {
  let query = db.selectFrom('actions').select(['id', 'action']).where('planned_at', '>=', since);
  if (mailbox) query = query.where('account', '=', mailbox.account).where('mailbox_id', 'in', mailbox.ids);
  if (before) {
    const { at, id } = before;
    query = query
      .where('planned_at', '<=', at)
      .where((row) => row.or([row('planned_at', '<', at), row('id', '<', id)]));
  }
  if (operation != null) query = query.where(sql<boolean>`json_extract(action, '$.kind') = ${operation}`);
  // A word of the closed set stands in an action once: in its verdict.
  if (reason != null) query = query.where('action', 'like', `%"reason":"${reason}"%`);
  // What a person asked for is a command of theirs.
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
