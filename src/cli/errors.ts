// Errors of commands: a CommandError thrown anywhere ends the command with a sentence or JSON, and the exit code.

import { CommanderError } from 'commander';
import type { Problem } from '../world/schema/problem.ts';

export const exitDone = 0;
export const exitFailed = 1;
/** Usage or configuration is wrong, or a name is unknown. */
const exitUsage = 2;
/** The store belongs to a newer version. */
const exitNewerStore = 3;

/** Meaning of each exit code, for `--help` and docs/cli.md. */
export const exitMeanings: readonly (readonly [code: number, meaning: string])[] = [
  [exitDone, 'done, also when there was nothing to do'],
  [exitFailed, 'failed, or mailboxes are not guarded'],
  [exitUsage, 'usage or configuration is wrong, or a mailbox, channel, recipe or silence is unknown'],
  [exitNewerStore, 'the store belongs to a newer version'],
];

export const errorKinds = {
  usage: { exitCode: exitUsage, meaning: 'an option, an argument or a command is wrong or missing' },
  configuration: { exitCode: exitUsage, meaning: 'the configuration file has problems; `problems` lists them' },
  unknown_name: { exitCode: exitUsage, meaning: 'no mailbox, channel, recipe or silence has this name' },
  confirmation_needed: { exitCode: exitUsage, meaning: 'a change needs `--yes` where there is no terminal' },
  invalid: {
    exitCode: exitUsage,
    meaning:
      'the daemon refused the request: it names something unknown, makes no sense, or has a configuration with problems',
  },
  changed: { exitCode: exitFailed, meaning: 'the situation changed after the question; nothing was done' },
  declined: { exitCode: exitFailed, meaning: 'the person at the terminal said no' },
  no_daemon: { exitCode: exitFailed, meaning: 'no daemon answers' },
  unauthorized: { exitCode: exitFailed, meaning: 'the daemon does not accept the token' },
  no_store: { exitCode: exitFailed, meaning: 'there is no store, or it cannot be used' },
  newer_store: { exitCode: exitNewerStore, meaning: 'the store belongs to a newer version' },
  failed: { exitCode: exitFailed, meaning: 'it was not done, or not all of it' },
} as const;

export type ErrorKind = keyof typeof errorKinds;

/** Further keys of the error in JSON. */
interface ErrorDetails {
  /** Problems of a configuration file. */
  readonly problems?: readonly Problem[];
  /** Moment of the last data in the store, where no daemon runs. */
  readonly data_from?: string;
}

/** Expected mistake or failure: shown as it is, without a stack. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
  readonly kind: ErrorKind;
  readonly details: ErrorDetails;

  constructor(kind: ErrorKind, message: string, details: ErrorDetails = {}) {
    super(message);
    this.kind = kind;
    this.details = details;
  }
}

/** Errors of the store by name, so that a command does not load the store to recognize them. */
const kindsByName: Readonly<Record<string, ErrorKind>> = {
  NewerStoreError: 'newer_store',
  StoreError: 'no_store',
};

/** Shows the error that ended a command, and returns its exit code. `debug`: prints the stack. */
export function showError(
  error: unknown,
  { json, debug }: { readonly json: boolean; readonly debug: boolean },
): number {
  if (error instanceof CommanderError) {
    if (error.exitCode === exitDone) return exitDone;
    // Commander has already printed the words.
    if (json) showJson('usage', usageMessage(error));
    return errorKinds.usage.exitCode;
  }
  const said = error instanceof Error ? error : new Error(String(error));
  const kind = kindOf(said);
  if (json) showJson(kind, said.message, said instanceof CommandError ? said.details : {});
  else process.stderr.write(`${debug ? said.stack : wordsOf(said)}\n`);
  return errorKinds[kind].exitCode;
}

function kindOf(error: Error): ErrorKind {
  return error instanceof CommandError ? error.kind : (kindsByName[error.name] ?? 'failed');
}

/** Marks an unexpected error with the name of the program. */
function wordsOf(error: Error): string {
  return kindOf(error) === 'failed' && !(error instanceof CommandError)
    ? `warmwarden: ${error.message}`
    : error.message;
}

function usageMessage({ code, message }: CommanderError): string {
  return code === 'commander.help' ? 'A command is missing: see --help.' : message.replace(/^error: /, '');
}

function showJson(code: ErrorKind, message: string, details: ErrorDetails = {}): void {
  process.stdout.write(`${JSON.stringify({ error: { code, message, ...details } }, null, 2)}\n`);
}
