// How a command says that it failed: a CommandError thrown anywhere ends it with a sentence or JSON, and the exit code.
import { CommanderError } from 'commander';
import type { Problem } from '../config/problem.ts';
import { type ErrorKind, errorKinds, exitDone } from './exit-codes.ts';

/** A mistake or a failure that was expected: said as it is, without a stack. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
  readonly kind: ErrorKind;
  /** Of a configuration file. */
  readonly problems: readonly Problem[];

  constructor(kind: ErrorKind, message: string, problems: readonly Problem[] = []) {
    super(message);
    this.kind = kind;
    this.problems = problems;
  }
}

/** Errors of other rooms, by their names: a command that never meets one does not load the room. */
const kindsByName: Readonly<Record<string, ErrorKind>> = {
  UnknownNameError: 'unknown_name',
  NoDaemonError: 'no_daemon',
  UnauthorizedError: 'unauthorized',
  NewerStoreError: 'newer_store',
  StoreError: 'no_store',
};

/** How an error is shown. */
export interface Showing {
  /** On standard output, as `{"error": {...}}`; otherwise in words on standard error. */
  readonly json: boolean;
  /** With where in the program it came from. */
  readonly debug: boolean;
}

/** Shows what ended a command; its exit code. */
export function showError(error: unknown, { json, debug }: Showing): number {
  if (error instanceof CommanderError) {
    if (error.exitCode === exitDone) return exitDone;
    // In words it was said by commander.
    if (json) showJson('usage', usageMessage(error));
    return errorKinds.usage.exitCode;
  }
  const said = error instanceof Error ? error : new Error(String(error));
  const kind = kindOf(said);
  if (json) showJson(kind, said.message, said instanceof CommandError ? said.problems : []);
  else process.stderr.write(`${debug ? said.stack : wordsOf(said)}\n`);
  return errorKinds[kind].exitCode;
}

function kindOf(error: Error): ErrorKind {
  return error instanceof CommandError ? error.kind : (kindsByName[error.name] ?? 'failed');
}

/** What was expected is a sentence of its own; what was not is marked as ours. */
function wordsOf(error: Error): string {
  return kindOf(error) === 'failed' && !(error instanceof CommandError)
    ? `warmwarden: ${error.message}`
    : error.message;
}

function usageMessage({ code, message }: CommanderError): string {
  return code === 'commander.help' ? 'A command is missing: see --help.' : message.replace(/^error: /, '');
}

function showJson(code: ErrorKind, message: string, problems: readonly Problem[] = []): void {
  const error = { code, message, ...(problems.length > 0 && { problems }) };
  process.stdout.write(`${JSON.stringify({ error }, null, 2)}\n`);
}
