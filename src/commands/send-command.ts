// How a command finds the daemon that the configuration or the URL names, and how it prints an outcome.
import type { Command } from 'commander';
import { isLoopback } from '../config/secrets.ts';
import type { CommandOutcome, CommandResult } from '../model/operator-command.ts';
import type { DaemonAddress } from '../operator/daemon-client.ts';
import { exitDone, exitFailed, exitUsage } from './exit-codes.ts';
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

const exitCodeOf: Readonly<Record<CommandResult, number>> = {
  planned: exitDone,
  done: exitDone,
  no_change: exitDone,
  changed: exitFailed,
  failed: exitFailed,
  invalid: exitUsage,
};

/** Prints an outcome, and sets the exit code. */
export function report({ result, messages }: CommandOutcome, { json = false }: Pick<DaemonOptions, 'json'>): void {
  process.exitCode = exitCodeOf[result];
  if (json) return void process.stdout.write(`${JSON.stringify({ result, messages }, null, 2)}\n`);
  const stream = process.exitCode === exitDone ? process.stdout : process.stderr;
  const plan = result === 'planned' ? ['This was a dry run: nothing was done.'] : [];
  for (const sentence of [...messages, ...plan]) stream.write(`${sentence}\n`);
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
