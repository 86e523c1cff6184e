// `warmwarden alerts list`: what fires, the gravest first; of the running daemon, or as its store knew it last.

import { Command, Option } from 'commander';
import { type Alert, type Silence, severities } from '../core/alert.ts';
import type { Incident } from '../core/incident.ts';
import { visibleText } from '../core/wording/phrases.ts';
import { type AlertsAnswer, alertsAnswer, maxAlerts } from '../web/json/alerts-answer.ts';
import { systemClock } from '../world/world.ts';
import { printJson } from './options.ts';
import {
  addressOf,
  askFor,
  type DaemonAddress,
  type DaemonOptions,
  withDaemonOptions,
  zoneOf,
} from './sources/daemon-client.ts';
import { ledgerBeside, unanswered } from './sources/ledger-beside.ts';
import { NoDaemonError } from './sources/sign-of-life.ts';
import { exitFailed } from './terminal/command-error.ts';
import { screenColumns } from './terminal/outputs.ts';
import { tableText } from './terminal/table.ts';
import { momentIn, silencedText, wrapped } from './terminal/wrapped.ts';

// Every alert that fits, however many there are: page by page of the running daemon, or of its store.

type Query = Readonly<Record<string, string>>;

/** null: no daemon answers. */
async function everyAlertOf(address: DaemonAddress, query: Query): Promise<AlertsAnswer | null> {
  const page = async (asked: Query) => (await askFor(address, 'alerts', asked)) as AlertsAnswer | null;
  const first = await page(pageOf(query, null));
  return first && joined(first, async (cursor) => page(pageOf(query, cursor)));
}

interface Known {
  readonly alerts: Iterable<Alert>;
  readonly incidents: readonly Incident[];
  readonly silences: readonly Silence[];
}

/** As a store knew them last. `zone`: of the times, an IANA name. */
async function everyKnownAlert(known: Known, zone: string, query: Query): Promise<AlertsAnswer> {
  const all = {
    alerts: [...known.alerts],
    incidents: known.incidents,
    silences: known.silences,
    now: systemClock().now(),
    zone,
  };
  const page = async (cursor: string | null) => {
    const answer = await alertsAnswer(all, new URLSearchParams(pageOf(query, cursor)));
    if (answer.status === 400) throw new Error(answer.body.message);
    return answer.body;
  };
  return joined(await page(null), page);
}

function pageOf(query: Query, cursor: string | null): Query {
  return { ...query, limit: `${maxAlerts}`, ...(cursor !== null && { cursor }) };
}

async function joined(
  first: AlertsAnswer,
  page: (cursor: string) => Promise<AlertsAnswer | null>,
): Promise<AlertsAnswer> {
  const alerts = [...first.alerts];
  for (let cursor = first.next_cursor; cursor !== null; ) {
    const next = await page(cursor);
    if (!next) throw new NoDaemonError('The daemon ended before it had answered.');
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
