// `warmwarden writes off|on`: the emergency stop. Nothing is written to the API until it is on again.
import { Argument, Command } from 'commander';
import { askDaemon } from '../operator/socket.ts';
import { type ConfirmOptions, confirmAndSend, withConfirmOptions } from './confirm.ts';
import { duration } from './duration.ts';

interface WritesOptions extends ConfirmOptions {
  readonly account?: string;
  readonly mailbox?: string;
  readonly for?: number;
  readonly reason?: string;
}

export function writesCommand(): Command {
  return withConfirmOptions(new Command('writes'))
    .description('emergency stop: stop all writing to the API at once, or allow it again; survives restarts')
    .addArgument(new Argument('<switch>', 'off or on').choices(['off', 'on']))
    .option('--reason <text>', 'why, for those who find it off; off needs it')
    .option('--account <name>', 'only this account')
    .option('--mailbox <name>', 'only this mailbox, by address, id or ACCOUNT/ADDRESS')
    .option('--for <duration>', 'on again by itself after this, for example 24h', duration)
    .action((position: string, options: WritesOptions, command: Command) => {
      const { account = null, mailbox = null, for: forMs = null, reason = '' } = options;
      const off = position === 'off';
      if (off && reason.trim() === '')
        command.error('error: writes off needs --reason TEXT, for those who find it off');
      if (!off && forMs !== null) command.error('error: --for goes with writes off: on stays on');
      const fields = { off, account, mailbox, forMs, reason };
      return confirmAndSend(options, (daemon, by, preview) => askDaemon(daemon, 'writes', { ...fields, by, preview }));
    });
}
