// Whatever changes something shows its effect first: on a terminal it asks, without one it wants --yes; --dry-run only shows.
import { createInterface } from 'node:readline/promises';
import { type Command, Option } from 'commander';
import type { CommandOutcome } from '../core/operator-command.ts';
import { userName } from '../operations/user-name.ts';
import {
  addressOf,
  type DaemonAddress,
  type DaemonOptions,
  report,
  withDaemonOptions,
} from './sources/daemon-client.ts';
import { findPlaces } from './sources/loading.ts';
import { NoDaemonError, NoSocketError } from './sources/sign-of-life.ts';
import { CommandError } from './terminal/command-error.ts';
import { onScreen } from './terminal/outputs.ts';

/** How a change is confirmed. */
export interface ConfirmOptions {
  readonly yes?: boolean;
  readonly dryRun?: boolean;
}

export interface ChangeOptions extends DaemonOptions, ConfirmOptions {
  readonly reason: string;
}

/** What every request that changes something carries: who and why, and how far it goes. */
export interface Carried {
  readonly by: string;
  readonly reason: string;
  readonly dry_run: boolean;
  readonly plan: string | null;
}

/** Carries a request out, or only plans it. */
export type Send = (carried: Carried) => Promise<CommandOutcome>;

export function withConfirmOptions(command: Command): Command {
  return command
    .option('--yes', 'do not ask; needed without a terminal')
    .option('--dry-run', 'show the effect and change nothing');
}

/** A command that has the running daemon change something. */
export function withChangeOptions(command: Command): Command {
  return withConfirmOptions(withDaemonOptions(command)).addOption(
    new Option('--reason <text>', 'why, for the audit log').default('', 'none'),
  );
}

/** Has something changed, by the daemon as a rule: shows the effect, asks, prints the outcome and sets the exit code. */
export async function change(
  options: ChangeOptions,
  send: (daemon: DaemonAddress, carried: Carried) => Promise<CommandOutcome>,
): Promise<void> {
  mustBeConfirmed(options);
  const address = addressOf(options);
  const outcome = await confirmed(options, (carried) => send(address, carried)).catch((error) => {
    throw error instanceof NoSocketError && options.url === undefined ? atDefault(error, options.config) : error;
  });
  report(outcome, options);
}

/** A file that was read half-written names no store: the daemon may listen elsewhere. */
function atDefault(error: NoSocketError, file: string): NoDaemonError {
  if (findPlaces(file).namesStore) return error;
  const hint = `${file} has no store.url, so Warmwarden looked at the default path: check that the file is complete.`;
  return new NoDaemonError(`${error.message}\n${hint}`);
}

/** Throws a CommandError where a change can't be confirmed. */
export function mustBeConfirmed({ yes = false, dryRun = false }: ConfirmOptions): void {
  if (yes || dryRun || process.stdin.isTTY === true) return;
  throw new CommandError(
    'confirmation_needed',
    'Nothing was done: there is no terminal to ask on, so add --yes to do it, or --dry-run to see what it would do.',
  );
}

/** The outcome of a change that was confirmed, or of its dry run. What changes after the question is asked about again. */
async function confirmed(options: ConfirmOptions & { readonly reason: string }, send: Send) {
  const { yes = false, dryRun = false, reason } = options;
  const carried = { by: userName(), reason };
  if (dryRun) return send({ ...carried, dry_run: true, plan: null });
  if (yes) return send({ ...carried, dry_run: false, plan: null });
  let outcome = await send({ ...carried, dry_run: true, plan: null });
  while (outcome.result === 'planned' || outcome.result === 'changed') {
    if (!(await agrees(onScreen(outcome.messages)))) throw declined();
    outcome = await send({ ...carried, dry_run: false, plan: outcome.plan ?? null });
  }
  return outcome;
}

export function declined(): CommandError {
  return new CommandError('declined', 'Nothing was done.');
}

/** Whether the person at the terminal says yes to that. On stderr, since the output may be for a program. */
export async function agrees(effect: readonly string[]): Promise<boolean> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    const answer = await terminal.question(`${effect.join('\n')}\nDo you want to continue? [y/N] `);
    return /^y(es)?$/i.test(answer.trim());
  } catch (error) {
    // Ctrl-C and Ctrl-D are a no.
    if (!(error instanceof Error && error.name === 'AbortError')) throw error;
    process.stderr.write('\n');
    return false;
  } finally {
    terminal.close();
  }
}
