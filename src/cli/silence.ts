// `warmwarden silence add|list|expire`: mutes messages for a while. The guard goes on.
import { Command, Option } from 'commander';
import { matchText } from '../core/alert.ts';
import { type Severity, severities } from '../core/alert-rules.ts';
import { secondMs } from '../core/time.ts';
import type { SilencesAnswer } from '../web/json/alerts.ts';
import { addressOf, askFor, type DaemonOptions, withDaemonOptions } from './daemon.ts';
import { type ChangeOptions, operate, withChangeOptions, withConfirmOptions } from './operations.ts';
import { duration, printJson } from './options.ts';
import { momentIn, printLines, tableLines } from './terminal.ts';

interface AddOptions extends ChangeOptions {
  readonly for: number;
  readonly rule?: string[];
  readonly account?: string[];
  readonly tag?: string[];
  readonly provider?: string[];
  readonly mailbox?: string[];
  readonly domain?: string[];
  readonly object?: string[];
  readonly severity?: Severity[];
}

/** Maximum number of silences in one answer. */
const mostShown = 1_000;

export function silenceCommand(): Command {
  return new Command('silence')
    .description(
      'mute alert messages for a while; Warmwarden continues to guard, and still sends the end of an announced alert',
    )
    .addCommand(addCommand())
    .addCommand(listCommand())
    .addCommand(expireCommand());
}

function addCommand(): Command {
  return withConfirmOptions(withDaemonOptions(new Command('add')))
    .description('mute the alerts that match all of these options; * matches any text, ? one character')
    .option('--rule <glob...>', 'alert rules, for example "dns_*"')
    .option('--account <glob...>', 'accounts')
    .option('--tag <glob...>', 'tags: "client=*"')
    .option('--provider <glob...>', 'providers')
    .option('--mailbox <glob...>', 'addresses, or ids')
    .option('--domain <glob...>', 'sending domains')
    .option('--object <glob...>', 'what else an alert is about: an IP address, a channel, an API, a whole domain')
    .addOption(new Option('--severity <word...>', 'severities').choices([...severities]))
    .requiredOption('--for <duration>', 'how long, for example 2h', duration)
    .requiredOption('--reason <text>', 'why, for your colleagues and the audit log')
    .action((options: AddOptions) => {
      const { rule, account, tag, provider, mailbox, domain, object, severity } = options;
      const match = { rule, account, tag, provider, mailbox, domain, object, severity };
      return operate(options, 'silence-add', { match, for_seconds: options.for / secondMs });
    });
}

function listCommand(): Command {
  return withDaemonOptions(new Command('list'))
    .description('list the active silences, the next to expire first')
    .action(list);
}

async function list(options: DaemonOptions): Promise<void> {
  const answer = (await askFor(addressOf(options), 'silences', { limit: mostShown })) as SilencesAnswer;
  const { time_zone: zone, silences } = answer;
  if (options.json) return void printJson('silence list', { time_zone: zone, silences });
  if (silences.length === 0) return void printLines(['No silence is active.']);
  const rows = silences.map(({ id, match, by, reason, until }) => {
    return [momentIn(zone)(until), matchText(match), by, reason, id];
  });
  printLines(tableLines({ titles: ['UNTIL', 'MATCHES', 'BY', 'REASON', 'ID'], rows }));
}

function expireCommand(): Command {
  return withChangeOptions(new Command('expire'))
    .description('end a silence now; alerts that are still firing are sent')
    .argument('<silence>', 'its id, as `silence list` shows it')
    .action((id: string, options: ChangeOptions) => operate(options, 'silence-expire', { id }));
}
