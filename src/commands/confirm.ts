// A person is asked once, on a terminal, before a command is carried out: the daemon says what it would do.
import { createInterface } from 'node:readline/promises';
import type { Command } from 'commander';
import type { CommandOutcome } from '../model/operator-command.ts';
import type { DaemonAddress } from '../operator/socket.ts';
import { type DaemonOptions, sendCommand, withDaemonOptions } from './send-command.ts';

export interface ConfirmOptions extends DaemonOptions {
  readonly yes?: boolean;
}

export function withConfirmOptions(command: Command): Command {
  return withDaemonOptions(command).option('--yes', 'do not ask first; without a terminal nothing is asked');
}

/** As `sendCommand`, after a yes to the effect; what can't be done, or need not, is said at once. */
export function confirmAndSend(
  options: ConfirmOptions,
  ask: (daemon: DaemonAddress, by: string, preview: boolean) => Promise<CommandOutcome>,
): Promise<void> {
  return sendCommand(options, async (daemon, by) => {
    if (options.yes || !process.stdin.isTTY) return ask(daemon, by, false);
    const effect = await ask(daemon, by, true);
    if (!effect.done || effect.needless) return effect;
    return (await agreed(effect.said)) ? ask(daemon, by, false) : { done: false, said: ['Nothing was done.'] };
  });
}

/** Whether the person at the terminal says yes to that. */
async function agreed(effect: CommandOutcome['said']): Promise<boolean> {
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
