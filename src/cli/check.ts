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
import { type ConfigOptions, configOption, jsonOption, printJson } from './options.ts';

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
  const { kind: _, ...place } = from;
  return place;
}

function sharedSteps(a: Path, b: Path): number {
  const differs = b.findIndex((step, depth) => a[depth] !== step);
  return differs < 0 ? b.length : differs;
}

interface CheckOptions extends ConfigOptions {
  readonly show?: boolean;
  readonly mailbox?: string;
}

/** Exit code 0 for a valid file, else 2. Never prints a secret. */
export function checkCommand(): Command {
  return new Command('check')
    .description('check a configuration file and list every problem in it')
    .addOption(configOption())
    .option('--show', 'print the settings in force and the source of each; secrets are hidden')
    .option('--mailbox <address>', 'print the guard settings of one mailbox, overrides resolved')
    .addOption(jsonOption())
    .action(check);
}

async function check({ config: file, show, mailbox, json }: CheckOptions): Promise<void> {
  const loaded = loadConfigured(file);
  const { config, settings, warnings } = loaded;
  const ofMailbox = mailbox === undefined ? null : { name: mailbox, accounts: settingsOf(mailbox, loaded) };
  const ofRecipes = scheduleDoubts(await readCatalogue(config.recipes.directory));
  if (json) {
    const accounts = ofMailbox?.accounts.map((one) => ({ ...one, settings: settingsJson(one.settings) })) ?? [];
    const answer = {
      file,
      valid: true as const,
      warnings,
      settings: settingsJson(settings()),
      recipe_warnings: ofRecipes,
    };
    return void printJson('check', { ...answer, mailbox: ofMailbox && { ...ofMailbox, accounts } });
  }
  for (const warning of [...warnings.map((one) => formatProblem(file, one)), ...ofRecipes])
    process.stderr.write(`warning: ${warning}\n`);
  if (ofMailbox) process.stdout.write(mailboxText(ofMailbox));
  else process.stdout.write(show ? settingsText(settings()) : `${file} is valid: ${summaryOf(config)}\n`);
}

/** Settings of a mailbox in each account that may contain it. ACCOUNT/ADDRESS names one account. */
function settingsOf(name: string, { config, settings }: ValidConfig): readonly MailboxSettings[] {
  const account = config.accounts.find((one) => name.startsWith(`${one.name}/`))?.name;
  const called = account === undefined ? name : name.slice(account.length + 1);
  const found = settingsFor({ email: called, id: called }, config, settings()).filter(
    (one) => one.account === (account ?? one.account),
  );
  const isNamed = account !== undefined || !name.includes('/');
  if (isNamed && found.some(({ guarded }) => guarded)) return found;
  const accounts = config.accounts.map((one) => one.name).join(', ');
  throw new CommandError(
    'unknown_name',
    `No account guards a mailbox called ${name}. Name it by its address or id, or as ACCOUNT/ADDRESS; the accounts are ${accounts}.`,
  );
}

function mailboxText(mailbox: { readonly name: string; readonly accounts: readonly MailboxSettings[] }): string {
  return mailbox.accounts
    .map(({ account, guarded, settings }) =>
      guarded
        ? `# ${mailbox.name}, on account ${account}\n${settingsText(settings)}`
        : `# ${mailbox.name} is not selected by account ${account}\n`,
    )
    .join('\n');
}

function summaryOf(config: Config): string {
  return `${counted(config.accounts.length, 'account')}, ${counted(config.alerts.channels.length, 'channel')}`;
}
