// An operator command on the command line: sent to the daemon that the configuration or the URL names, answered in sentences.
import { userInfo } from 'node:os';
import type { Command } from 'commander';
import { isLoopback } from '../config/secrets.ts';
import type { CommandOutcome } from '../model/operator-command.ts';
import type { DaemonAddress } from '../operator/socket.ts';
import { exitFailed, exitUsage } from './exit-codes.ts';
import { findStore } from './loading.ts';

const tokenVariable = 'WARMWARDEN_TOKEN';

/** How a command finds the daemon. */
export interface DaemonOptions {
  readonly config: string;
  readonly url?: string;
  /** Print JSON instead of sentences. */
  readonly json?: boolean;
}

/** A command that reaches a running daemon. */
export function withDaemonOptions(command: Command): Command {
  return command
    .option('--config <file>', 'the configuration of the running daemon', 'config.yaml')
    .option('--url <url>', `a daemon elsewhere, with the token of an operator in ${tokenVariable}`)
    .option('--json', 'print JSON');
}

/** Asks the daemon and prints what it says; sets the exit code. */
export async function sendCommand(
  options: DaemonOptions,
  ask: (daemon: DaemonAddress, by: string) => Promise<CommandOutcome>,
): Promise<void> {
  const address = addressOf(options);
  if (!address) return;
  const { done, said } = await ask(address, userInfo().username);
  if (options.json) process.stdout.write(`${JSON.stringify({ done, said }, null, 2)}\n`);
  else for (const sentence of said) (done ? process.stdout : process.stderr).write(`${sentence}\n`);
  if (!done) process.exitCode = exitFailed;
}

/** null when the options are wrong: that is said then, and the exit code is set. */
export function addressOf({ config, url }: DaemonOptions): DaemonAddress | null {
  if (url === undefined) return findStore(config);
  const token = process.env[tokenVariable];
  const wrong = wrongWith(url) ?? (token ? null : `--url needs the token of an operator in ${tokenVariable}.`);
  if (wrong === null && token) return { url, token };
  process.stderr.write(`${wrong}\n`);
  process.exitCode = exitUsage;
  return null;
}

/** A token goes over TLS, or stays on this machine. */
function wrongWith(url: string): string | null {
  if (!URL.canParse(url)) return `--url ${url} is no address: write it as https://warmwarden.example.com`;
  const { protocol, hostname } = new URL(url);
  if (protocol === 'https:' || (protocol === 'http:' && isLoopback(hostname.replace(/^\[|\]$/g, '')))) return null;
  return `--url ${url} would send the token in the clear: use https.`;
}
