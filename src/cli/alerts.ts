// `warmwarden alerts list`: the alerts that fire, the most severe first.
import { Command, Option } from 'commander';
import { severities } from '../core/alert-rules.ts';
import { visibleText } from '../core/wording/phrases.ts';
import { type AlertsAnswer, maxAlerts } from '../web/json/alerts.ts';
import { addressOf, askForAll, type DaemonOptions, withDaemonOptions } from './daemon.ts';
import { printJson } from './options.ts';
import { acknowledgedIn, momentIn, printLines, silencedText, tableLines } from './terminal.ts';

interface AlertsOptions extends DaemonOptions {
  readonly all?: boolean;
  readonly details?: boolean;
  readonly severity?: readonly string[];
}

export function alertsCommand(): Command {
  const list = withDaemonOptions(new Command('list'))
    .description('list the alerts that are firing, the most severe first')
    .option('--details', 'show the numbers, what Warmwarden did, and what to do')
    .option('--all', 'also list pending alerts')
    .addOption(new Option('--severity <word...>', 'only these severities').choices([...severities]))
    .action(listAlerts);
  return new Command('alerts').description('list the alerts that are firing').addCommand(list);
}

async function listAlerts(options: AlertsOptions): Promise<void> {
  const { all = false, details = false, severity = severities, json = false } = options;
  const query = { severity: severity.join(), limit: maxAlerts, status: all ? undefined : 'firing' };
  const answer = (await askForAll(addressOf(options), 'alerts', 'alerts', query)) as AlertsAnswer;
  const { next_cursor: _, ...whole } = answer;
  if (json) return void printJson('alerts list', { ...whole, total: answer.alerts.length });
  // An incident may cover most of the alerts.
  for (const { severity: worst, title, sentences } of answer.incidents)
    printLines([`Incident, ${worst}: ${visibleText(title)}`, ...sentences.map((text) => `  ${text}`), '']);
  if (answer.alerts.length === 0) printLines([noneText(options)]);
  else if (details) printLines(detailsOf(answer));
  else printAlerts(answer);
}

/** Paragraph for each alert: its title, where and since when, and all its sentences. */
function detailsOf({ alerts, time_zone: zone }: AlertsAnswer): readonly string[] {
  return alerts.flatMap(({ severity, since, rule, title, status, sentences, silenced, acknowledged }, index) => {
    const pending = status === 'firing' ? '' : ` (${status})`;
    const said = [`${rule}${pending}, since ${momentIn(zone)(since)}`, ...sentences];
    if (silenced) said.push(`Silenced ${silencedText(silenced, zone)}.`);
    if (acknowledged) said.push(acknowledgedIn(zone, acknowledged));
    const lines = [`${severity}: ${title}`, ...said.map((text) => `  ${text}`)].map(visibleText);
    return index === 0 ? lines : ['', ...lines];
  });
}

/** Names the options that may leave alerts out. */
function noneText({ all = false, severity = [] }: AlertsOptions): string {
  const which = severity.length === 0 ? '' : ` with severity ${severity.join(' or ')}`;
  return `No alert${which} is ${all ? 'firing or pending' : 'firing'}.`;
}

function printAlerts({ alerts, time_zone: zone }: AlertsAnswer): void {
  const anySilenced = alerts.some(({ silenced }) => silenced !== null);
  const anyAcknowledged = alerts.some(({ acknowledged }) => acknowledged !== null);
  const more = [...(anySilenced ? ['SILENCED'] : []), ...(anyAcknowledged ? ['ACKNOWLEDGED'] : [])];
  const titles = ['SEVERITY', 'SINCE', 'RULE', 'ALERT', ...more, 'ID'];
  const rows = alerts.map(({ severity, since, rule, title, status, silenced, acknowledged, id }) => [
    severity,
    momentIn(zone)(since),
    status === 'firing' ? rule : `${rule} (${status})`,
    title,
    ...(anySilenced ? [silenced ? silencedText(silenced, zone) : 'no'] : []),
    ...(anyAcknowledged ? [acknowledged ? `by ${acknowledged.by}` : 'no'] : []),
    id ?? '',
  ]);
  printLines(tableLines({ titles, rows }));
}
