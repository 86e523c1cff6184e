// `warmwarden release`: a person says that what the guard holds is right to be done.
import { userInfo } from 'node:os';
import { Command } from 'commander';
import { loadConfig } from '../config/load.ts';
import { formatProblem } from '../config/problem.ts';
import { askDaemon } from '../serve/hands.ts';

const exitFailed = 1;
const exitUsage = 2;

export function releaseCommand(): Command {
  return new Command('release')
    .description('end a hold: of the breaker, so that the held mailboxes are acted on; or of one contested mailbox')
    .argument('[mailbox]', 'a contested mailbox, by address, id or ACCOUNT/ADDRESS; without it, the breaker')
    .option('--config <file>', 'the configuration of the running daemon', 'config.yaml')
    .option('--reason <text>', 'why, for the ledger', '')
    .action((mailbox: string | undefined, options: { config: string; reason: string }) => release(mailbox, options));
}

async function release(mailbox: string | undefined, options: { config: string; reason: string }): Promise<void> {
  const loaded = loadConfig(options.config, process.env);
  if (!loaded.ok) {
    for (const problem of loaded.problems) process.stderr.write(`${formatProblem(options.config, problem)}\n`);
    process.exitCode = exitUsage;
    return;
  }
  const wish = { mailbox: mailbox ?? null, by: userInfo().username, reason: options.reason };
  const { done, said } = await askDaemon(loaded.config.store.path, wish);
  for (const sentence of said) (done ? process.stdout : process.stderr).write(`${sentence}\n`);
  if (!done) process.exitCode = exitFailed;
}
