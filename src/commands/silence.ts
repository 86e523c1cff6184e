// `warmwarden silence add|list|end`: a person mutes messages for a while. The guard goes on.
import { Command, Option } from 'commander';
import { type AlertMatch, matchText, type Severity, severities } from '../model/alert.ts';
import { askDaemon } from '../operator/socket.ts';
import { Ledger } from '../store/ledger.ts';
import { momentText } from '../wording/phrases.ts';
import { systemClock } from '../world.ts';
import { type ConfirmOptions, confirmAndSend, withConfirmOptions } from './confirm.ts';
import { duration } from './duration.ts';
import { findStore } from './loading.ts';
import { type DaemonOptions, sendCommand, withDaemonOptions } from './send-command.ts';

interface AddOptions extends ConfirmOptions {
  readonly for: number;
  readonly reason: string;
  readonly rule?: string[];
  readonly account?: string[];
  readonly mailbox?: string[];
  readonly domain?: string[];
  readonly severity?: Severity[];
}

const configOption = ['--config <file>', 'the configuration of the running daemon', 'config.yaml'] as const;

export function silenceCommand(): Command {
  return new Command('silence')
    .description('mute messages for a while: never the guard, never the end of what was told')
    .addCommand(addCommand())
    .addCommand(listCommand())
    .addCommand(endCommand());
}

function addCommand(): Command {
  return withConfirmOptions(new Command('add'))
    .description('mute the alerts that fit all that is given; * and ? stand for any text and one character')
    .option('--rule <glob...>', 'alert rules, for example "dns_*"')
    .option('--account <glob...>', 'accounts')
    .option('--mailbox <glob...>', 'addresses, or exact ids')
    .option('--domain <glob...>', 'sending domains')
    .addOption(new Option('--severity <word...>', 'severities').choices([...severities]))
    .requiredOption('--for <duration>', 'how long, for example 2h', duration)
    .requiredOption('--reason <text>', 'why, for those who wonder')
    .action(({ config, url, yes = false, json = false, for: forMs, reason, ...match }: AddOptions) =>
      confirmAndSend({ config, yes, json, ...(url && { url }) }, (daemon, by, preview) =>
        askDaemon(daemon, 'silence', { match: match satisfies AlertMatch, forMs, by, reason, preview }),
      ),
    );
}

function listCommand(): Command {
  return new Command('list')
    .description('the silences in force, the one that ends next first')
    .option('--json', 'as JSON')
    .option(...configOption)
    .action(list);
}

async function list({ config: file, json }: { readonly config: string; readonly json?: boolean }): Promise<void> {
  const store = findStore(file);
  if (store === null) return;
  const ledger = Ledger.open(store);
  const silences = await ledger.silences(systemClock().now()).finally(() => ledger.close());
  const shown = silences.map(({ id, match, by, reason, from, until }) => ({
    id,
    match,
    by,
    reason,
    from: new Date(from).toISOString(),
    until: new Date(until).toISOString(),
  }));
  if (json) process.stdout.write(`${JSON.stringify({ silences: shown })}\n`);
  else if (shown.length === 0) process.stdout.write('Nothing is silenced.\n');
  else
    for (const { id, match, by, reason, until } of shown)
      process.stdout.write(`${id}  until ${momentText(Date.parse(until))}  ${matchText(match)}  by ${by}: ${reason}\n`);
}

function endCommand(): Command {
  return withDaemonOptions(new Command('end'))
    .description('end a silence before its time: what still goes on is told')
    .argument('<id>', 'as `warmwarden silence list` shows it')
    .option('--reason <text>', 'why, for the ledger', '')
    .action((id: string, options: DaemonOptions & { readonly reason: string }) =>
      sendCommand(options, (daemon, by) => askDaemon(daemon, 'endSilence', { id, by, reason: options.reason })),
    );
}
