// `warmwarden pause|resume|mode|limit|undo`: operator commands for the running daemon. The effect is named before anything is done,
// and the outcome when it was read back.
import { Argument, Command } from 'commander';
import { largestLimit, type WarmupMode, warmupModes } from '../core/policy.ts';
import { secondMs } from '../core/time.ts';
import { type ChangeOptions, change, withChangeOptions } from './confirm.ts';
import { askDaemon } from './sources/daemon-client.ts';
import { duration, wholeNumber } from './terminal/wrapped.ts';

export function pauseCommand(): Command {
  return onMailbox('pause', 'pause the warm-up of a mailbox; campaign sending continues').action(
    (mailbox: string, options: ChangeOptions) =>
      change(options, (daemon, carried) => askDaemon(daemon, 'pause', { ...carried, mailbox })),
  );
}

export function resumeCommand(): Command {
  return onMailbox('resume', 'resume the warm-up of a mailbox, no matter who paused it').action(
    (mailbox: string, options: ChangeOptions) =>
      change(options, (daemon, carried) => askDaemon(daemon, 'resume', { ...carried, mailbox })),
  );
}

export function modeCommand(): Command {
  return onMailbox('mode', 'set the warm-up mode of a mailbox')
    .addArgument(new Argument('<mode>', 'the mode').choices(warmupModes))
    .action((mailbox: string, mode: WarmupMode, options: ChangeOptions) =>
      change(options, (daemon, carried) => askDaemon(daemon, 'mode', { ...carried, mailbox, mode })),
    );
}

export function limitCommand(): Command {
  return onMailbox('limit', 'set the target daily limit of a mailbox, at most what its mode allows')
    .addArgument(new Argument('<emails>', 'how many emails a day').argParser(wholeNumber(1, largestLimit)))
    .action((mailbox: string, limit: number, options: ChangeOptions) =>
      change(options, (daemon, carried) => askDaemon(daemon, 'limit', { ...carried, mailbox, limit })),
    );
}

export function undoCommand(): Command {
  return withChangeOptions(new Command('undo'))
    .description(
      'undo what Warmwarden did by itself, and daily limits set with `limit`, except where others have changed them since',
    )
    .requiredOption('--since <duration>', 'how far back, for example 1h', duration)
    .action((options: ChangeOptions & { readonly since: number }) =>
      change(options, (daemon, carried) =>
        askDaemon(daemon, 'undo', { ...carried, since_seconds: options.since / secondMs }),
      ),
    );
}

function onMailbox(name: string, description: string): Command {
  return withChangeOptions(new Command(name))
    .description(description)
    .argument('<mailbox>', 'its address, its id, or ACCOUNT/ADDRESS');
}
