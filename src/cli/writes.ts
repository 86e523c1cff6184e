// `warmwarden writes off|on`: the emergency stop. Nothing is written to the API until it is on again.
import { Argument, Command } from 'commander';
import { pathOf } from '../core/store-failure.ts';
import { secondMs } from '../core/time.ts';
import { type ChangeOptions, change, withChangeOptions } from './confirm.ts';
import { askDaemon, daemonListens, isHttp } from './sources/daemon-client.ts';
import { duration } from './terminal/wrapped.ts';
import { switchInStore } from './writes/in-store.ts';

interface WritesOptions extends ChangeOptions {
  readonly account?: string;
  readonly mailbox?: string;
  readonly for?: number;
}

export function writesCommand(): Command {
  return withChangeOptions(new Command('writes'))
    .description('the emergency stop: stop all changes to mailboxes at once, or allow them again; survives restarts')
    .addArgument(new Argument('<switch>', 'on, or off (off needs --reason)').choices(['off', 'on']))
    .option('--account <name>', 'only this account')
    .option('--mailbox <name>', 'only this mailbox, by address, id or ACCOUNT/ADDRESS')
    .option('--for <duration>', 'allow changes again after this time, for example 24h', duration)
    .action((position: string, options: WritesOptions, command: Command) => {
      const { account = null, mailbox = null, for: forMs = null } = options;
      const off = position === 'off';
      if (off && options.reason.trim() === '')
        command.error('error: writes off needs --reason TEXT: others will want to know why');
      if (!off && forMs !== null) command.error('error: --for is for writes off only');
      const wanted = { off, account, mailbox, for_seconds: forMs === null ? null : forMs / secondMs };
      // An emergency stop must not wait for a file that somebody is writing; a stop too many does no harm.
      return change({ ...options, mayBeUsual: off }, async (daemon, carried) => {
        // Nor for a daemon: the next one finds it in the store.
        if (!isHttp(daemon) && !(await daemonListens(pathOf(daemon)))) {
          const { dry_run: dryRun, ...rest } = carried;
          return switchInStore(options.config, { ...rest, dryRun, off, account, mailbox, forMs });
        }
        return askDaemon(daemon, 'writes', { ...carried, ...wanted });
      });
    });
}
