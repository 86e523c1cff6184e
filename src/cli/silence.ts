// `warmwarden silence add|list|expire`: mutes messages for a while. The guard goes on.
import { Command, Option } from 'commander';
import { matchText, periods } from '../core/alert.ts';
import { type Severity, severities } from '../core/alert-rules.ts';
import { secondMs } from '../core/time.ts';
import type { SilencesAnswer } from '../web/json/alerts.ts';
import { addressOf, askFor, type DaemonOptions, withDaemonOptions } from './daemon.ts';
import { type ChangeOptions, operate, withChangeOptions, withConfirmOptions } from './operations.ts';
import { duration, printJson } from './options.ts';
import { momentIn, printLines, tableLines } from './terminal.ts';

interface AddOptions extends ChangeOptions {
  readonly for: number;
  readonly from?: string;
  readonly every?: (typeof periods)[number];
  readonly until?: string;
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
    .option('--from <time>', 'when it begins: "2026-12-05 22:00", in alerts.time_zone (default: now)')
    .addOption(new Option('--every <period>', 'repeat it at the same time of day').choices([...periods]))
    .option('--until <day>', 'the last day of a repetition (default: until you expire it)')
    .requiredOption('--reason <text>', 'why, for your colleagues and the audit log')
    .action((options: AddOptions) => {
      const { rule, account, tag, provider, mailbox, domain, object, severity } = options;
      const match = { rule, account, tag, provider, mailbox, domain, object, severity };
      const { from, every, until } = options;
      return operate(options, 'silence-add', { match, for_seconds: options.for / secondMs, from, every, until });
    });
}

function listCommand(): Command {
  return withDaemonOptions(new Command('list'))
    .description('list the active and planned silences, and the mute times that are on')
    .action(list);
}

async function list(options: DaemonOptions): Promise<void> {
  const answer = (await askFor(addressOf(options), 'silences', { limit: mostShown })) as SilencesAnswer;
  const { time_zone: zone, at, silences, mute_times: mutes } = answer;
  if (options.json) return void printJson('silence list', { at, time_zone: zone, silences, mute_times: mutes });
  const moment = momentIn(zone);
  const on = mutes.map(({ name, until }) => `Mute time ${name} is on until ${moment(until)}.`);
  if (silences.length === 0) return void printLines([...on, 'No silence is active.']);
  const repeated = ({ every, ends }: NonNullable<(typeof silences)[number]['repeats']>) =>
    `, every ${every}${ends === null ? '' : ` until ${moment(ends)}`}`;
  const rows = silences.map(({ id, match, by, reason, from, until, repeats }) => [
    `${from > at ? `next: ${moment(from)} to ` : ''}${moment(until)}${repeats ? repeated(repeats) : ''}`,
    ...[matchText(match), by, reason, id],
  ]);
  printLines([...on, ...tableLines({ titles: ['UNTIL', 'MATCHES', 'BY', 'REASON', 'ID'], rows })]);
}

function expireCommand(): Command {
  return withChangeOptions(new Command('expire'))
    .description('end a silence now; alerts that are still firing are sent')
    .argument('<silence>', 'its id, as `silence list` shows it')
    .action((id: string, options: ChangeOptions) => operate(options, 'silence-expire', { id }));
}
