// The audit log: what people asked for, written before it is done, and what came of it. What takes a `trx` belongs into a transaction.
import { type Kysely, sql } from 'kysely';
import type { Action } from '../model/action.ts';
import type { CommandEnd, CommandEntry, CommandName, MailboxName, Requester } from '../model/operator-command.ts';
import type { EpochMs } from '../model/time.ts';
import type { Tables } from './schema.ts';
import { storedAction } from './stored.ts';

type Db = Kysely<Tables>;

/** A command that begins. */
export interface CommandBegin extends CommandName, Requester {
  readonly at: EpochMs;
}

export interface CommandSettlement {
  readonly id: number;
  readonly end: CommandEnd;
  readonly outcome: string;
  readonly at: EpochMs;
}

/** What is asked of the audit log; all that is given must fit. */
export interface HistoryQuery {
  readonly since: EpochMs;
  /** Under all ids that its address had. */
  readonly mailbox: { readonly account: string; readonly ids: readonly string[] } | null;
  readonly limit: number;
}

/** SQLite takes 32,766 parameters a statement; this stays far below. */
const rowsAStatement = 500;

/** Returns the id of the new line. */
export async function beginCommand(trx: Db, { at, by, reason, name, command, account, mailboxes }: CommandBegin) {
  const { id } = await trx
    .insertInto('operator_commands')
    .values({ at, by, reason, name, command, account, result: null, ended_at: null, outcome: '' })
    .returning('id')
    .executeTakeFirstOrThrow();
  for (let from = 0; from < mailboxes.length; from += rowsAStatement) {
    const some = mailboxes.slice(from, from + rowsAStatement);
    const rows = some.map((one) => ({ command_id: id, account: one.account, mailbox_id: one.id, email: one.email }));
    await trx.insertInto('command_mailboxes').values(rows).execute();
  }
  return id;
}

export async function endCommand(trx: Db, { id, end, outcome, at }: CommandSettlement): Promise<void> {
  const ended = { result: end, outcome, ended_at: at };
  await trx.updateTable('operator_commands').set(ended).where('id', '=', id).execute();
}

/** Those that no outcome was written of, oldest first. */
export async function unendedCommands(db: Db): Promise<readonly CommandEntry[]> {
  const rows = await db.selectFrom('operator_commands').selectAll().where('result', 'is', null).orderBy('id').execute();
  return withMailboxes(db, rows);
}

/** The newest first. */
export async function loadCommands(db: Db, { since, mailbox, limit }: HistoryQuery): Promise<readonly CommandEntry[]> {
  let query = db.selectFrom('operator_commands').selectAll().where('at', '>=', since);
  if (mailbox) {
    const about = db
      .selectFrom('command_mailboxes')
      .select('command_id')
      .where('account', '=', mailbox.account)
      .where('mailbox_id', 'in', mailbox.ids);
    query = query.where('id', 'in', about);
  }
  return withMailboxes(db, await query.orderBy('id', 'desc').limit(limit).execute());
}

/** What the guard did by itself, the newest first. */
export async function loadGuardActions(db: Db, { since, mailbox, limit }: HistoryQuery): Promise<readonly Action[]> {
  let query = db.selectFrom('actions').select(['id', 'action']).where('planned_at', '>=', since);
  if (mailbox) query = query.where('account', '=', mailbox.account).where('mailbox_id', 'in', mailbox.ids);
  // What a person asked for is a command of theirs.
  const guards = query.where(sql<boolean>`json_extract(action, '$.by') IS NULL`);
  const rows = await guards.orderBy('planned_at', 'desc').orderBy('id', 'desc').limit(limit).execute();
  return rows.map(storedAction);
}

interface CommandRow {
  readonly id: number;
  readonly at: number;
  readonly by: string;
  readonly name: string;
  readonly command: string;
  readonly account: string | null;
  readonly reason: string;
  readonly result: string | null;
  readonly ended_at: number | null;
  readonly outcome: string;
}

async function withMailboxes(db: Db, rows: readonly CommandRow[]): Promise<readonly CommandEntry[]> {
  const named = new Map<number, MailboxName[]>();
  for (let from = 0; from < rows.length; from += rowsAStatement) {
    const ids = rows.slice(from, from + rowsAStatement).map(({ id }) => id);
    const found = await db.selectFrom('command_mailboxes').selectAll().where('command_id', 'in', ids).execute();
    for (const { command_id, account, mailbox_id: id, email } of found)
      named.set(command_id, [...(named.get(command_id) ?? []), { account, id, email }]);
  }
  return rows.map(({ result, ended_at: endedAt, ...row }) => ({
    ...row,
    end: result as CommandEnd | null,
    endedAt,
    mailboxes: named.get(row.id) ?? [],
  }));
}
