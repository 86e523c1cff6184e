// The schema of the first release: tables with their columns, keys and indexes. tables.ts says what the columns mean.
import { type CreateTableBuilder, sql } from 'kysely';
import { address, type Db, heldReason, type Tables } from './tables.ts';

/** `serial` is an auto-increment primary key; `?` allows null, `=0` is a default. */
type ColumnType = 'serial' | 'text' | 'text?' | 'bigint' | 'bigint?' | 'bigint=0';

/** `lease` and `fence` exist on PostgreSQL only (postgres/lease.ts), `meta` before any schema (migrations.ts). */
type BaseTables = Omit<Tables, 'meta'>;

const columns: { readonly [Name in keyof BaseTables]: { readonly [Column in keyof BaseTables[Name]]: ColumnType } } = {
  mailboxes: {
    ...{ account: 'text', mailbox_id: 'text', email: 'text', first_seen_at: 'bigint', missing_lists: 'bigint' },
    ...{ left_at: 'bigint?', memory: 'text?' },
  },
  observations: { account: 'text', mailbox_id: 'text', route: 'text', observed_at: 'bigint', answer: 'text' },
  decisions: {
    ...{ id: 'serial', account: 'text', mailbox_id: 'text', since: 'bigint', until: 'bigint', judged: 'bigint' },
    ...{ action: 'text', reason: 'text', verdict: 'text', days: 'text', first_sent: 'bigint', first_days: 'text' },
  },
  actions: { id: 'text', account: 'text', mailbox_id: 'text', state: 'text', planned_at: 'bigint', action: 'text' },
  changes: { id: 'serial', account: 'text', mailbox_id: 'text', at: 'bigint', change: 'text' },
  operator_commands: {
    ...{ id: 'serial', at: 'bigint', by: 'text', command: 'text', reason: 'text', outcome: 'text', name: 'text' },
    ...{ account: 'text?', result: 'text?', ended_at: 'bigint?' },
  },
  command_mailboxes: { command_id: 'bigint', account: 'text', mailbox_id: 'text', email: 'text' },
  writes_off: { scope: 'text', off: 'text' },
  breakers: { api: 'text', head: 'text' },
  breaker_entries: { api: 'text', key: 'text', place: 'bigint', entry: 'text' },
  alerts: { fingerprint: 'text', account: 'text', mailbox_id: 'text?', status: 'text', alert: 'text' },
  incidents: { id: 'text', began_at: 'bigint', ended_at: 'bigint?', incident: 'text' },
  silences: { id: 'text', until: 'bigint', silence: 'text' },
  transitions: { id: 'serial', at: 'bigint', transition: 'text', notified: 'bigint' },
  announcements: { fingerprint: 'text', announcement: 'text' },
  notified_groups: { group_name: 'text', notified_at: 'bigint' },
  deliveries: {
    ...{ id: 'text', channel: 'text', group_name: 'text', sequence: 'bigint', payload: 'text', title: 'text' },
    ...{ state: 'text', attempts: 'bigint', created_at: 'bigint', next_attempt_at: 'bigint', settled_at: 'bigint?' },
    ...{ detail: 'text?', alerts: 'text', begun_at: 'bigint?', receipt: 'text?' },
  },
  runs: {
    ...{ id: 'text', recipe: 'text', created_at: 'bigint', ended: 'bigint', run: 'text?', owner: 'text?' },
    ...{ bytes: 'bigint=0' },
  },
  run_rows: { run_id: 'text', first_row: 'bigint', count: 'bigint', rows: 'text' },
  ledgers: { account: 'text', ledger: 'text' },
  sessions: { id: 'text', token: 'text', started_at: 'bigint', used_at: 'bigint' },
};

const keys: Readonly<Partial<Record<string, readonly string[]>>> = {
  meta: ['key'],
  mailboxes: ['account', 'mailbox_id'],
  observations: ['account', 'mailbox_id', 'route'],
  actions: ['id'],
  command_mailboxes: ['command_id', 'account', 'mailbox_id'],
  writes_off: ['scope'],
  breakers: ['api'],
  breaker_entries: ['api', 'key'],
  alerts: ['fingerprint'],
  incidents: ['id'],
  silences: ['id'],
  announcements: ['fingerprint'],
  notified_groups: ['group_name'],
  deliveries: ['id'],
  runs: ['id'],
  run_rows: ['run_id', 'first_row'],
  ledgers: ['account'],
  sessions: ['id'],
};

/** The columns of a table's primary key. */
export const keyOf = (table: string): readonly string[] => keys[table] ?? ['id'];

/** Indexes for each query that is frequent, or that reads a growing table. */
const indexes: readonly string[] = [
  'actions_by_age ON actions (planned_at, id)',
  'actions_of_mailbox ON actions (account, mailbox_id, planned_at)',
  'changes_by_age ON changes (at)',
  'changes_of_mailbox ON changes (account, mailbox_id, id)',
  'commands_by_time ON operator_commands (at)',
  'commands_of_mailbox ON command_mailboxes (account, mailbox_id)',
  'commands_under_way ON operator_commands (result, id) WHERE result IS NULL',
  'decisions_by_age ON decisions (since)',
  `decisions_held ON decisions (until, id) WHERE ${heldReason}`,
  'decisions_of_mailbox ON decisions (account, mailbox_id, id)',
  'deliveries_by_age ON deliveries (created_at, sequence)',
  'deliveries_by_channel ON deliveries (channel, state, sequence)',
  'deliveries_by_state ON deliveries (state, settled_at, id)',
  'deliveries_of_channel ON deliveries (channel, sequence)',
  'incidents_by_end ON incidents (ended_at)',
  'mailboxes_by_departure ON mailboxes (left_at, account, mailbox_id)',
  `mailboxes_departed ON mailboxes (account, ${address}) WHERE left_at IS NOT NULL`,
  'runs_kept ON runs (created_at) WHERE owner IS NOT NULL',
  'runs_of_owner ON runs (owner, created_at, bytes)',
  'runs_of_recipe ON runs (recipe, created_at)',
  'runs_remembered ON runs (run, id) WHERE run IS NULL',
  'runs_under_way ON runs (ended, id) WHERE ended = 0',
  'sessions_of_token ON sessions (token, used_at)',
  'transitions_by_age ON transitions (at)',
  'transitions_not_notified ON transitions (notified, id)',
];

/** Creates every table and index in an empty database. */
export async function baseline(db: Db): Promise<void> {
  for (const [name, types] of Object.entries(columns)) await createTable(db, name, types);
  for (const index of indexes) await sql.raw(`CREATE INDEX ${index}`).execute(db);
}

async function createTable(db: Db, name: string, types: Readonly<Record<string, ColumnType>>): Promise<void> {
  let table: CreateTableBuilder<string, string> = db.schema.createTable(name);
  for (const [column, type] of Object.entries(types)) {
    table = table.addColumn(column, typeOf(type), (definition) => {
      if (type === 'serial') return definition.primaryKey().autoIncrement();
      if (type.endsWith('?')) return definition;
      return type.endsWith('=0') ? definition.notNull().defaultTo(0) : definition.notNull();
    });
  }
  const key = keys[name];
  await (key ? table.addPrimaryKeyConstraint(`${name}_key`, [...key]) : table).execute();
}

function typeOf(type: ColumnType): 'integer' | 'text' | 'bigint' {
  if (type === 'serial') return 'integer';
  return type.startsWith('text') ? 'text' : 'bigint';
}
