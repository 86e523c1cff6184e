// What the page and /api/fleet show of the fleet: one row a mailbox, worst first, filtered and paged.
import type { Fleet } from '../fleet/fleet.ts';
import { mailboxLabels } from '../fleet/mailbox-labels.ts';
import { healthScoreOf } from '../fleet/newest-value.ts';
import { guardStateOf } from '../guard/state.ts';
import type { Alert, Severity } from '../model/alert.ts';
import { dnsRecords } from '../model/answers.ts';
import { type GuardState, guardStates, type MailboxState, mailboxKey } from '../model/mailbox.ts';
import type { Ppm } from '../model/policy.ts';
import { ratePpm } from '../model/rate.ts';
import type { EpochMs } from '../model/time.ts';
import type { Verdict } from '../model/verdict.ts';

export type NearLimitPpmOf = (mailbox: MailboxState) => Ppm;

export interface MailboxRow {
  readonly mailbox: MailboxState;
  /** The address, with the id where the address is taken twice. Not yet escaped. */
  readonly label: string;
  readonly state: GuardState;
  readonly verdict: Verdict | null;
  /** Bounces per million sent in the verdict's window; null when nothing was counted. */
  readonly ratePpm: Ppm | null;
  readonly healthScore: number | null;
  readonly dns: DnsSummary;
  /** Lists it is on: a number, 'listed' when they could not be counted, null when inconclusive or never read. */
  readonly listings: number | 'listed' | null;
  /** When its stats were last read; null before the first time. */
  readonly statsAt: EpochMs | null;
  /** Firing alerts about this mailbox. */
  readonly alerts: readonly Alert[];
}

interface DnsSummary {
  readonly failing: readonly string[];
  readonly inconclusive: readonly string[];
  readonly read: boolean;
}

/** Worst first: what waits for a person, what can't be judged, what was contained, what comes near, what is fine. */
const stateOrder: readonly GuardState[] = [
  'held',
  'not_judged',
  'paused_by_guard',
  'over_limit',
  'recovering',
  'near_limit',
  'paused_by_others',
  'not_running',
  'ok',
];
const severityOrder: readonly Severity[] = ['info', 'warning', 'critical'];

/** The row of one mailbox. */
export function rowOf(fleet: Fleet, mailbox: MailboxState, nearLimitPpmOf: NearLimitPpmOf): MailboxRow {
  const labels = mailboxLabels(fleet.mailboxes());
  return makeRow(mailbox, labels, nearLimitPpmOf, firingByMailbox(fleet));
}

/** Every mailbox as a row, worst first. */
export function fleetRows(fleet: Fleet, nearLimitPpmOf: NearLimitPpmOf): readonly MailboxRow[] {
  const labels = mailboxLabels(fleet.mailboxes());
  const alerts = firingByMailbox(fleet);
  return [...fleet.mailboxes()].map((mailbox) => makeRow(mailbox, labels, nearLimitPpmOf, alerts)).sort(worstFirst);
}

function makeRow(
  mailbox: MailboxState,
  labels: ReadonlyMap<string, string>,
  nearLimitPpmOf: NearLimitPpmOf,
  alerts: ReadonlyMap<string, readonly Alert[]>,
): MailboxRow {
  const key = mailboxKey(mailbox.account, mailbox.id);
  const verdict = mailbox.verdict?.answer ?? null;
  return {
    mailbox,
    label: labels.get(key) ?? mailbox.email,
    state: guardStateOf(mailbox, nearLimitPpmOf(mailbox)),
    verdict,
    ratePpm: verdict?.windowFrom ? ratePpm(verdict) : null,
    healthScore: healthScoreOf(mailbox),
    dns: dnsSummaryOf(mailbox),
    listings: listingsOf(mailbox),
    statsAt: mailbox.stats?.at ?? null,
    alerts: alerts.get(key) ?? [],
  };
}

function firingByMailbox(fleet: Fleet): ReadonlyMap<string, readonly Alert[]> {
  const byMailbox = new Map<string, Alert[]>();
  for (const alert of firingAlerts(fleet)) {
    if (alert.mailboxId === null) continue;
    const key = mailboxKey(alert.account, alert.mailboxId);
    byMailbox.set(key, [...(byMailbox.get(key) ?? []), alert]);
  }
  return byMailbox;
}

/** Firing alerts, the gravest first, then the newest. */
export function firingAlerts(fleet: Fleet): readonly Alert[] {
  return [...fleet.alerts()]
    .filter((alert) => alert.status === 'firing')
    .sort((a, b) => severityOrder.indexOf(b.severity) - severityOrder.indexOf(a.severity) || b.since - a.since);
}

function dnsSummaryOf(mailbox: MailboxState): DnsSummary {
  const records = mailbox.dns?.answer.records;
  if (!records) return { failing: [], inconclusive: [], read: false };
  return {
    failing: dnsRecords.filter((name) => records[name].pass === false),
    inconclusive: dnsRecords.filter((name) => records[name].pass === null),
    read: true,
  };
}

function listingsOf(mailbox: MailboxState): number | 'listed' | null {
  const blacklist = mailbox.blacklist?.answer;
  if (!blacklist || blacklist.listed === null) return null;
  return blacklist.listed ? (blacklist.found ?? 'listed') : 0;
}

function worstFirst(a: MailboxRow, b: MailboxRow): number {
  const byState = urgency(a) - urgency(b);
  if (byState !== 0) return byState;
  const byRate = closeness(b) - closeness(a);
  if (byRate !== 0) return byRate;
  return a.label < b.label ? -1 : 1;
}

/** A mailbox that is fine for the guard may still have a critical alert (DNS, disconnected): that comes first. */
function urgency(row: MailboxRow): number {
  const gravest = Math.max(0, ...row.alerts.map((alert) => severityOrder.indexOf(alert.severity)));
  return stateOrder.indexOf(row.state) - gravest * stateOrder.length;
}

/** The rate as a share of the limit. */
function closeness(row: MailboxRow): number {
  const limitPpm = row.verdict?.limitPpm;
  return row.ratePpm === null || !limitPpm ? -1 : row.ratePpm / limitPpm;
}

export type StateCounts = Readonly<Record<GuardState, number>>;

export function countStates(rows: readonly MailboxRow[]): StateCounts {
  const counts = Object.fromEntries(guardStates.map((state) => [state, 0])) as Record<GuardState, number>;
  for (const row of rows) counts[row.state] += 1;
  return counts;
}

export interface Selection {
  /** Part of an address, id, account, domain or mode. Empty: all. */
  readonly text: string;
  readonly state: GuardState | null;
  /** From 1. */
  readonly page: number;
}

export interface Page {
  readonly rows: readonly MailboxRow[];
  /** How many rows the selection has, on all pages. */
  readonly total: number;
  readonly page: number;
  readonly pages: number;
}

const rowsPerPage = 100;
/** The rows of one page; a page beyond the last is the last. */
export function selectPage(rows: readonly MailboxRow[], selection: Selection): Page {
  const words = selection.text.toLowerCase().split(/\s+/).filter(Boolean);
  const chosen = rows.filter(
    (row) => (selection.state === null || row.state === selection.state) && words.every((word) => matches(row, word)),
  );
  const pages = Math.max(1, Math.ceil(chosen.length / rowsPerPage));
  const page = Math.min(selection.page, pages);
  return { rows: chosen.slice((page - 1) * rowsPerPage, page * rowsPerPage), total: chosen.length, page, pages };
}

function matches({ mailbox, state, label }: MailboxRow, word: string): boolean {
  const mode = mailbox.warmup?.answer.mode ?? '';
  return [label, mailbox.account, mailbox.id, state, mode].some((text) => text.toLowerCase().includes(word));
}
