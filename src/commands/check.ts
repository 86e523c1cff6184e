// `warmwarden check`: every problem of a configuration file at once.
import { Command } from 'commander';
import type { Config } from '../config/config.ts';
import { formatProblem } from '../config/problem.ts';
import { loadOrSay } from './loading.ts';

/** Sets the exit code: 0 for a valid file, else 2. Writes no secret anywhere. */
export function checkCommand(): Command {
  return new Command('check')
    .description('check a configuration file, and say everything that is wrong with it')
    .option('--config <file>', 'the file to check', 'config.yaml')
    .action(({ config: file }: { config: string }) => {
      const loaded = loadOrSay(file);
      if (!loaded) return;
      for (const warning of loaded.warnings) process.stderr.write(`warning: ${formatProblem(file, warning)}\n`);
      process.stdout.write(`${file} is valid: ${summaryOf(loaded.config)}\n`);
    });
}

function summaryOf(config: Config): string {
  const count = (number: number, word: string) => `${number} ${word}${number === 1 ? '' : 's'}`;
  return `${count(config.accounts.length, 'account')}, ${count(config.alerts.channels.length, 'channel')}`;
}
