// `warmwarden contest release`: Warmwarden may act again on a mailbox where others took its changes back.
import { Command } from 'commander';
import { type ChangeOptions, change, withChangeOptions } from './confirm.ts';
import { askDaemon } from './sources/daemon-client.ts';

export function contestCommand(): Command {
  const release = withChangeOptions(new Command('release'))
    .description('let Warmwarden act again on a mailbox where others reversed its changes')
    .argument('<mailbox>', 'its address, its id, or ACCOUNT/ADDRESS')
    .action((mailbox: string, options: ChangeOptions) =>
      change(options, (daemon, carried) => askDaemon(daemon, 'contest-release', { ...carried, mailbox })),
    );
  return new Command('contest')
    .description('let Warmwarden act again on mailboxes where others reversed its changes')
    .addCommand(release);
}
