// `warmwarden pause|resume|mode|undo`: operator commands for the running daemon. The effect is named before anything is done,
// and the outcome when it was read back.
import { Argument, Command } from 'commander';
import { type WarmupMode, warmupModes } from '../model/policy.ts';
import { askDaemon } from '../operator/socket.ts';
import { type ConfirmOptions, confirmAndSend, withConfirmOptions } from './confirm.ts';
import { duration } from './duration.ts';

interface ChangeOptions extends ConfirmOptions {
  readonly reason: string;
}

export function pauseCommand(): Command {
  return onMailbox('pause', 'pause the warm-up of a mailbox; campaign sending is not touched').action(
    (mailbox: string, options: ChangeOptions) => changed('pause', options, { mailbox }),
  );
}

export function resumeCommand(): Command {
  return onMailbox('resume', 'let the warm-up of a mailbox go on, whoever paused it').action(
    (mailbox: string, options: ChangeOptions) => changed('resume', options, { mailbox }),
  );
}

export function modeCommand(): Command {
  return onMailbox('mode', 'set the warm-up mode of a mailbox')
    .addArgument(new Argument('<mode>', 'the mode').choices(warmupModes))
    .action((mailbox: string, mode: WarmupMode, options: ChangeOptions) => changed('mode', options, { mailbox, mode }));
}

export function undoCommand(): Command {
  return withChangeOptions(new Command('undo'))
    .description('take back what Warmwarden did by itself, where nobody changed it since')
    .requiredOption('--since <duration>', 'how far back, for example 1h', duration)
    .action((options: ChangeOptions & { readonly since: number }) =>
      changed('undo', options, { sinceMs: options.since }),
    );
}

function onMailbox(name: string, description: string): Command {
  return withChangeOptions(new Command(name))
    .description(description)
    .argument('<mailbox>', 'its address, its id, or ACCOUNT/ADDRESS');
}

function withChangeOptions(command: Command): Command {
  return withConfirmOptions(command).option('--reason <text>', 'why, for the ledger', '');
}

type ChangeCommand = 'pause' | 'resume' | 'mode' | 'undo';
type FieldsOf<Name extends ChangeCommand> = Omit<Parameters<typeof askDaemon<Name>>[2], 'by' | 'reason' | 'preview'>;

function changed<Name extends ChangeCommand>(
  name: Name,
  options: ChangeOptions,
  fields: FieldsOf<Name>,
): Promise<void> {
  const { reason } = options;
  return confirmAndSend(options, (daemon, by, preview) =>
    askDaemon(daemon, name, { ...fields, by, reason, preview } as Parameters<typeof askDaemon<Name>>[2]),
  );
}
