// `warmwarden alerts list`: what fires, the gravest first; of the running daemon, or as its store knew it last.
import { Command, Option } from 'commander';
import { severities } from '../model/alert.ts';
import type { AlertsAnswer } from '../serve/json/alerts-answer.ts';
import { exitFailed } from '../terminal/exit-codes.ts';
import { momentIn } from '../terminal/moment.ts';
import { screenColumns } from '../terminal/screen.ts';
import { silencedText } from '../terminal/silenced-text.ts';
import { tableText } from '../terminal/table.ts';
import { wrapped } from '../terminal/wrapped.ts';
import { visibleText } from '../wording/visible-text.ts';
import { everyAlertOf, everyKnownAlert } from './alerts/every-alert.ts';
import { printJson } from './options.ts';
import { ledgerBeside, unanswered } from './sources/ledger-beside.ts';
import { addressOf, type DaemonOptions, withDaemonOptions, zoneOf } from './sources/send-command.ts';

interface ListOptions extends DaemonOptions {
  readonly all?: boolean;
  readonly details?: boolean;
  readonly severity?: readonly string[];
}

/** Narrower than this a title tells nothing. */
const minTitleWidth = 24;

export function alertsCommand(): Command {
  const list = withDaemonOptions(new Command('list'))
    .description('list the alerts that are firing, the most severe first; exits with 1 when no daemon runs')
    .option('--details', 'show what each alert says: the numbers, what Warmwarden did, and what to do')
    .option('--all', 'also list pending alerts, which fire if their cause lasts')
    .addOption(new Option('--severity <word...>', 'only these severities').choices([...severities]))
    .action(listAlerts);
  return new Command('alerts').description('list the alerts that are firing').addCommand(list);
}

async function listAlerts(options: ListOptions): Promise<void> {
  const { all = false, details = false, severity = severities, json = false } = options;
  const status = all ? {} : { status: 'firing' };
  const { unguarded, ...answer } = await answerOf(options, { severity: severity.join(), ...status });
  const { alerts } = answer;
  if (!answer.guarded) process.exitCode = exitFailed;
  const { next_cursor: _, ...whole } = answer;
  if (json) return void printJson('alerts list', whole);
  if (unguarded) process.stderr.write(`${unguarded.headline} ${unguarded.advice}\n`);
  const lines = details ? detailsOf : linesOf;
  process.stdout.write(`${incidentLines(answer)}${alerts.length === 0 ? noneOf(options) : lines(answer)}`);
}

/** A paragraph for each: its title, where and since when, and all its sentences. */
function detailsOf({ alerts, time_zone: zone }: Pick<AlertsAnswer, 'alerts' | 'time_zone'>): string {
  const paragraphs = alerts.map(({ severity, since, rule, title, status, sentences, silenced }) => {
    const pending = status === 'firing' ? '' : ` (${status})`;
    const said = [`${rule}${pending}, since ${momentIn(zone)(since)}`, ...sentences];
    if (silenced) said.push(`Silenced ${silencedText(silenced, zone)}.`);
    const lines = [`${severity}: ${title}`, ...said.map((text) => `  ${text}`)];
    return lines.flatMap((line) => wrapped(visibleText(line), screenColumns()));
  });
  return `${paragraphs.map((lines) => lines.join('\n')).join('\n\n')}\n`;
}

/** With the options that may leave others out. */
function noneOf({ all = false, severity = [] }: ListOptions): string {
  const which = severity.length === 0 ? '' : ` with severity ${severity.join(' or ')}`;
  return `No alert${which} is ${all ? 'firing or pending' : 'firing'}.\n`;
}

/** With `guarded` false no daemon answers, and the alerts are those that were known last. */
async function answerOf(options: DaemonOptions, query: Readonly<Record<string, string>>) {
  const address = addressOf(options);
  const answer = await everyAlertOf(address, query);
  if (answer) return { unguarded: null, guarded: true, ...answer };
  const ledger = await ledgerBeside(address);
  try {
    const unguarded = unanswered(await ledger.guardian(), 'These alerts were known last.');
    return { unguarded, guarded: false, ...(await everyKnownAlert(await ledger.picture(), zoneOf(options), query)) };
  } finally {
    await ledger.close();
  }
}

/** Incidents come first: most of the alerts below may belong to one. */
function incidentLines({ incidents }: AlertsAnswer): string {
  const lines = incidents.flatMap(({ severity, title }) =>
    wrapped(`Incident, ${severity}: ${visibleText(title)}`, screenColumns()),
  );
  return lines.length === 0 ? '' : `${lines.join('\n')}\n\n`;
}

function linesOf({ alerts, time_zone: zone }: Pick<AlertsAnswer, 'alerts' | 'time_zone'>): string {
  const anySilenced = alerts.some(({ silenced }) => silenced !== null);
  const columns = [
    { title: 'SEVERITY' },
    { title: 'SINCE' },
    { title: 'RULE' },
    { title: 'ALERT', least: minTitleWidth },
    ...(anySilenced ? [{ title: 'SILENCED' }] : []),
  ];
  const rows = alerts.map(({ severity, since, rule, title, status, silenced }) => [
    severity,
    momentIn(zone)(since),
    status === 'firing' ? rule : `${rule} (${status})`,
    title,
    ...(anySilenced ? [silenced ? silencedText(silenced, zone) : 'no'] : []),
  ]);
  return tableText(columns, rows, screenColumns());
}
