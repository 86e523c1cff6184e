// A store of any size without polling for hours: the daemon itself guards a few mailboxes, whose rows are copied for all the others.
import { copyFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { BenchApi } from './api.ts';
import { domainOf, emailOf, type FleetShape, idOf } from './bodies.ts';
import { BenchDaemon, configure, Workplace } from './daemon.ts';
import { saturating } from './settings.ts';

const patterns = 8;
const sweepLimitMs = 60_000;
const settleMs = 2_000;
/** Rows of these tables belong to a moment, not to a mailbox. */
const notCopied = ['alerts', 'actions'];
const storeName = 'warmwarden.db';

/** Where the daemon keeps its store by default. */
export function storeOf(place: Workplace): string {
  return join(place.folder, 'data', storeName);
}

/** Leaves a store in the place as if the fleet had been guarded. */
export async function fillStore(place: Workplace, shape: FleetShape): Promise<void> {
  using pattern = new Workplace();
  await guardFew(pattern, shape.changedShare);
  mkdirSync(join(place.folder, 'data'), { mode: 0o700 });
  copyFileSync(storeOf(pattern), storeOf(place));
  using database = new DatabaseSync(storeOf(place));
  database.exec('PRAGMA synchronous = OFF; BEGIN');
  for (const table of tablesOf(database)) copyRows(database, table, shape);
  database.exec('COMMIT; PRAGMA wal_checkpoint(TRUNCATE)');
}

/** The first mailboxes of the first account, guarded by the daemon until each question was asked. */
async function guardFew(place: Workplace, changedShare: number): Promise<void> {
  await using api = await BenchApi.start({ accounts: 1, mailboxesPerAccount: patterns, changedShare });
  await using daemon = await BenchDaemon.start(await configure(place, api, saturating));
  const isSwept = async () => (await api.notified('daemon')).unread === 0;
  await daemon.until('the few mailboxes are swept', isSwept, sweepLimitMs);
  await sleep(settleMs);
  await daemon.stop();
}

interface Table {
  readonly name: string;
  readonly columns: readonly { readonly name: string; readonly isText: boolean }[];
}

function tablesOf(database: DatabaseSync): readonly Table[] {
  const names = database.prepare("SELECT name FROM sqlite_master WHERE type = 'table'").all();
  return names
    .map(({ name }) => {
      const columns = database.prepare(`PRAGMA table_info(${name})`).all();
      // The copy gets a running number of its own.
      const copied = columns.filter((column) => !(column['pk'] === 1 && column['type'] === 'INTEGER'));
      return {
        name: String(name),
        columns: copied.map((column) => ({
          name: String(column['name']),
          isText: String(column['type']).toLowerCase() === 'text',
        })),
      };
    })
    .filter(({ name, columns }) => {
      const isOfMailbox = columns.some((column) => column.name === 'mailbox_id');
      return isOfMailbox && columns.some((column) => column.name === 'account') && !notCopied.includes(name);
    });
}

function copyRows(database: DatabaseSync, { name, columns }: Table, shape: FleetShape): void {
  const expressionOf = ({ name, isText }: Table['columns'][number]) => {
    if (name === 'account') return ':account';
    if (!isText) return `"${name}"`;
    return `replace(replace(replace("${name}", :patternId, :id), :patternEmail, :email), :patternDomain, :domain)`;
  };
  const names = columns.map((column) => `"${column.name}"`).join(', ');
  const copy = database.prepare(
    `INSERT INTO ${name} (${names}) SELECT ${columns.map(expressionOf).join(', ')} FROM ${name}
     WHERE account = 'agency-0' AND mailbox_id = :patternId ORDER BY rowid`,
  );
  for (let index = patterns; index < shape.accounts * shape.mailboxesPerAccount; index += 1) {
    const pattern = index % patterns;
    copy.run({
      ':account': `agency-${Math.floor(index / shape.mailboxesPerAccount)}`,
      ...{ ':id': idOf(index), ':email': emailOf(index), ':domain': domainOf(index) },
      ...{ ':patternId': idOf(pattern), ':patternEmail': emailOf(pattern), ':patternDomain': domainOf(pattern) },
    });
  }
}
