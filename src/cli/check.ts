// `warmwarden check`: every problem of a configuration file at once, or all its settings with the source of each value.

import { Command } from 'commander';
import type { Config } from '../config/config.ts';
import type { ValidConfig } from '../config/load.ts';
import { type MailboxSettings, settingsFor } from '../config/mailbox-rules.ts';
import { type Origin, originText, type Setting, valueText } from '../config/settings.ts';
import { counted } from '../core/wording/phrases.ts';
import { readCatalogue, scheduleDoubts } from '../recipes/catalogue.ts';
import { formatPath, formatProblem, type Path } from '../world/schema/problem.ts';
import { loadConfigured } from './configuration.ts';
import { CommandError } from './errors.ts';
import { configOption, type JsonOptions, jsonOption, printJson } from './options.ts';

// The settings in force as YAML, each with where its value came from. Pure.

/** Column of the comments, unless a line is longer. */
const commentColumn = 52;

/** YAML for people: a default that is written out is no longer one that a profile may change. Ends with a line break. */
export function settingsText(settings: readonly Setting[]): string {
  const lines: string[] = [];
  let before: Path = [];
  for (const { path, value, from } of settings) {
    const shared = sharedSteps(before, path);
    for (const [depth, step] of path.entries()) {
      const last = depth === path.length - 1;
      if (typeof step === 'number' || (depth < shared && !last)) continue;
      const first = typeof path[depth - 1] === 'number' && shared < depth;
      const indent = `${'  '.repeat(first ? depth - 1 : depth)}${first ? '- ' : ''}`;
      const line = last ? `${indent}${step}: ${valueText(value)}` : `${indent}${step}:`;
      lines.push(last ? `${line.padEnd(commentColumn)} # ${originText(from)}` : line);
    }
    before = path;
  }
  return `${lines.join('\n')}\n`;
}

/** Settings for programs: names in snake_case, places from 1. */
function settingsJson(settings: readonly Setting[]) {
  return settings.map(({ path, value, from }) => ({
    path: formatPath(path),
    value,
    from: from.kind,
    ...placeOf(from),
  }));
}

function placeOf(from: Origin) {
  if (!('line' in from)) return {};
  const { line, column } = from;
  return from.kind === 'environment' ? { line, column, written: from.written } : { line, column };
}

function sharedSteps(a: Path, b: Path): number {
  const differs = b.findIndex((step, depth) => a[depth] !== step);
  return differs < 0 ? b.length : differs;
}

interface CheckOptions extends JsonOptions {
  readonly config: string;
  readonly show?: boolean;
  readonly mailbox?: string;
}

/** Exit code 0 for a valid file, else 2. Never prints a secret. */
export function checkCommand(): Command {
  return new Command('check')
    .description('check a configuration file and list every problem in it')
    .addOption(configOption('the file to check'))
    .option('--show', 'print the settings in force and where each value comes from; secrets are hidden')
    .option(
      '--mailbox <address>',
      'print the guard settings in force for one mailbox (its address, id, or ACCOUNT/ADDRESS), overrides resolved',
    )
    .addOption(jsonOption())
    .action(check);
}

async function check(options: CheckOptions): Promise<void> {
  const { config: file } = options;
  const loaded = loadConfigured(file);
  mustBeKnown(options.mailbox, loaded);
  const ofRecipes = scheduleDoubts(await readCatalogue(loaded.config.recipes.directory));
  const warnings = [...loaded.warnings.map((warning) => formatProblem(file, warning)), ...ofRecipes];
  // The JSON answer contains the warnings.
  if (!options.json) for (const warning of warnings) process.stderr.write(`warning: ${warning}\n`);
  if (options.json) printJson('check', { ...inJson(loaded, options), recipe_warnings: ofRecipes });
  else process.stdout.write(inWords(loaded, options));
}

/** Settings of a mailbox in each account that may contain it. ACCOUNT/ADDRESS names one account. */
function settingsOf(name: string, { config, settings }: ValidConfig): readonly MailboxSettings[] {
  const account = config.accounts.find((one) => name.startsWith(`${one.name}/`))?.name;
  if (account === undefined && name.includes('/')) return [];
  const called = account === undefined ? name : name.slice(account.length + 1);
  const all = settingsFor({ email: called, id: called }, config, settings);
  return account === undefined ? all : all.filter((one) => one.account === account);
}

/** Throws a CommandError if no account guards a mailbox with this name. */
function mustBeKnown(name: string | undefined, loaded: ValidConfig): void {
  if (name === undefined || settingsOf(name, loaded).some(({ guarded }) => guarded)) return;
  const accounts = loaded.config.accounts.map((account) => account.name).join(', ');
  throw new CommandError(
    'unknown_name',
    `No account guards a mailbox called ${name}. Name it by its address or id, or as ACCOUNT/ADDRESS; the accounts are ${accounts}.`,
  );
}

function inWords(loaded: ValidConfig, { config: file, show, mailbox }: CheckOptions): string {
  const { config, settings } = loaded;
  if (mailbox !== undefined) {
    return settingsOf(mailbox, loaded)
      .map(({ account, guarded, settings: own }) =>
        guarded
          ? `# ${mailbox}, on account ${account}\n${settingsText(own)}`
          : `# ${mailbox} is not selected by account ${account}\n`,
      )
      .join('\n');
  }
  return show ? settingsText(settings) : `${file} is valid: ${summaryOf(config)}\n`;
}

function inJson(loaded: ValidConfig, { config: file, mailbox }: CheckOptions) {
  const { settings, warnings } = loaded;
  const forMailbox = (name: string) =>
    settingsOf(name, loaded).map((one) => ({ ...one, settings: settingsJson(one.settings) }));
  return {
    file,
    valid: true as const,
    warnings,
    settings: settingsJson(settings),
    mailbox: mailbox === undefined ? null : { name: mailbox, accounts: forMailbox(mailbox) },
  };
}

function summaryOf(config: Config): string {
  return `${counted(config.accounts.length, 'account')}, ${counted(config.alerts.channels.length, 'channel')}`;
}
