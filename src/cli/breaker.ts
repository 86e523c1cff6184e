// `warmwarden breaker release`: the actions that the circuit breaker holds are carried out, except where writes are off.
import { Command } from 'commander';
import { type ChangeOptions, change, withChangeOptions } from './confirm.ts';
import { askDaemon } from './sources/daemon-client.ts';

export function breakerCommand(): Command {
  const release = withChangeOptions(new Command('release'))
    .description('carry out the actions that the circuit breaker is holding, except where writes are off')
    .action((options: ChangeOptions) =>
      change(options, (daemon, carried) => askDaemon(daemon, 'breaker-release', carried)),
    );
  return new Command('breaker')
    .description('release the circuit breaker, which holds actions when much of the fleet would change at once')
    .addCommand(release);
}
