// `warmwarden pause|resume|mode|undo`: a person's hand on the running daemon. The effect is named before anything is done,
// and the outcome when it was read back.
import { Argument, Command } from 'commander';
import { type WarmupMode, warmupModes } from '../model/policy.ts';
import { askDaemon } from '../operator/socket.ts';
import { type AskingOptions, wishAfterAsking, withAskingOptions } from './asking.ts';
import { duration } from './duration.ts';

interface HandOptions extends AskingOptions {
  readonly reason: string;
}

export function pauseCommand(): Command {
  return onMailbox('pause', 'pause the warm-up of a mailbox; campaign sending is not touched').action(
    (mailbox: string, options: HandOptions) => changed('pause', options, { mailbox }),
  );
}

export function resumeCommand(): Command {
  return onMailbox('resume', 'let the warm-up of a mailbox go on, whoever paused it').action(
    (mailbox: string, options: HandOptions) => changed('resume', options, { mailbox }),
  );
}

export function modeCommand(): Command {
  return onMailbox('mode', 'set the warm-up mode of a mailbox')
    .addArgument(new Argument('<mode>', 'the mode').choices(warmupModes))
    .action((mailbox: string, mode: WarmupMode, options: HandOptions) => changed('mode', options, { mailbox, mode }));
}

export function undoCommand(): Command {
  return withHandOptions(new Command('undo'))
    .description('take back what Warmwarden did by itself, where nobody changed it since')
    .requiredOption('--since <duration>', 'how far back, for example 1h', duration)
    .action((options: HandOptions & { readonly since: number }) =>
      changed('undo', options, { sinceMs: options.since }),
    );
}

function onMailbox(name: string, description: string): Command {
  return withHandOptions(new Command(name))
    .description(description)
    .argument('<mailbox>', 'its address, its id, or ACCOUNT/ADDRESS');
}

function withHandOptions(command: Command): Command {
  return withAskingOptions(command).option('--reason <text>', 'why, for the ledger', '');
}

type ChangingHand = 'pause' | 'resume' | 'mode' | 'undo';
type Wished<Hand extends ChangingHand> = Omit<Parameters<typeof askDaemon<Hand>>[2], 'by' | 'reason' | 'preview'>;

function changed<Hand extends ChangingHand>(hand: Hand, options: HandOptions, wished: Wished<Hand>): Promise<void> {
  const { reason } = options;
  return wishAfterAsking(options, (daemon, by, preview) =>
    askDaemon(daemon, hand, { ...wished, by, reason, preview } as Parameters<typeof askDaemon<Hand>>[2]),
  );
}
