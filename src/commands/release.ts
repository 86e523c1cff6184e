// `warmwarden release`: a person says that what the guard holds is right to be done.
import { Command } from 'commander';
import { askDaemon } from '../operator/socket.ts';
import { type ConfirmOptions, confirmAndSend, withConfirmOptions } from './confirm.ts';

export function releaseCommand(): Command {
  return withConfirmOptions(new Command('release'))
    .description('end a hold: of the breaker, so that the held mailboxes are acted on; or of one contested mailbox')
    .argument('[mailbox]', 'a contested mailbox, by address, id or ACCOUNT/ADDRESS; without it, the breaker')
    .option('--reason <text>', 'why, for the ledger', '')
    .action((mailbox: string | undefined, options: ConfirmOptions & { readonly reason: string }) =>
      confirmAndSend(options, (daemon, by, preview) =>
        askDaemon(daemon, 'release', { mailbox: mailbox ?? null, by, reason: options.reason, preview }),
      ),
    );
}
