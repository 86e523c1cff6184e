// `warmwarden check`: every problem of a configuration file at once.
import { Command } from 'commander';
import type { Config } from '../config/config.ts';
import { loadConfig } from '../config/load.ts';
import { formatProblem } from '../config/problem.ts';

/** Usage or configuration is wrong. */
const exitUsage = 2;

/** Sets the exit code: 0 for a valid file, else 2. Writes no secret anywhere. */
export function checkCommand(): Command {
  return new Command('check')
    .description('check a configuration file, and say everything that is wrong with it')
    .option('--config <file>', 'the file to check', 'config.yaml')
    .action(({ config: file }: { config: string }) => {
      const loaded = loadConfig(file, process.env);
      if (!loaded.ok) {
        for (const problem of loaded.problems) process.stderr.write(`${formatProblem(file, problem)}\n`);
        process.exitCode = exitUsage;
        return;
      }
      for (const warning of loaded.warnings) process.stderr.write(`warning: ${formatProblem(file, warning)}\n`);
      process.stdout.write(`${file} is valid: ${summaryOf(loaded.config)}\n`);
    });
}

function summaryOf(config: Config): string {
  const count = (number: number, word: string) => `${number} ${word}${number === 1 ? '' : 's'}`;
  return `${count(config.accounts.length, 'account')}, ${count(config.alerts.channels.length, 'channel')}`;
}
