// The schema: tables with their columns, keys and indexes, and the types that Kysely has of them. Times are epoch
// milliseconds.
import { type CreateTableBuilder, type Generated, type Kysely, sql } from 'kysely';

/**
 * `serial` is an auto-increment primary key; `key` is text of another primary key, in the order of its columns; `json`
 * is text that holds a model type; `?` allows null.
 */
type ColumnType = 'serial' | 'key' | 'text' | 'text?' | 'json' | 'json?' | 'bigint key' | 'bigint' | 'bigint?';

/** `lease` and `fence` exist on PostgreSQL only (postgres/lease.ts). */
const columns = {
  // The schema version, and single values. It exists before any schema (migrations.ts).
  meta: { key: 'key', value: 'text' },
  mailboxes: {
    ...{ account: 'key', mailbox_id: 'key', email: 'text', first_seen_at: 'bigint', missing_lists: 'bigint' },
    // `left_at`: the confirmed departure, or null while the mailbox is present. `memory`: GuardMemory.
    ...{ left_at: 'bigint?', memory: 'json?' },
  },
  observations: { account: 'key', mailbox_id: 'key', route: 'key', observed_at: 'bigint', answer: 'json' },
  // Spans: consecutive verdicts with the same decision. `verdict` and `days` are the newest, `first_*` those at `since`.
  decisions: {
    ...{ id: 'serial', account: 'text', mailbox_id: 'text', since: 'bigint', until: 'bigint', judged: 'bigint' },
    ...{ action: 'text', reason: 'text', verdict: 'json', days: 'json', first_sent: 'bigint', first_days: 'json' },
  },
  actions: { id: 'key', account: 'text', mailbox_id: 'text', state: 'text', planned_at: 'bigint', action: 'json' },
  changes: { id: 'serial', account: 'text', mailbox_id: 'text', at: 'bigint', change: 'json' },
  // The audit log. `name`: the operation; `result`: null while the command runs; `entry`: CommandEntry without its id.
  operator_commands: { id: 'serial', at: 'bigint', by: 'text', name: 'text', result: 'text?', entry: 'json' },
  writes_off: { scope: 'key', off: 'json' },
  // State of each breaker by base_url, and the mailboxes that it counts or holds, in the order of `place`.
  breakers: { api: 'key', head: 'json' },
  breaker_entries: { api: 'key', key: 'key', place: 'bigint', entry: 'json' },
  alerts: { fingerprint: 'key', account: 'text', mailbox_id: 'text?', status: 'text', alert: 'json' },
  // `ended_at` is null for an open incident.
  incidents: { id: 'key', began_at: 'bigint', ended_at: 'bigint?', incident: 'json' },
  silences: { id: 'key', until: 'bigint', silence: 'json' },
  transitions: { id: 'serial', at: 'bigint', transition: 'json', notified: 'bigint' },
  announcements: { fingerprint: 'key', announcement: 'json' },
  // News for channels that are muted (MutedNews). `about`: an alert's fingerprint, or an incident's id.
  muted_news: { channel: 'key', about: 'key', news: 'json' },
  notified_groups: { group_name: 'key', notified_at: 'bigint' },
  // `delivery` is the message without its payload, which may be half a megabyte.
  deliveries: {
    ...{ id: 'key', channel: 'text', sequence: 'bigint', state: 'text', created_at: 'bigint', settled_at: 'bigint?' },
    ...{ payload: 'text', delivery: 'json' },
  },
  // Runs of recipes. `owner`: the requester, whose limit the run counts against; `bytes`: with its rows.
  runs: {
    id: 'key',
    recipe: 'text',
    created_at: 'bigint',
    ended: 'bigint',
    run: 'json',
    owner: 'text',
    bytes: 'bigint',
  },
  // `count` rows of a run from `first_row` on, as a JSON array.
  run_rows: { run_id: 'key', first_row: 'bigint key', count: 'bigint', rows: 'json' },
  ledgers: { account: 'key', ledger: 'json' },
} as const satisfies Readonly<Record<string, Readonly<Record<string, ColumnType>>>>;

type ValueOf<Type extends ColumnType> = Type extends 'serial'
  ? Generated<number>
  : Type extends `bigint${string}`
    ? number | (Type extends `${string}?` ? null : never)
    : string | (Type extends `${string}?` ? null : never);

export type Tables = {
  -readonly [Name in keyof typeof columns]: {
    -readonly [Column in keyof (typeof columns)[Name]]: (typeof columns)[Name][Column] extends infer Type extends
      ColumnType
      ? ValueOf<Type>
      : never;
  };
};

export type Db = Kysely<Tables>;

export const tableNames = Object.keys(columns) as readonly (keyof Tables)[];

const columnsOf = (table: keyof Tables) => Object.entries<ColumnType>(columns[table]);

export const jsonColumns = tableNames.flatMap((table) =>
  columnsOf(table).flatMap(([column, type]) => (type.startsWith('json') ? [{ table, column }] : [])),
);

/** An address in the form of its index: the database lowercases only ASCII letters. */
const address = 'lower("email")';
export const addressColumn = sql<string>`${sql.raw(address)}`;

const keys = new Map(
  tableNames.map((table) => [
    table,
    columnsOf(table).flatMap(([name, type]) => (type === 'serial' || type.endsWith('key') ? [name] : [])),
  ]),
);

export const keyOf = (table: keyof Tables): readonly string[] => keys.get(table) ?? [];

/** Indexes for each query that is frequent, or that reads a growing table. */
const indexes: readonly string[] = [
  'actions_by_age ON actions (planned_at, id)',
  'actions_of_mailbox ON actions (account, mailbox_id, planned_at)',
  'changes_by_age ON changes (at)',
  'changes_of_mailbox ON changes (account, mailbox_id, id)',
  'commands_by_time ON operator_commands (at)',
  'commands_under_way ON operator_commands (result, id) WHERE result IS NULL',
  'decisions_by_age ON decisions (since)',
  'decisions_of_mailbox ON decisions (account, mailbox_id, id)',
  'deliveries_by_age ON deliveries (created_at, sequence, id)',
  'deliveries_by_channel ON deliveries (channel, state, sequence)',
  'deliveries_by_state ON deliveries (state, settled_at, id)',
  'deliveries_of_channel ON deliveries (channel, sequence)',
  'incidents_by_end ON incidents (ended_at)',
  'mailboxes_by_departure ON mailboxes (left_at, account, mailbox_id)',
  `mailboxes_departed ON mailboxes (account, ${address}) WHERE left_at IS NOT NULL`,
  'runs_by_age ON runs (created_at)',
  'runs_of_owner ON runs (owner, created_at, bytes)',
  'runs_of_recipe ON runs (recipe, created_at)',
  'runs_under_way ON runs (ended, id) WHERE ended = 0',
  'transitions_by_age ON transitions (at)',
  'transitions_not_notified ON transitions (notified, id)',
];

export async function baseline(db: Db): Promise<void> {
  for (const table of tableNames) if (table !== 'meta') await createTable(db, table);
  for (const index of indexes) await sql.raw(`CREATE INDEX ${index}`).execute(db);
}

async function createTable(db: Db, name: keyof Tables): Promise<void> {
  let table: CreateTableBuilder<string, string> = db.schema.createTable(name);
  for (const [column, type] of columnsOf(name)) {
    table = table.addColumn(column, typeOf(type), (definition) => {
      if (type === 'serial') return definition.primaryKey().autoIncrement();
      return type.endsWith('?') ? definition : definition.notNull();
    });
  }
  const isSerial = columnsOf(name).some(([, type]) => type === 'serial');
  await (isSerial ? table : table.addPrimaryKeyConstraint(`${name}_key`, [...keyOf(name)])).execute();
}

function typeOf(type: ColumnType): 'integer' | 'text' | 'bigint' {
  if (type === 'serial') return 'integer';
  return type.startsWith('bigint') ? 'bigint' : 'text';
}
