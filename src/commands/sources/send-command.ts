// How a command finds the daemon that the configuration or the URL names, and how it prints an outcome.
import type { Command } from 'commander';
import { isLoopback } from '../../model/loopback.ts';
import type { CommandOutcome } from '../../model/operator-command.ts';
import { CommandError } from '../../terminal/command-error.ts';
import { exitDone } from '../../terminal/exit-codes.ts';
import { onScreen } from '../../terminal/screen.ts';
import { configOption, type JsonOptions, jsonOption, printJson } from '../options.ts';
import { type DaemonAddress, tokenVariable } from './daemon-client.ts';
import { findDaemon, findPlaces } from './loading.ts';

/** How a command finds the daemon. */
export interface DaemonOptions extends JsonOptions {
  readonly config: string;
  readonly url?: string;
  /** See `findDaemon`. */
  readonly mayBeUsual?: boolean;
}

/** A command that reaches a running daemon. */
export function withDaemonOptions(command: Command): Command {
  return command
    .addOption(configOption())
    .option('--url <url>', `a daemon elsewhere, as https://HOST; its token is read from ${tokenVariable}`)
    .addOption(jsonOption());
}

/** Prints the outcome of what succeeded, and sets the exit code. Throws a CommandError with the sentences of what did not. */
export function report(outcome: CommandOutcome, { json = false }: JsonOptions): void {
  const { result, messages, counts } = outcome;
  if (result === 'changed' || result === 'failed' || result === 'invalid')
    throw new CommandError(result, messages.join('\n'));
  process.exitCode = exitDone;
  if (json) return void printJson('pause', { result, messages, ...(counts && { counts }) });
  const plan = result === 'planned' ? ['This was a dry run: nothing was done.'] : [];
  for (const line of onScreen([...messages, ...plan])) process.stdout.write(`${line}\n`);
}

/** Where the daemon of these options is asked. Throws a CommandError when they are wrong. */
export function addressOf({ config, url, mayBeUsual = false }: Omit<DaemonOptions, 'json'>): DaemonAddress {
  if (url === undefined) return findDaemon(config, mayBeUsual);
  const wrong = wrongWith(url);
  if (wrong !== null) throw new CommandError('usage', wrong);
  return { url, token: process.env[tokenVariable] || null };
}

/** In which people read times, as the configuration says: an IANA name. */
export function zoneOf({ config }: Pick<DaemonOptions, 'config'>): string {
  return findPlaces(config).timeZone;
}

/** A token goes over TLS, or stays on this machine. */
function wrongWith(url: string): string | null {
  if (!URL.canParse(url)) return `--url ${url} is not an address: write it as https://warmwarden.example.com`;
  const { protocol, hostname } = new URL(url);
  if (protocol === 'https:' || (protocol === 'http:' && isLoopback(hostname))) return null;
  return `--url ${url} would send the token in the clear: use https.`;
}
