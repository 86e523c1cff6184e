// `warmwarden check`: every problem of a configuration file at once, or all its settings with the source of each value.

import { Command } from 'commander';
import type { Config } from '../config/config.ts';
import { type Origin, originText, type Setting, valueText } from '../config/settings.ts';
import { counted } from '../core/wording/phrases.ts';
import { readCatalogue, scheduleDoubts } from '../recipes/catalogue.ts';
import { formatPath, formatProblem, type Path } from '../world/schema/problem.ts';
import { loadConfigured } from './configuration.ts';
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
}

/** Exit code 0 for a valid file, else 2. Never prints a secret. */
export function checkCommand(): Command {
  return new Command('check')
    .description('check a configuration file and list every problem in it')
    .addOption(configOption())
    .option('--show', 'print the settings in force and the source of each; secrets are hidden')
    .addOption(jsonOption())
    .action(check);
}

async function check({ config: file, show, json }: CheckOptions): Promise<void> {
  const { config, settings, warnings } = loadConfigured(file);
  const ofRecipes = scheduleDoubts(await readCatalogue(config.recipes.directory));
  if (json) {
    const answer = {
      file,
      valid: true as const,
      warnings,
      settings: settingsJson(settings()),
      recipe_warnings: ofRecipes,
    };
    return void printJson('check', answer);
  }
  for (const warning of [...warnings.map((one) => formatProblem(file, one)), ...ofRecipes])
    process.stderr.write(`warning: ${warning}\n`);
  process.stdout.write(show ? settingsText(settings()) : `${file} is valid: ${summaryOf(config)}\n`);
}

function summaryOf(config: Config): string {
  return `${counted(config.accounts.length, 'account')}, ${counted(config.alerts.channels.length, 'channel')}`;
}
