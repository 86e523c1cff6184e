// `warmwarden release`: a person says that what the guard holds is right to be done.
import { Command } from 'commander';
import { askDaemon } from '../serve/hands.ts';
import { wish } from './wish.ts';

export function releaseCommand(): Command {
  return new Command('release')
    .description('end a hold: of the breaker, so that the held mailboxes are acted on; or of one contested mailbox')
    .argument('[mailbox]', 'a contested mailbox, by address, id or ACCOUNT/ADDRESS; without it, the breaker')
    .option('--config <file>', 'the configuration of the running daemon', 'config.yaml')
    .option('--reason <text>', 'why, for the ledger', '')
    .action((mailbox: string | undefined, { config, reason }: { config: string; reason: string }) =>
      wish(config, (store, by) => askDaemon(store, 'release', { mailbox: mailbox ?? null, by, reason })),
    );
}
