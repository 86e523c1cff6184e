// `warmwarden store copy`: moves a store from a SQLite file into a PostgreSQL database.
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { placeAt } from '../../config/kept-schema.ts';
import { nameOf, type PostgresPlace } from '../../core/store-failure.ts';
import { counted } from '../../core/wording/phrases.ts';
import { systemClock } from '../../world/world.ts';
import { type JsonOptions, printJson } from '../options.ts';
import { findStore } from '../sources/loading.ts';
import { CommandError } from '../terminal/command-error.ts';
import { screenColumns } from '../terminal/outputs.ts';
import { tableText } from '../terminal/table.ts';

export interface CopyOptions extends JsonOptions {
  readonly config: string;
  readonly from: string;
  readonly to?: string;
}

export async function copyInto({ config, from, to, json = false }: CopyOptions): Promise<void> {
  const [file, place] = [fileOf(from), to === undefined ? configured(config) : named(to)];
  const { copyStore } = await import('../../store/copy.ts');
  const { tables, warnings } = await copyStore(file, place, systemClock().now());
  for (const warning of warnings) process.stderr.write(`warning: ${warning}\n`);
  const rows = tables.reduce((sum, one) => sum + one.rows, 0);
  if (json) return void printJson('store copy', { from: file, to: nameOf(place), rows, tables: [...tables] });
  const columns = [{ title: 'ROWS', numbers: true }, { title: 'TABLE' }];
  const lines = tables.map((one) => [one.rows.toLocaleString('en-US'), one.table]);
  process.stdout.write(`${tableText(columns, lines, screenColumns())}\n`);
  const left = 'The file was left as it is. Start Warmwarden with this configuration.';
  process.stdout.write(`Warmwarden copied ${counted(rows, 'row')} from ${file} to ${nameOf(place)}. ${left}\n`);
}

function fileOf(from: string): string {
  if (!from.startsWith('sqlite:')) throw new CommandError('usage', '--from must be sqlite: and the path of a file.');
  const file = resolve(from.slice('sqlite:'.length));
  if (!existsSync(file)) throw new CommandError('no_store', `There is no store at ${file}.`);
  return file;
}

/** With its password, its encryption and its authorities. */
function configured(config: string): PostgresPlace {
  const place = findStore(config);
  if (typeof place === 'object') return place;
  throw new CommandError(
    'usage',
    `The store of ${config} is the file ${place}. Set store.url to postgres://USER@HOST:5432/DATABASE, then copy.`,
  );
}

/** A password may be within; encrypted, unless it stays on this machine. */
function named(url: string): PostgresPlace {
  const place = placeAt(url);
  if (typeof place === 'object') return place;
  throw new CommandError('usage', `--to ${place}.`);
}
