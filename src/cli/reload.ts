// `warmwarden reload`: the running daemon loads its configuration again, or only says what would change.
import { Command } from 'commander';
import { type ChangeOptions, change, withChangeOptions } from './confirm.ts';
import { askDaemon } from './sources/daemon-client.ts';

interface ReloadOptions extends ChangeOptions {
  readonly force?: boolean;
}

export function reloadCommand(): Command {
  return withChangeOptions(new Command('reload'))
    .description('reload the configuration of the running daemon; a file with problems changes nothing')
    .option(
      '--force',
      'accept a file that removes more than 20 % of the guarded mailboxes, or every channel except recipes; asks first',
    )
    .action((options: ReloadOptions) => {
      const { force = false } = options;
      // The file was written by who reloads it, and what looks like a mistake is refused: only to force it takes a second thought.
      const asks = force ? options : { ...options, yes: true };
      return change(asks, (daemon, carried) => askDaemon(daemon, 'reload', { ...carried, force }));
    });
}
