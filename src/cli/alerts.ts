// `warmwarden alerts list`: what fires, the gravest first.

import { Command, Option } from 'commander';
import { severities } from '../core/alert.ts';
import { visibleText } from '../core/wording/phrases.ts';
import { type AlertsAnswer, maxAlerts } from '../web/json/alerts.ts';
import { printJson } from './options.ts';
import { addressOf, askFor, type DaemonOptions, withDaemonOptions } from './sources/daemon-client.ts';
import { screenColumns } from './terminal/outputs.ts';
import { tableText } from './terminal/table.ts';
import { momentIn, silencedText, wrapped } from './terminal/wrapped.ts';

type Query = Readonly<Record<string, string>>;

/** Every alert that matches the query, page by page. */
async function everyAlert(options: DaemonOptions, query: Query): Promise<AlertsAnswer> {
  const address = addressOf(options);
  const page = (more: Query) =>
    askFor(address, 'alerts', { ...query, limit: `${maxAlerts}`, ...more }) as Promise<AlertsAnswer>;
  const first = await page({});
  const alerts = [...first.alerts];
  for (let cursor = first.next_cursor; cursor !== null; ) {
    const next = await page({ cursor });
    alerts.push(...next.alerts);
    cursor = next.next_cursor;
  }
  return { ...first, total: alerts.length, alerts, next_cursor: null };
}

interface ListOptions extends DaemonOptions {
  readonly all?: boolean;
  readonly details?: boolean;
  readonly severity?: readonly string[];
}

/** Narrower than this a title tells nothing. */
const minTitleWidth = 24;

export function alertsCommand(): Command {
  const list = withDaemonOptions(new Command('list'))
    .description('list the alerts that are firing, the most severe first')
    .option('--details', 'show what each alert says: the numbers, what Warmwarden did, and what to do')
    .option('--all', 'also list pending alerts, which fire if their cause lasts')
    .addOption(new Option('--severity <word...>', 'only these severities').choices([...severities]))
    .action(listAlerts);
  return new Command('alerts').description('list the alerts that are firing').addCommand(list);
}

async function listAlerts(options: ListOptions): Promise<void> {
  const { all = false, details = false, severity = severities, json = false } = options;
  const status = all ? {} : { status: 'firing' };
  const answer = await everyAlert(options, { severity: severity.join(), ...status });
  const { alerts } = answer;
  const { next_cursor: _, ...whole } = answer;
  if (json) return void printJson('alerts list', whole);
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
