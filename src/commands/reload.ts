// `warmwarden reload`: the running daemon loads its configuration again, or only says what would change.
import { Command } from 'commander';
import { askDaemon } from '../operator/socket.ts';
import { type DaemonOptions, sendCommand, withDaemonOptions } from './send-command.ts';

interface ReloadOptions extends DaemonOptions {
  readonly dryRun?: boolean;
  readonly force?: boolean;
}

export function reloadCommand(): Command {
  return withDaemonOptions(new Command('reload'))
    .description('make the running daemon load its configuration again; what is wrong with it changes nothing')
    .option('--dry-run', 'only say what would change: settings, accounts, mailboxes, alerts')
    .option('--force', 'also when it drops more than 20 % of the guarded mailboxes')
    .action((options: ReloadOptions) =>
      sendCommand(options, (daemon, by) =>
        askDaemon(daemon, 'reload', { by, dryRun: options.dryRun ?? false, force: options.force ?? false }),
      ),
    );
}
