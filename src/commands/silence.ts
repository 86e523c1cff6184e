// `warmwarden silence add|list|expire`: a person mutes messages for a while. The guard goes on.
import { Command, Option } from 'commander';
import { matchText, type Severity, severities } from '../model/alert.ts';
import { secondMs } from '../model/time.ts';
import { askDaemon } from '../operator/daemon-client.ts';
import { Ledger } from '../store/ledger.ts';
import { momentText } from '../wording/phrases.ts';
import { systemClock } from '../world.ts';
import { type ChangeOptions, change, withChangeOptions, withConfirmOptions } from './confirm.ts';
import { duration } from './duration.ts';
import { findStore } from './loading.ts';
import { withDaemonOptions } from './send-command.ts';

interface AddOptions extends ChangeOptions {
  readonly for: number;
  readonly rule?: string[];
  readonly account?: string[];
  readonly mailbox?: string[];
  readonly domain?: string[];
  readonly severity?: Severity[];
}

const configOption = ['--config <file>', 'the configuration of the running daemon', 'config.yaml'] as const;

export function silenceCommand(): Command {
  return new Command('silence')
    .description('mute messages for a while: never the guard, never the end of an announced alert')
    .addCommand(addCommand())
    .addCommand(listCommand())
    .addCommand(expireCommand());
}

function addCommand(): Command {
  return withConfirmOptions(withDaemonOptions(new Command('add')))
    .description('mute the alerts that match all that is given; * and ? stand for any text and one character')
    .option('--rule <glob...>', 'alert rules, for example "dns_*"')
    .option('--account <glob...>', 'accounts')
    .option('--mailbox <glob...>', 'addresses, or exact ids')
    .option('--domain <glob...>', 'sending domains')
    .addOption(new Option('--severity <word...>', 'severities').choices([...severities]))
    .requiredOption('--for <duration>', 'how long, for example 2h', duration)
    .requiredOption('--reason <text>', 'why, for those who wonder')
    .action((options: AddOptions) => {
      const { rule, account, mailbox, domain, severity } = options;
      const wanted = { match: { rule, account, mailbox, domain, severity }, for_seconds: options.for / secondMs };
      return change(options, (daemon, carried) => askDaemon(daemon, 'silence-add', { ...carried, ...wanted }));
    });
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

function expireCommand(): Command {
  return withChangeOptions(new Command('expire'))
    .description('end a silence before its time: what still fires is notified')
    .argument('<id>', 'as `silence list` shows it')
    .action((id: string, options: ChangeOptions) =>
      change(options, (daemon, carried) => askDaemon(daemon, 'silence-expire', { ...carried, id })),
    );
}
