// The fleet as a table that a person reads in a glance. Pure.
import type { styleText } from 'node:util';
import type { GuardState } from '../../core/mailbox.ts';
import { counted, firstText, overlapText, roughSpanText, visibleText } from '../../core/wording/phrases.ts';
import { accountTrouble, noneJudged, ruleNames, stateWords } from '../../core/wording/states.ts';
import type { FleetAnswer } from '../../web/json/fleet.ts';
import { type Column, lineOf, shortened, tableCells } from '../terminal/table.ts';
import { silencedText, wrapped } from '../terminal/wrapped.ts';

export interface Screen {
  readonly columns: number;
  /** null: as many as it takes. */
  readonly rows: number | null;
  /** Colours a text, or leaves it. */
  readonly style: (style: Parameters<typeof styleText>[0], text: string) => string;
}

type Mailbox = FleetAnswer['mailboxes'][number];
type Verdict = NonNullable<Mailbox['verdict']>;

interface Row extends Pick<Mailbox, 'account' | 'email' | 'state' | 'mode' | 'stats_at'> {
  /** Absent: an earlier daemon answered. */
  readonly name?: string;
  /** Absent: an earlier daemon answered. */
  readonly paused_by?: string | null;
  readonly alerts: readonly string[];
  readonly verdict: Pick<Verdict, 'sent' | 'bounced' | 'rate_percent' | 'limit_percent' | 'emergency'> | null;
}

/** What of the fleet's JSON the table shows. */
export interface StatusView extends Pick<FleetAnswer, 'at' | 'time_zone' | 'headline' | 'advice' | 'tone' | 'total'> {
  readonly accounts: readonly FleetAnswer['accounts'][number][];
  readonly channels: readonly FleetAnswer['channels'][number][];
  readonly alert_groups: readonly FleetAnswer['alert_groups'][number][];
  readonly alerts_firing: number;
  readonly incidents: readonly FleetAnswer['incidents'][number][];
  readonly mailboxes: readonly Row[];
}

type Style = Parameters<typeof styleText>[0];

const stateStyles: Readonly<Record<GuardState, Style>> = {
  held: ['bold', 'red'],
  not_judged: 'magenta',
  paused_by_guard: 'yellow',
  recovering: 'yellow',
  over_limit: 'yellow',
  near_limit: 'cyan',
  paused_by_others: 'dim',
  not_running: 'dim',
  no_warmup: 'dim',
  ok: 'green',
};
const tones: Readonly<Record<FleetAnswer['tone'], Style>> = {
  calm: 'green',
  acted: 'yellow',
  alarm: ['bold', 'red'],
  unknown: ['bold', 'magenta'],
};

/** On a screen, more entries than this are counted. */
const alertsNamed = 5;
/** A line has room for the title of an alert alone. */
const whatTheySay = '`alerts list --details` shows what to do about each alert';
/** The longest of the states' words: another name is cut there. */
const stateWidth = stateWords.paused_by_guard.length;
/** Narrower than this a column of names tells nothing. */
const minNameWidth = 12;

/** Ends with a line break. Never wider than the screen, and never higher when that is known. */
export function statusText(answer: StatusView, screen: Screen): string {
  // Nothing of a sentence is cut: it may end with a command.
  const lines = (text: string) => wrapped(text, screen.columns);
  const head = [
    ...lines(answer.headline).map((line) => screen.style(tones[answer.tone], line)),
    ...lines(answer.advice),
    ...troubles(answer)
      .flatMap(lines)
      .map((line) => screen.style('red', line)),
    ...incidentLines(answer)
      .flatMap(lines)
      .map((line) => screen.style('yellow', line)),
    ...sweepLines(answer).flatMap(lines),
    ...overlapLines(answer).flatMap(lines),
    ...alertLines(answer, screen),
    '',
  ];
  const room = screen.rows === null ? answer.mailboxes.length : Math.max(3, screen.rows - head.length - 3);
  const shown = answer.mailboxes.slice(0, room);
  const more = answer.total - shown.length;
  const foot = more > 0 ? [screen.style('dim', `... and ${more} more, none of them worse (--all shows them)`)] : [];
  const table = shown.length === 0 ? [] : fleetLines(shown, answer, screen);
  return `${[...head, ...table, ...foot].join('\n')}\n`;
}

/** So many names are listed. */
const namesShown = 5;

function namesText(names: readonly string[]): string {
  return visibleText(firstText(names, namesShown));
}

/** What is wrong beside the mailboxes: accounts that fail, channels that don't take messages. */
function troubles({ accounts, channels }: StatusView): readonly string[] {
  return [
    ...accounts
      .filter(({ failing_since: since }) => since !== null)
      .map(({ name, last_failure: failure }) => `account ${name}: ${visibleText(failure ?? 'no request succeeds')}`),
    ...accounts
      .filter(({ writable }) => writable === false)
      .map(({ name }) => `account ${name}: the key may not write`),
    ...accounts
      .filter(({ judging_failure: failure = null }) => failure !== null)
      .map(
        ({ name, judging_failure: failure }) =>
          `account ${name}: NOT GUARDED, ${noneJudged}: ${visibleText(failure ?? '')}`,
      ),
    ...accounts
      .filter(({ unlisted }) => unlisted.length > 0)
      .map(({ name, unlisted }) => `account ${name}: NOT GUARDED, not in the mailbox list: ${namesText(unlisted)}`),
    ...channels
      .filter(({ last_failure: failure }) => failure !== null)
      .map(
        ({ name, pending, last_failure: failure }) =>
          `channel ${name}: ${pending} waiting, ${visibleText(failure ?? '')}`,
      ),
  ];
}

/** Which accounts see mailboxes that another one guards. */
function overlapLines({ accounts }: StatusView): readonly string[] {
  return accounts.flatMap(({ name, guarded_elsewhere: elsewhere }) =>
    // A daemon of an earlier version does not tell.
    (elsewhere?.length ?? 0) === 0 ? [] : [visibleText(`Account ${name}: ${overlapText(elsewhere)}.`)],
  );
}

/** What many mailboxes share, unless the headline says it. */
function incidentLines({ incidents, headline }: StatusView): readonly string[] {
  return incidents
    .map(({ title }) => `Incident: ${visibleText(title)}`)
    .filter((_, index) => !headline.includes(incidents[index]?.title ?? ''));
}

/** How far each account's first sweep is, unless the headline says it. */
function sweepLines({ accounts, headline }: StatusView): readonly string[] {
  const texts = accounts.flatMap(({ first_sweep: sweep }) => (sweep ? [visibleText(sweep.text)] : []));
  return texts.filter((text) => !headline.includes(text));
}

/**
 * The gravest alerts, one a line, and many of one rule in one; below one that is silenced, until when and by whom; then how many
 * more there are.
 */
function alertLines(
  { alert_groups: groups, alerts_firing: firing, time_zone: zone }: StatusView,
  { columns, rows, style }: Screen,
): readonly string[] {
  const named = groups.slice(0, rows === null ? groups.length : alertsNamed);
  const lines = named.flatMap(({ rule, severity, title, silenced, count }) => {
    const what = count === 1 ? visibleText(title) : `${counted(count, 'alert')}: ${ruleNames[rule]}`;
    const line = shortened(`${severity.padEnd(8)}  ${what}`, columns);
    const muted = silenced && count === 1 ? [`${' '.repeat(10)}silenced ${silencedText(silenced, zone)}`] : [];
    return [
      severity === 'critical' ? style('red', line) : line,
      ...muted.map((one) => style('dim', shortened(one, columns))),
    ];
  });
  const more = firing - named.reduce((sum, { count }) => sum + count, 0);
  if (more > 0) lines.push(style('dim', `... and ${counted(more, 'more alert')}`));
  return lines.length === 0 ? [] : [...lines, style('dim', shortened(whatTheySay, columns))];
}

function fleetLines(rows: readonly Row[], { at, accounts }: StatusView, { columns, style }: Screen): readonly string[] {
  const troubleOf = new Map(
    accounts.map(({ name, key_rejected: keyRejected, failing_since: failingSince, writable: keyWrites }) => [
      name,
      accountTrouble({ keyRejected, failingSince, keyWrites }),
    ]),
  );
  // OK alone would say that it is guarded; every other state needs a look anyway.
  const troubleIn = ({ account, state }: Row) => (state === 'ok' ? (troubleOf.get(account) ?? null) : null);
  const emergencyIn = ({ state, verdict }: Row) => (state === 'held' && verdict?.emergency ? 'emergency' : null);
  const several = new Set(rows.map(({ account }) => account)).size > 1;
  const alerts = rows.some((row) => row.alerts.length > 0);
  const lines = rows.map((row) => [
    [stateOf(row), emergencyIn(row), troubleIn(row)].filter((word) => word !== null).join(', '),
    several ? `${row.account}/${row.name ?? row.email}` : (row.name ?? row.email),
    row.mode ?? '?',
    row.verdict ? `${row.verdict.bounced} of ${row.verdict.sent}` : '?',
    row.verdict?.sent === 0 ? '-' : percent(row.verdict?.rate_percent),
    percent(row.verdict?.limit_percent),
    ageText(row.stats_at, at),
    ...(alerts ? [row.alerts.join(' ')] : []),
  ]);
  const [title = [], ...cells] = tableCells(fleetColumns({ several, alerts }), lines, columns);
  const written = cells.map(([state = '', ...rest], index) =>
    lineOf([style(rows[index] ? styleOf(rows[index], troubleIn(rows[index])) : 'green', state), ...rest]),
  );
  return [style('bold', lineOf(title)), ...written];
}

/** Who paused it, where a person did so through Warmwarden. */
function stateOf({ state, paused_by: by }: Row): string {
  return by ? shortened(visibleText(`Paused by ${by}`), stateWidth) : stateWords[state];
}

/** `several` accounts; `alerts` on any mailbox: an empty column takes room from the names. */
function fleetColumns({ several, alerts }: { several: boolean; alerts: boolean }): readonly Column[] {
  return [
    { title: 'STATE' },
    { title: several ? 'ACCOUNT/MAILBOX' : 'MAILBOX', least: minNameWidth },
    { title: 'MODE' },
    { title: 'BOUNCED', numbers: true },
    { title: 'RATE', numbers: true },
    { title: 'LIMIT', numbers: true },
    { title: 'AGE', numbers: true, optional: true },
    ...(alerts ? [{ title: 'ALERTS', least: 'ALERTS'.length }] : []),
  ];
}

/** Its bounces may be ok, but something else about it, or about its account, is not: the row names it. */
function styleOf({ state, alerts }: Row, trouble: string | null): Style {
  return state === 'ok' && alerts.length + Number(trouble !== null) > 0 ? 'yellow' : stateStyles[state];
}

function percent(value: number | null | undefined): string {
  return value === null || value === undefined ? '?' : `${Number(value.toFixed(2))} %`;
}

/** How old statistics are: 40 s, 12 min, 3 h, 2 days. */
function ageText(from: string | null, to: string): string {
  return from === null ? 'never' : roughSpanText(Date.parse(to) - Date.parse(from));
}
