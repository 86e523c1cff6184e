// `warmwarden silence add|list|expire`: a person mutes messages for a while. The guard goes on.
import { Command, Option } from 'commander';
import { matchText, type Severity, severities } from '../core/alert.ts';
import { secondMs } from '../core/time.ts';
import type { SilencesAnswer } from '../web/json/alerts.ts';
import { type ChangeOptions, change, withChangeOptions, withConfirmOptions } from './confirm.ts';
import { printJson } from './options.ts';
import { addressOf, askDaemon, askFor, type DaemonOptions, withDaemonOptions } from './sources/daemon-client.ts';
import { screenColumns } from './terminal/outputs.ts';
import { tableText } from './terminal/table.ts';
import { duration, momentIn } from './terminal/wrapped.ts';

/** A column on a screen that is too narrow keeps so many letters. */
const leastLetters = 8;

interface AddOptions extends ChangeOptions {
  readonly for: number;
  readonly rule?: string[];
  readonly account?: string[];
  readonly mailbox?: string[];
  readonly domain?: string[];
  readonly object?: string[];
  readonly severity?: Severity[];
}

/** What one answer holds at most. */
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
    .option('--mailbox <glob...>', 'addresses, or exact ids')
    .option('--domain <glob...>', 'sending domains')
    .option(
      '--object <glob...>',
      'what else an alert is about: an IP address, a channel, the address of an API; for alerts about a whole domain, the domain',
    )
    .addOption(new Option('--severity <word...>', 'severities').choices([...severities]))
    .requiredOption('--for <duration>', 'how long, for example 2h', duration)
    .requiredOption('--reason <text>', 'why, for your colleagues and the audit log')
    .action((options: AddOptions) => {
      const { rule, account, mailbox, domain, object, severity } = options;
      const wanted = {
        match: { rule, account, mailbox, domain, object, severity },
        for_seconds: options.for / secondMs,
      };
      return change(options, (daemon, carried) => askDaemon(daemon, 'silence-add', { ...carried, ...wanted }));
    });
}

function listCommand(): Command {
  return withDaemonOptions(new Command('list'))
    .description('list the active silences, the next to expire first')
    .action(list);
}

async function list(options: DaemonOptions): Promise<void> {
  const answer = (await askFor(addressOf(options), 'silences', { limit: `${mostShown}` })) as SilencesAnswer;
  if (options.json) printJson('silence list', { time_zone: answer.time_zone, silences: answer.silences });
  else if (answer.silences.length === 0) process.stdout.write('No silence is active.\n');
  else process.stdout.write(tableOf(answer));
}

function tableOf({ silences, time_zone: zone }: SilencesAnswer): string {
  const columns = [
    { title: 'UNTIL' },
    { title: 'MATCHES', least: leastLetters },
    { title: 'BY', least: leastLetters },
    { title: 'REASON', least: leastLetters },
    { title: 'ID' },
  ];
  const rows = silences.map(({ id, match, by, reason, until }) => [
    momentIn(zone)(until),
    matchText(match),
    by,
    reason,
    id,
  ]);
  return tableText(columns, rows, screenColumns());
}

function expireCommand(): Command {
  return withChangeOptions(new Command('expire'))
    .description('end a silence now; alerts that are still firing are sent')
    .argument('<silence>', 'its id, as `silence list` shows it')
    .action((id: string, options: ChangeOptions) =>
      change(options, (daemon, carried) => askDaemon(daemon, 'silence-expire', { ...carried, id })),
    );
}
