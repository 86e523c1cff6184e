// `warmwarden status`: the fleet in the view of the running daemon, the worst mailboxes first.

import { Command } from 'commander';
import { ruleBook } from '../core/alert-rules.ts';
import { accountBadges } from '../core/not-guarded.ts';
import { counted, overlapText, roughSpanText, visibleText } from '../core/wording/phrases.ts';
import { stateText } from '../core/wording/states.ts';
import type { FleetAnswer } from '../web/json/fleet.ts';
import { addressOf, askFor, askForAll, type DaemonOptions, withDaemonOptions } from './daemon.ts';
import { CommandError, exitDone, exitFailed } from './errors.ts';
import { printJson } from './options.ts';
import { acknowledgedIn, coloured, printLines, silencedText, tableLines } from './terminal.ts';

const mailboxesShown = 20;

interface StatusOptions extends DaemonOptions {
  readonly all?: boolean;
  readonly held?: boolean;
  readonly paused?: boolean;
  readonly account?: string;
  readonly tag?: string;
}

export function statusCommand(): Command {
  return withDaemonOptions(new Command('status'))
    .description('show the fleet, the worst first: what is wrong, what was done, how old the data is')
    .option('--all', `show every mailbox, not only the worst ${mailboxesShown}`)
    .option('--held', 'only the held mailboxes, without action yet: why, and what ends it')
    .option(
      '--paused',
      'only the mailboxes that are paused, or in recovery by Warmwarden: since when, by whom, why, and what ends it',
    )
    .option('--account <name>', 'only the table of the mailboxes of this account')
    .option('--tag <glob>', 'only the table of the mailboxes with this tag')
    .action(status);
}

async function status(options: StatusOptions): Promise<void> {
  const { json = false, all = false, held = false, paused = false, account, tag } = options;
  const isList = held || paused;
  const state = held && !paused ? 'held' : undefined;
  const query = { account, tag, held: isList ? 'true' : undefined, state };
  const address = addressOf({ ...options, mayBeUsual: true });
  const answer = (await (json || all || isList
    ? askForAll(address, 'fleet', 'mailboxes', query)
    : askFor(address, 'fleet', query))) as FleetAnswer;
  // The alerts are among the lines, so that an alert that mailboxes are not guarded is no line of its own.
  const isAlarmed = answer.alert_groups.some(({ rule }) => rule === 'not_guarded');
  process.exitCode = troublesOf(answer).length === 0 && !isAlarmed ? exitDone : exitFailed;
  const { next_cursor: _, ...whole } = answer;
  const mailboxes = paused && !held ? whole.mailboxes.filter((one) => one.state !== 'held') : whole.mailboxes;
  const shown = { ...whole, mailboxes, total: whole.total - whole.mailboxes.length + mailboxes.length };
  if (json) return void printJson('status', shown);
  const most = all ? answer.mailboxes.length : mailboxesShown;
  const isPart = account !== undefined || tag !== undefined;
  if (!isPart && !isList) return printLines(statusLines(answer, most));
  // The other lines are about the whole fleet, and may name other clients.
  if (isPart && answer.total === 0) {
    const { total } = isList ? ((await askFor(address, 'fleet', { account, tag })) as FleetAnswer) : answer;
    const which = [account && `account ${account}`, tag && `the tag ${tag}`].filter(Boolean).join(' and ');
    if (total === 0) throw new CommandError('unknown_name', `No mailbox has ${which}.`);
  }
  if (!isList) return printLines(tableOf(answer, most));
  const lines = heldLines(shown);
  printLines(
    lines.length > 0 ? lines : [paused ? 'No warm-up is paused, or in recovery by Warmwarden.' : 'No action is held.'],
  );
}

type Mailbox = FleetAnswer['mailboxes'][number];

const tones = { calm: 'green', acted: 'yellow', alarm: 'red', unknown: 'magenta' } as const;
/** Maximum number of entries that are named; the others are counted. */
const alertsNamed = 5;

/** Sentences, then the table of the worst `most` mailboxes. */
export function statusLines(answer: FleetAnswer, most: number): readonly string[] {
  return [
    coloured(tones[answer.tone], answer.headline),
    answer.advice,
    answer.guarding,
    ...troublesOf(answer).map((line) => coloured('red', line)),
    ...saidBesides(answer),
    ...alertLines(answer),
    '',
    ...tableOf(answer, most),
  ];
}

/** Lines of the worst `most` mailboxes, and the number of the others. */
function tableOf(answer: FleetAnswer, most: number): readonly string[] {
  const shown = answer.mailboxes.slice(0, most);
  const more = answer.total - shown.length;
  return [
    ...(shown.length > 0 ? mailboxLines(shown, answer) : []),
    ...(more > 0 ? [`... and ${more} more, none of them worse (--all shows them)`] : []),
  ];
}

/** Lines of each mailbox that something holds: its age, why, and what ends it. */
function heldLines({ at, mailboxes }: Pick<FleetAnswer, 'at' | 'mailboxes'>): readonly string[] {
  return mailboxes.flatMap(({ account, name, state, held }) => {
    const age = held?.since ? roughSpanText(Date.parse(at) - Date.parse(held.since)) : '?';
    const who = held?.name ? `Paused by ${held.name}` : stateText(state, null);
    const below = [held?.text, `Ends with: ${held?.ends}`].map((line) => `${' '.repeat(10)}${line}`);
    return [`${age.padEnd(8)}  ${account}/${name}: ${who}`, ...below].map(visibleText);
  });
}

/** Reasons why mailboxes are not guarded, and channels that take no messages. */
function troublesOf(answer: FleetAnswer): readonly string[] {
  const { channels, not_guarded: troubles, store_failure: storeFailure } = answer;
  return [
    ...(storeFailure === null ? [] : [`store: ${storeFailure.said}`]),
    ...troubles.map(({ account, why }) => `account ${account}: NOT GUARDED, ${why}`),
    ...channels.flatMap(({ name, pending, last_failure: why }) =>
      why === null ? [] : [`channel ${name}: ${pending} waiting, ${why}`],
    ),
  ].map(visibleText);
}

/** Lines about incidents, first sweeps and overlaps, unless the headline mentions them. */
function saidBesides({ accounts, incidents, headline }: FleetAnswer): readonly string[] {
  const elsewhere = accounts.filter(({ guarded_elsewhere: overlap }) => overlap.length > 0);
  return [
    ...incidents.flatMap(({ title }) => (headline.includes(title) ? [] : [`Incident: ${title}`])),
    ...accounts.flatMap(({ first_sweep: sweep }) => (sweep && !headline.includes(sweep.text) ? [sweep.text] : [])),
    ...elsewhere.map(({ name, guarded_elsewhere: overlap }) => `Account ${name}: ${overlapText(overlap)}.`),
  ].map(visibleText);
}

/** The most severe alerts: many of one rule share a line, and the last line counts the rest. */
function alertLines({ alert_groups: groups, alerts_firing: firing, time_zone: zone }: FleetAnswer): readonly string[] {
  if (groups.length === 0) return [];
  const named = groups.slice(0, alertsNamed);
  const lines = named.flatMap(({ rule, severity, title, silenced, acknowledged, count }) => {
    const what = count === 1 ? visibleText(title) : `${counted(count, 'alert')}: ${ruleBook[rule].name}`;
    const line = `${severity.padEnd(8)}  ${what}`;
    const muted = silenced && count === 1 ? [`${' '.repeat(10)}silenced ${silencedText(silenced, zone)}`] : [];
    const known = acknowledged && count === 1 ? [`${' '.repeat(10)}${acknowledgedIn(zone, acknowledged)}`] : [];
    return [severity === 'critical' ? coloured('red', line) : line, ...muted, ...known];
  });
  const more = firing - named.reduce((sum, { count }) => sum + count, 0);
  return [
    ...lines,
    ...(more > 0 ? [`... and ${counted(more, 'more alert')}`] : []),
    '`warmwarden alerts list --details` shows what to do about each alert',
  ];
}

function mailboxLines(mailboxes: readonly Mailbox[], answer: FleetAnswer): readonly string[] {
  const troubles = accountBadges(answer.not_guarded);
  const several = new Set(mailboxes.map(({ account }) => account)).size > 1;
  const alerts = mailboxes.some((one) => one.alerts.length > 0);
  const rows = mailboxes.map(({ account, name, state, paused_by: by, mode, verdict, stats_at: statsAt, ...one }) => [
    [
      by
        ? `Paused by ${by}`
        : stateText(
            state,
            verdict && { sent: verdict.sent, days: verdict.window_days, isEmergency: verdict.emergency !== null },
          ),
      // The state OK alone would mean that the mailbox is guarded; every other state needs a look anyway.
      state === 'ok' ? troubles.get(account) : null,
    ]
      .filter(Boolean)
      .join(', '),
    several ? `${account}/${name}` : name,
    mode ?? '?',
    ...(verdict ? countsCells(verdict) : ['?', '?']),
    percentText(verdict?.limit_percent),
    statsAt === null ? 'never' : roughSpanText(Date.parse(answer.at) - Date.parse(statsAt)),
    ...(alerts ? [one.alerts.join(' ')] : []),
  ]);
  const numbers = ['BOUNCED', 'RATE', 'LIMIT', 'AGE'];
  const names = several ? 'ACCOUNT/MAILBOX' : 'MAILBOX';
  return tableLines({ titles: ['STATE', names, 'MODE', ...numbers, ...(alerts ? ['ALERTS'] : [])], rows, numbers });
}

type JsonVerdict = NonNullable<Mailbox['verdict']>;

/** Counts that decided, and their rate. */
function countsCells({ emergency, ...window }: JsonVerdict): readonly [counts: string, rate: string] {
  const { sent, bounced } = emergency ?? window;
  return [`${bounced} of ${sent}`, sent === 0 ? '-' : percentText((bounced * 100) / sent)];
}

function percentText(value: number | null | undefined): string {
  return value === null || value === undefined ? '?' : `${Number(value.toFixed(2))}%`;
}
