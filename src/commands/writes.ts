// `warmwarden writes off|on`: the red button. Nothing is written to the API until it is on again.
import { Argument, Command } from 'commander';
import { askDaemon } from '../serve/hands.ts';
import { duration } from './duration.ts';
import { wish } from './wish.ts';

interface WritesOptions {
  readonly config: string;
  readonly account?: string;
  readonly mailbox?: string;
  readonly for?: number;
  readonly reason: string;
}

export function writesCommand(): Command {
  return new Command('writes')
    .description('the red button: stop all writing to the API at once, or allow it again; survives restarts')
    .addArgument(new Argument('<switch>', 'off or on').choices(['off', 'on']))
    .requiredOption('--reason <text>', 'why, for those who find it off')
    .option('--account <name>', 'only this account')
    .option('--mailbox <name>', 'only this mailbox, by address, id or ACCOUNT/ADDRESS')
    .option('--for <duration>', 'on again by itself after this, for example 24h', duration)
    .option('--config <file>', 'the configuration of the running daemon', 'config.yaml')
    .action((position: string, options: WritesOptions) => {
      const { account = null, mailbox = null, for: forMs = null, reason } = options;
      const off = position === 'off';
      return wish(options.config, (store, by) =>
        askDaemon(store, 'writes', { off, account, mailbox, forMs, by, reason }),
      );
    });
}
