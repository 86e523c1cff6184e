// History: commands of people, actions of the guard, decisions, and changes by others.
import { type Selectable, sql } from 'kysely';
import type { Action } from '../core/action.ts';
import type { AlertChanges } from '../core/alert.ts';
import type { Change, MailboxName, MailboxState } from '../core/mailbox.ts';
import type { CommandEnd, CommandEntry, CommandName, Requester } from '../core/operator-command.ts';
import {
  type DecisionDay,
  type DecisionSpan,
  type HistoryQuery,
  type MailboxEntries,
  withLatestCounts,
} from '../core/records.ts';
import type { EpochMs } from '../core/time.ts';
import type { Verdict } from '../core/verdict.ts';
import type { Gate } from './database.ts';
import { isAfter, parsed, storedAction } from './rows.ts';
import type { Db, Tables } from './schema/tables.ts';
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

  beginCommand(begin: CommandBegin): Promise<number> {
    const { at, by, name } = begin;
    const entry: StoredEntry = { ...begin, end: null, endedAt: null, outcome: '' };
    return this.#gate.write(async (trx) => {
      const row = { at, by, name, result: null, entry: JSON.stringify(entry) };
      const inserted = trx.insertInto('operator_commands').values(row).returning('id');
      return (await inserted.executeTakeFirstOrThrow()).id;
    });
  }

  async endCommand({ id, end, outcome, at, alerts }: CommandSettlement): Promise<void> {
    await this.#gate.write(async (trx) => {
      const find = trx.selectFrom('operator_commands').select(['id', 'entry']).where('id', '=', id);
      await writeEntry(trx, { ...storedEntry(await find.executeTakeFirstOrThrow()), end, outcome, endedAt: at });
      await writeAlerts(trx, alerts);
    });
  }

  /** Their process ended before they did. */
  unendedCommands(): Promise<readonly CommandEntry[]> {
    return this.#gate.read(async (db) => {
      const begun = db.selectFrom('operator_commands').select(['id', 'entry']).where('result', 'is', null);
      return (await begun.orderBy('id').execute()).map(storedEntry);
    });
  }

  commands({ since, before, mailbox, by, limit }: HistoryQuery<number>): Promise<readonly CommandEntry[]> {
    return this.#gate.read(async (db) => {
      let query = db.selectFrom('operator_commands').select(['id', 'entry']).where('at', '>=', since);
      if (by != null) query = query.where('by', '=', by);
      if (mailbox) query = query.where(namesAny(mailbox.account, mailbox.ids));
      if (before) query = query.where(isAfter(['at', 'id'], [before.at, before.id]));
      return (await query.orderBy('at', 'desc').orderBy('id', 'desc').limit(limit).execute()).map(storedEntry);
    });
  }

  guardActions(query: HistoryQuery<string>): Promise<readonly Action[]> {
    return this.#gate.read((db) => loadGuardActions(db, query));
  }
}

type StoredEntry = Omit<CommandEntry, 'id'>;

const storedEntry = ({ id, entry }: { readonly id: number; readonly entry: string }): CommandEntry => ({
  ...parsed<StoredEntry>(entry, 'operator_commands', { id }),
  id,
});

async function writeEntry(trx: Db, { id, ...entry }: CommandEntry): Promise<void> {
  const row = { result: entry.end, entry: JSON.stringify(entry) };
  await trx.updateTable('operator_commands').set(row).where('id', '=', id).execute();
}

/** Matches the entries that name one of the mailboxes. LIKE would take an underscore for any letter. */
function namesAny(account: string, ids: readonly string[]) {
  const names = ids.map((id) => `{"account":${JSON.stringify(account)},"id":${JSON.stringify(id)},`);
  return sql<boolean>`(${sql.join(
    names.map((name) => sql`replace(entry, ${name}, '') <> entry`),
    sql` OR `,
  )})`;
}

/** Changes the names of mailboxes of an account in all commands; `change` returns null to leave one out. */
export async function changeNames(
  db: Db,
  account: string,
  change: (name: MailboxName) => MailboxName | null,
): Promise<void> {
  const named = db.selectFrom('operator_commands').select(['id', 'entry']);
  for (const row of await named.where('entry', 'like', `%"account":${JSON.stringify(account)}%`).execute()) {
    const entry = storedEntry(row);
    const mailboxes = entry.mailboxes.flatMap((name) => (name.account === account ? (change(name) ?? []) : name));
    await writeEntry(db, { ...entry, mailboxes });
  }
}

export async function loadGuardActions(
  db: Db,
  { since, before, mailbox, limit }: HistoryQuery<string>,
): Promise<readonly Action[]> {
  let query = db.selectFrom('actions').select(['id', 'action']).where('planned_at', '>=', since);
  if (mailbox) query = query.where('account', '=', mailbox.account).where('mailbox_id', 'in', mailbox.ids);
  if (before) query = query.where(isAfter(['planned_at', 'id'], [before.at, before.id]));
  // Actions with a requester are excluded: they are listed as commands.
  const guards = query.where(sql<boolean>`json_extract(action, '$.by') IS NULL`);
  const rows = await guards.orderBy('planned_at', 'desc').orderBy('id', 'desc').limit(limit).execute();
  return rows.map(storedAction);
}

export async function loadEntries(
  db: Db,
  mailbox: MailboxState,
  { until, limit }: { readonly until: EpochMs; readonly limit: number },
): Promise<MailboxEntries> {
  const ids = [mailbox.id, ...(mailbox.memory?.formerIds ?? [])];
  const newestOf = async <Table extends 'decisions' | 'actions' | 'changes'>(
    table: Table,
    at: string,
    order: string,
  ) => {
    const { rows } = await sql<Selectable<Tables[Table]>>`
      SELECT * FROM ${sql.table(table)} WHERE account = ${mailbox.account} AND mailbox_id IN (${sql.join(ids)})
      AND ${sql.ref(at)} <= ${until} ORDER BY ${sql.ref(order)} DESC LIMIT ${limit}`.execute(db);
    return rows;
  };
  const decisions = await newestOf('decisions', 'since', 'id');
  const actions = await newestOf('actions', 'planned_at', 'planned_at');
  const changes = await newestOf('changes', 'at', 'id');
  const [newest] = await db
    .selectFrom('decisions')
    .select('id')
    .where('account', '=', mailbox.account)
    .where('mailbox_id', '=', mailbox.id)
    .orderBy('id', 'desc')
    .limit(1)
    .execute();
  return {
    decisions: decisions.map((row) =>
      row.id === newest?.id ? withLatestCounts(readDecision(row), mailbox) : readDecision(row),
    ),
    actions: actions.map(storedAction),
    changes: changes.map(({ id, change }) => parsed<Change>(change, 'changes', { id })),
  };
}

function readDecision({ id, since, until, judged, ...row }: Selectable<Tables['decisions']>): DecisionSpan {
  const json = <Value>(text: string) => parsed<Value>(text, 'decisions', { id });
  return {
    ...{ since, until, count: judged, firstSent: row.first_sent, verdict: json<Verdict>(row.verdict) },
    ...{ days: json<readonly DecisionDay[]>(row.days), firstDays: json<readonly DecisionDay[]>(row.first_days) },
  };
}
