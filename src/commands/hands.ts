// `warmwarden pause|resume|mode|undo`: a person's hand on the running daemon. The effect is named before anything is done,
// and the outcome when it was read back.
import { createInterface } from 'node:readline/promises';
import { Argument, Command } from 'commander';
import type { HandOutcome } from '../model/hand.ts';
import { type WarmupMode, warmupModes } from '../model/policy.ts';
import { askDaemon } from '../serve/hands.ts';
import { duration } from './duration.ts';
import { type DaemonOptions, wish, withDaemonOptions } from './wish.ts';

interface HandOptions extends DaemonOptions {
  readonly reason: string;
  readonly yes?: boolean;
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
  return withDaemonOptions(command)
    .option('--reason <text>', 'why, for the ledger', '')
    .option('--yes', 'do not ask first; without a terminal nothing is asked');
}

type ChangingHand = 'pause' | 'resume' | 'mode' | 'undo';
type Wished<Hand extends ChangingHand> = Omit<Parameters<typeof askDaemon<Hand>>[2], 'by' | 'reason' | 'preview'>;

function changed<Hand extends ChangingHand>(hand: Hand, options: HandOptions, wished: Wished<Hand>): Promise<void> {
  const { reason, yes = false } = options;
  return wish(options, async (daemon, by) => {
    const ask = (preview: boolean) =>
      askDaemon(daemon, hand, { ...wished, by, reason, preview } as Parameters<typeof askDaemon<Hand>>[2]);
    if (yes || !process.stdin.isTTY) return ask(false);
    const effect = await ask(true);
    if (!effect.done || effect.needless) return effect;
    return (await agreed(effect.said)) ? ask(false) : { done: false, said: ['Nothing was done.'] };
  });
}

/** Whether the person at the terminal says yes to that. */
async function agreed(effect: HandOutcome['said']): Promise<boolean> {
  const terminal = createInterface({ input: process.stdin, output: process.stdout });
  try {
    const answer = await terminal.question(`${effect.join('\n')}\nDo it? [y/N] `);
    return /^y(es)?$/i.test(answer.trim());
  } catch (error) {
    // Ctrl-C and Ctrl-D are a no.
    if (!(error instanceof Error && error.name === 'AbortError')) throw error;
    process.stdout.write('\n');
    return false;
  } finally {
    terminal.close();
  }
}
