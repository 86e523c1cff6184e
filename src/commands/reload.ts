// `warmwarden reload`: the running daemon takes its configuration anew, or only says what would change.
import { Command } from 'commander';
import { askDaemon } from '../serve/hands.ts';
import { wish } from './wish.ts';

interface ReloadOptions {
  readonly config: string;
  readonly dryRun?: boolean;
  readonly force?: boolean;
}

export function reloadCommand(): Command {
  return new Command('reload')
    .description('make the running daemon take its configuration anew; what is wrong with it changes nothing')
    .option('--dry-run', 'only say what would change: settings, accounts, mailboxes, alerts')
    .option('--force', 'also when it drops more than 20 % of the guarded mailboxes')
    .option('--config <file>', 'the configuration of the running daemon', 'config.yaml')
    .action(({ config, dryRun = false, force = false }: ReloadOptions) =>
      wish(config, (store, by) => askDaemon(store, 'reload', { by, dryRun, force })),
    );
}
