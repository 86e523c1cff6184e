// The schema's history. A migration, once released, never changes; a newer store is refused.
import { type Kysely, sql } from 'kysely';
import { scopeKey, type WritesOff } from '../../model/write-scope.ts';
import { breakerEntries } from './breaker-entries.ts';
import { decisionSpans } from './decision-spans.ts';
import { departedByAddress } from './departed-by-address.ts';
import { growingLists } from './growing-lists.ts';
import { heldByApi } from './held-by-api.ts';
import { heldDecisions } from './held-decisions.ts';
import { incidents } from './incidents.ts';
import { ledgersTable } from './ledgers-table.ts';
import { runSizes } from './run-sizes.ts';
import { sessionsTable } from './sessions-table.ts';
import { settlements } from './settlements.ts';
import { sharedState } from './shared-state.ts';
import { storedWritesOff } from './stored.ts';
import type { Tables } from './tables.ts';

type Db = Kysely<Tables>;

const migrations: readonly ((db: Db) => Promise<void>)[] = [
  firstTables,
  notificationTables,
  deliverySteps,
  changesTable,
  runTables,
  deliveriesByState,
  operatorCommands,
  heldByApi,
  runSizes,
  auditLog,
  writeScopes,
  notifiedColumns,
  decisionSpans,
  growingLists,
  departedByAddress,
  sessionsTable,
  incidents,
  flatStats,
  sharedState,
  ledgersTable,
  heldDecisions,
  packedStats,
  settlements,
  breakerEntries,
];

/** The schema that this version writes. */
export const schemaVersion = migrations.length;

/** The store was written by a newer Warmwarden. Exit code 3. */
export class NewerStoreError extends Error {
  override readonly name = 'NewerStoreError';
}

/**
 * Brings the store to this version's schema, each step in a transaction of its own, or as `transact` has it. Throws
 * NewerStoreError.
 */
export async function migrate(
  db: Db,
  transact: (work: (trx: Db) => Promise<void>) => Promise<void> = (work) => db.transaction().execute(work),
): Promise<void> {
  await sql`CREATE TABLE IF NOT EXISTS meta (key text PRIMARY KEY, value text NOT NULL)`.execute(db);
  const current = await schemaOf(db);
  refuseNewer(current);
  for (const [index, step] of migrations.entries()) {
    if (index < current) continue;
    await transact(async (trx) => {
      await step(trx);
      await setMeta(trx, 'schema_version', String(index + 1));
    });
  }
}

/** Throws NewerStoreError for a schema that only a newer version knows. */
export function refuseNewer(version: number): void {
  if (version <= schemaVersion) return;
  throw new NewerStoreError(
    `The store has schema version ${version}, but this Warmwarden supports only ${schemaVersion}: start the newer version again, or use another store.`,
  );
}

/** The schema that a store has; 0: none yet. */
export async function schemaOf(db: Db): Promise<number> {
  return Number((await metaOf(db, 'schema_version')) ?? 0);
}

/** null: never set. */
export async function metaOf(db: Db, key: string): Promise<string | null> {
  const row = await db.selectFrom('meta').select('value').where('key', '=', key).executeTakeFirst();
  return row?.value ?? null;
}

export async function setMeta(db: Db, key: string, value: string): Promise<void> {
  await db
    .insertInto('meta')
    .values({ key, value })
    .onConflict((conflict) => conflict.column('key').doUpdateSet({ value }))
    .execute();
}

/** False when it is so already; whoever else sets it waits for the end of the transaction. */
export async function changeMeta(db: Db, key: string, value: string): Promise<boolean> {
  const set = db
    .insertInto('meta')
    .values({ key, value })
    .onConflict((conflict) => conflict.column('key').doUpdateSet({ value }).where('meta.value', '!=', value));
  return (await set.returning('key').execute()).length > 0;
}

async function changesTable(db: Db): Promise<void> {
  await db.schema
    .createTable('changes')
    .addColumn('id', 'integer', (column) => column.primaryKey().autoIncrement())
    .addColumn('account', 'text', (column) => column.notNull())
    .addColumn('mailbox_id', 'text', (column) => column.notNull())
    .addColumn('at', 'bigint', (column) => column.notNull())
    .addColumn('change', 'text', (column) => column.notNull())
    .execute();
  await db.schema.createIndex('changes_of_mailbox').on('changes').columns(['account', 'mailbox_id', 'id']).execute();
}

async function firstTables(db: Db): Promise<void> {
  const schema = db.schema;
  await schema
    .createTable('mailboxes')
    .addColumn('account', 'text', (column) => column.notNull())
    .addColumn('mailbox_id', 'text', (column) => column.notNull())
    .addColumn('email', 'text', (column) => column.notNull())
    .addColumn('first_seen_at', 'bigint', (column) => column.notNull())
    .addColumn('missing_lists', 'integer', (column) => column.notNull())
    .addColumn('left_at', 'bigint')
    .addColumn('memory', 'text')
    .addPrimaryKeyConstraint('mailboxes_key', ['account', 'mailbox_id'])
    .execute();
  await schema
    .createTable('observations')
    .addColumn('account', 'text', (column) => column.notNull())
    .addColumn('mailbox_id', 'text', (column) => column.notNull())
    .addColumn('route', 'text', (column) => column.notNull())
    .addColumn('observed_at', 'bigint', (column) => column.notNull())
    .addColumn('answer', 'text', (column) => column.notNull())
    .addPrimaryKeyConstraint('observations_key', ['account', 'mailbox_id', 'route'])
    .execute();
  await ledgerTables(db);
  await alertTables(db);
}

async function ledgerTables(db: Db): Promise<void> {
  const schema = db.schema;
  await schema
    .createTable('decisions')
    .addColumn('id', 'integer', (column) => column.primaryKey().autoIncrement())
    .addColumn('account', 'text', (column) => column.notNull())
    .addColumn('mailbox_id', 'text', (column) => column.notNull())
    .addColumn('since', 'bigint', (column) => column.notNull())
    .addColumn('until', 'bigint', (column) => column.notNull())
    .addColumn('judged', 'integer', (column) => column.notNull())
    .addColumn('action', 'text', (column) => column.notNull())
    .addColumn('reason', 'text', (column) => column.notNull())
    .addColumn('verdict', 'text', (column) => column.notNull())
    .addColumn('days', 'text', (column) => column.notNull())
    .execute();
  await schema.createIndex('decisions_of_mailbox').on('decisions').columns(['account', 'mailbox_id', 'id']).execute();
  await schema
    .createTable('actions')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('account', 'text', (column) => column.notNull())
    .addColumn('mailbox_id', 'text', (column) => column.notNull())
    .addColumn('state', 'text', (column) => column.notNull())
    .addColumn('planned_at', 'bigint', (column) => column.notNull())
    .addColumn('action', 'text', (column) => column.notNull())
    .execute();
  await schema
    .createTable('hands')
    .addColumn('id', 'integer', (column) => column.primaryKey().autoIncrement())
    .addColumn('at', 'bigint', (column) => column.notNull())
    .addColumn('by', 'text', (column) => column.notNull())
    .addColumn('wish', 'text', (column) => column.notNull())
    .addColumn('reason', 'text', (column) => column.notNull())
    .addColumn('outcome', 'text', (column) => column.notNull())
    .execute();
  await schema
    .createTable('writes_off')
    .addColumn('scope', 'text', (column) => column.primaryKey())
    .addColumn('off', 'text', (column) => column.notNull())
    .execute();
  await schema
    .createTable('breakers')
    .addColumn('api', 'text', (column) => column.primaryKey())
    .addColumn('state', 'text', (column) => column.notNull())
    .execute();
  await schema
    .createIndex('actions_of_mailbox')
    .on('actions')
    .columns(['account', 'mailbox_id', 'planned_at'])
    .execute();
}

async function alertTables(db: Db): Promise<void> {
  const schema = db.schema;
  await schema
    .createTable('alerts')
    .addColumn('fingerprint', 'text', (column) => column.primaryKey())
    .addColumn('account', 'text', (column) => column.notNull())
    .addColumn('mailbox_id', 'text')
    .addColumn('status', 'text', (column) => column.notNull())
    .addColumn('alert', 'text', (column) => column.notNull())
    .execute();
  await schema
    .createTable('transitions')
    .addColumn('id', 'integer', (column) => column.primaryKey().autoIncrement())
    .addColumn('at', 'bigint', (column) => column.notNull())
    .addColumn('transition', 'text', (column) => column.notNull())
    .addColumn('told', 'integer', (column) => column.notNull())
    .execute();
  await schema.createIndex('transitions_untold').on('transitions').columns(['told', 'id']).execute();
  await schema
    .createTable('deliveries')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('channel', 'text', (column) => column.notNull())
    .addColumn('group_name', 'text', (column) => column.notNull())
    .addColumn('sequence', 'integer', (column) => column.notNull())
    .addColumn('payload', 'text', (column) => column.notNull())
    .addColumn('title', 'text', (column) => column.notNull())
    .addColumn('state', 'text', (column) => column.notNull())
    .addColumn('attempts', 'integer', (column) => column.notNull())
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .addColumn('next_attempt_at', 'bigint', (column) => column.notNull())
    .addColumn('settled_at', 'bigint')
    .addColumn('detail', 'text')
    .execute();
  await schema
    .createIndex('deliveries_by_channel')
    .on('deliveries')
    .columns(['channel', 'state', 'sequence'])
    .execute();
}

/** What people know of and what they muted. Alerts that fire already were told by the version before. */
async function notificationTables(db: Db): Promise<void> {
  const { schema } = db;
  await schema
    .createTable('announcements')
    .addColumn('fingerprint', 'text', (column) => column.primaryKey())
    .addColumn('announcement', 'text', (column) => column.notNull())
    .execute();
  await schema
    .createTable('told_groups')
    .addColumn('group_name', 'text', (column) => column.primaryKey())
    .addColumn('told_at', 'bigint', (column) => column.notNull())
    .execute();
  await schema
    .createTable('silences')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('until', 'bigint', (column) => column.notNull())
    .addColumn('silence', 'text', (column) => column.notNull())
    .execute();
  const firing = await db.selectFrom('alerts').select('alert').where('status', '=', 'firing').execute();
  for (const row of firing) {
    const { fingerprint, severity, firingAt } = JSON.parse(row.alert);
    const announcement = JSON.stringify({ fingerprint, at: firingAt, severity, channels: null });
    await db.insertInto('announcements').values({ fingerprint, announcement }).execute();
  }
}

/** What a delivery tells of, and how far an attempt that must not be repeated blindly has come. */
async function deliverySteps(db: Db): Promise<void> {
  const table = () => db.schema.alterTable('deliveries');
  await table()
    .addColumn('alerts', 'text', (column) => column.notNull().defaultTo('[]'))
    .execute();
  await table().addColumn('begun_at', 'bigint').execute();
  await table().addColumn('receipt', 'text').execute();
}

async function runTables(db: Db): Promise<void> {
  const schema = db.schema;
  await schema
    .createTable('runs')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('recipe', 'text', (column) => column.notNull())
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .addColumn('ended', 'integer', (column) => column.notNull())
    .addColumn('run', 'text')
    .execute();
  await schema.createIndex('runs_of_recipe').on('runs').columns(['recipe', 'created_at']).execute();
  await schema.createIndex('runs_by_age').on('runs').columns(['created_at']).execute();
  await schema
    .createTable('run_rows')
    .addColumn('run_id', 'text', (column) => column.notNull())
    .addColumn('first_row', 'integer', (column) => column.notNull())
    .addColumn('count', 'integer', (column) => column.notNull())
    .addColumn('rows', 'text', (column) => column.notNull())
    .addPrimaryKeyConstraint('run_rows_key', ['run_id', 'first_row'])
    .execute();
}

/** What waits, and what was given up lately, is counted after every send: never by walking all that was ever sent. */
async function deliveriesByState(db: Db): Promise<void> {
  await db.schema.createIndex('deliveries_by_state').on('deliveries').columns(['state', 'settled_at']).execute();
}

/** The audit log of operator commands gets the names that the rest of the program uses. */
async function operatorCommands(db: Db): Promise<void> {
  await db.schema.alterTable('hands').renameTo('operator_commands').execute();
  await db.schema.alterTable('operator_commands').renameColumn('wish', 'command').execute();
}

/** What was asked of what, and how it ended. Of earlier commands only the words are known. */
async function auditLog(db: Db): Promise<void> {
  const table = () => db.schema.alterTable('operator_commands');
  await table()
    .addColumn('name', 'text', (column) => column.notNull().defaultTo(''))
    .execute();
  await table().addColumn('account', 'text').execute();
  await table().addColumn('result', 'text').execute();
  await table().addColumn('ended_at', 'bigint').execute();
  await db.updateTable('operator_commands').set({ result: 'unknown' }).execute();
  await db.schema.createIndex('actions_by_time').on('actions').columns(['planned_at']).execute();
  await db.schema.createIndex('commands_by_time').on('operator_commands').columns(['at']).execute();
  await db.schema
    .createTable('command_mailboxes')
    .addColumn('command_id', 'integer', (column) => column.notNull())
    .addColumn('account', 'text', (column) => column.notNull())
    .addColumn('mailbox_id', 'text', (column) => column.notNull())
    .addColumn('email', 'text', (column) => column.notNull())
    .addPrimaryKeyConstraint('command_mailboxes_key', ['command_id', 'account', 'mailbox_id'])
    .execute();
  await db.schema
    .createIndex('commands_of_mailbox')
    .on('command_mailboxes')
    .columns(['account', 'mailbox_id'])
    .execute();
}

/** An emergency stop says what it is about instead of being read from one text. */
async function writeScopes(db: Db): Promise<void> {
  const rows = await db.selectFrom('writes_off').selectAll().execute();
  await db.deleteFrom('writes_off').execute();
  for (const row of rows) {
    const off = await withAddress(db, storedWritesOff(row));
    await db
      .insertInto('writes_off')
      .values({ scope: scopeKey(off.scope), off: JSON.stringify(off) })
      .execute();
  }
}

/** What people were notified of gets the name that the rest of the program uses. */
async function notifiedColumns(db: Db): Promise<void> {
  const { schema } = db;
  await schema.alterTable('transitions').renameColumn('told', 'notified').execute();
  await schema.dropIndex('transitions_untold').execute();
  await schema.createIndex('transitions_not_notified').on('transitions').columns(['notified', 'id']).execute();
  await schema.alterTable('told_groups').renameTo('notified_groups').execute();
  await schema.alterTable('notified_groups').renameColumn('told_at', 'notified_at').execute();
}

/** Statistics are written in a shorter form (stored-stats.ts). What is there is read as it is, until the next answer. */
async function flatStats(): Promise<void> {}

/** Once more, and shorter (packed-stats.ts). */
async function packedStats(): Promise<void> {}

/** Earlier versions knew a mailbox by its id only. */
async function withAddress(db: Db, off: WritesOff): Promise<WritesOff> {
  const { scope } = off;
  if (scope.kind !== 'mailbox') return off;
  const row = await db
    .selectFrom('mailboxes')
    .select('email')
    .where('account', '=', scope.account)
    .where('mailbox_id', '=', scope.mailboxId)
    .executeTakeFirst();
  return { ...off, scope: { ...scope, email: row?.email ?? scope.email } };
}
