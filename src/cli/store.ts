// `warmwarden store check|backup|copy`: work on the store itself, also while a daemon runs; a file only on its
// own machine.
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { Command } from 'commander';
import { placeAt } from '../config/places.ts';
import { nameOf, type PostgresPlace } from '../core/store-failure.ts';
import { counted, roughSpanText } from '../core/wording/phrases.ts';
import { backUp } from '../store/file/backup.ts';
import { Ledger } from '../store/ledger.ts';
import { systemClock } from '../world/world.ts';
import { findStore } from './configuration.ts';
import { CommandError } from './errors.ts';
import { type ConfigOptions, configOption, jsonOption, printJson } from './options.ts';
import { bytesText, printLines, tableLines } from './terminal.ts';

interface CopyOptions extends ConfigOptions {
  readonly from: string;
  readonly to?: string;
}

export function storeCommand(): Command {
  const part = (name: string) => new Command(name).addOption(configOption()).addOption(jsonOption());
  return new Command('store')
    .description('check the store, back it up, or copy it to PostgreSQL; on the machine that has it')
    .addCommand(
      part('check')
        .description('read the whole store and report what is damaged; exits with 1 if anything is')
        .action(check),
    )
    .addCommand(
      part('backup')
        .description('write a copy of the store into a new file; a running daemon continues')
        .argument('<file>', 'the new file, which only you can open')
        .action(backup),
    )
    .addCommand(
      part('copy')
        .description('copy a store from a SQLite file into an empty PostgreSQL database; stop the daemon first')
        .requiredOption('--from <store>', 'sqlite: and the path of the file')
        .option('--to <url>', 'postgres://USER@HOST:5432/DATABASE; default: the store of the configuration')
        .action(copy),
    );
}

async function check({ config, json = false }: ConfigOptions): Promise<void> {
  const place = findStore(config);
  const path = nameOf(place);
  const ledger = await Ledger.at(place);
  const problems = await ledger.problems().finally(() => ledger.close());
  if (problems.length > 0) {
    const advice =
      typeof place === 'string'
        ? `Stop Warmwarden and put a backup in the place of ${path}.`
        : 'Stop all Warmwarden processes on it and restore a backup.';
    throw new CommandError(
      'failed',
      [`The store ${path} has ${counted(problems.length, 'problem')}:`, ...problems, advice].join('\n'),
    );
  }
  if (json) return void printJson('store check', { file: path, sound: true });
  const indexes = typeof place === 'string' ? '' : ' Check its indexes with pg_amcheck.';
  process.stdout.write(`The store ${path} is sound: Warmwarden read all of it.${indexes}\n`);
}

async function backup(file: string, { config, json = false }: ConfigOptions): Promise<void> {
  const path = findStore(config);
  if (typeof path !== 'string') {
    const advice = 'back it up with `pg_dump --schema=warmwarden`, or as you back up your other databases.';
    throw new CommandError('usage', `The store is ${nameOf(path)}: ${advice}`);
  }
  await Ledger.open(path).close();
  const clock = systemClock();
  const begun = clock.monotonic();
  const bytes = await backUp(path, file);
  const took = clock.monotonic() - begun;
  if (json) return void printJson('store backup', { file, bytes, took_seconds: took / 1_000 });
  process.stdout.write(
    `The backup of ${path} is in ${file}: ${bytesText(bytes)}, checked, written in ${roughSpanText(took)}.\n`,
  );
}

async function copy({ config, from, to, json = false }: CopyOptions): Promise<void> {
  const [file, place] = [fileOf(from), to === undefined ? configured(config) : named(to)];
  const { copyStore } = await import('../store/copy.ts');
  const { tables, warnings } = await copyStore(file, place, systemClock().now());
  for (const warning of warnings) process.stderr.write(`warning: ${warning}\n`);
  const rows = tables.reduce((sum, one) => sum + one.rows, 0);
  if (json) return void printJson('store copy', { from: file, to: nameOf(place), rows, tables: [...tables] });
  const lines = tables.map((one) => [one.rows.toLocaleString('en-US'), one.table]);
  printLines(tableLines({ titles: ['ROWS', 'TABLE'], rows: lines, numbers: ['ROWS'] }));
  const left = 'The file was left as it is. Start Warmwarden with this configuration.';
  printLines(['', `Warmwarden copied ${counted(rows, 'row')} from ${file} to ${nameOf(place)}. ${left}`]);
}

function fileOf(from: string): string {
  if (!from.startsWith('sqlite:'))
    throw new CommandError(
      'usage',
      '--from must be sqlite: and the path of a file, for example sqlite:./data/warmwarden.db.',
    );
  const file = resolve(from.slice('sqlite:'.length));
  if (!existsSync(file)) throw new CommandError('no_store', `There is no store at ${file}.`);
  return file;
}

/** Configured store with its password, its encryption and its authorities. */
function configured(config: string): PostgresPlace {
  const place = findStore(config);
  if (typeof place === 'object') return place;
  throw new CommandError(
    'usage',
    `The store of ${config} is the file ${place}. Set store.url to postgres://USER@HOST:5432/DATABASE, then copy.`,
  );
}

/** Place from a URL, which may contain a password. The connection is encrypted unless it stays on this machine. */
function named(url: string): PostgresPlace {
  const place = placeAt(url);
  if (typeof place === 'object') return place;
  throw new CommandError('usage', `--to ${place}.`);
}
