// What the page and /api/fleet show of the fleet: one row a mailbox, worst first, filtered and paged.

import { silenceOf } from '../../alerts/routing.ts';
import { concerns } from '../../alerts/rules/finding-rules.ts';
import type { Alert, Severity, Silence } from '../../core/alert.ts';
import { type AlertRule, alertRules } from '../../core/alert-rules.ts';
import { dnsRecords } from '../../core/answers.ts';
import type { Fleet } from '../../core/fleet/fleet.ts';
import { healthScoreOf } from '../../core/fleet/newest-value.ts';
import { guardStateOf } from '../../core/guard/run-state.ts';
import { domainOf, type GuardState, guardStates, type MailboxState } from '../../core/mailbox.ts';
import { type Policy, type Ppm, ratePpm } from '../../core/policy.ts';
import type { EpochMs } from '../../core/time.ts';
import type { Verdict } from '../../core/verdict.ts';
import { visibleText } from '../../core/wording/phrases.ts';
import type { Order } from './first-of.ts';

/** What of its policy a mailbox is ranked by. */
export type RankingPolicy = Pick<Policy, 'nearLimitPpm' | 'enforce'>;

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
export const stateOrder: readonly GuardState[] = [
  'held',
  'not_judged',
  'paused_by_guard',
  'over_limit',
  'recovering',
  'near_limit',
  'paused_by_others',
  'not_running',
  'no_warmup',
  'ok',
];
const gravities: Readonly<Record<Severity, number>> = { info: 0, warning: 1, critical: 2 };

/** Before everything else, whatever alerts are about the others. */
const heldEmergency = -1 - gravities.critical * stateOrder.length;

/** What all mailboxes are counted, filtered and ordered by; a row is made only of those that are shown. */
export interface RankedMailbox {
  readonly mailbox: MailboxState;
  readonly state: GuardState;
  /** Whether the configuration lets Warmwarden act on it. */
  readonly enforced: boolean;
  /** Firing alerts about it. */
  readonly alerts: readonly Alert[];
  /** The lowest first. */
  readonly urgency: number;
  /** The bounce rate as a share of the limit; -1 when nothing was counted. */
  readonly closeness: number;
}

/** The row of one mailbox, with the alerts of its domain and its ip that are about it, too, and of the circuit breaker that holds it. */
export function rowOf(fleet: Fleet, mailbox: MailboxState, nearLimitPpmOf: NearLimitPpmOf): MailboxRow {
  const shared = [...fleet.wideAlerts()].filter((alert) => concerns(alert, mailbox) || isHolding(alert, mailbox));
  const firing = [...fleet.alertsAbout(mailbox), ...shared].filter(isFiring);
  return makeRow(fleet, { mailbox, state: guardStateOf(mailbox, nearLimitPpmOf(mailbox)), alerts: firing });
}

function isHolding({ rule, facts }: Alert, { account, verdict }: MailboxState): boolean {
  const held = rule === 'guard_held' && verdict?.answer.reason === 'circuit_breaker';
  return held && (facts.accounts ?? []).includes(account);
}

/**
 * A mailbox that is fine for the guard may still have a critical alert (DNS, disconnected): that comes first, unless a person
 * silenced it.
 */
export function rank(
  mailbox: MailboxState,
  policy: RankingPolicy,
  { alerts, silences }: { readonly alerts: readonly Alert[]; readonly silences: readonly Silence[] },
): RankedMailbox {
  const state = guardStateOf(mailbox, policy.nearLimitPpm);
  const loud = silences.length === 0 ? alerts : alerts.filter((alert) => silenceOf(alert, silences) === null);
  const urgency = isHeldEmergency(state, mailbox.verdict?.answer) ? heldEmergency : urgencyWith(state, loud);
  return { mailbox, state, enforced: policy.enforce, alerts, urgency, closeness: closenessOf(mailbox) };
}

/** An emergency that Warmwarden has not acted on. `verdict`: of the mailbox, where there is one. */
export function isHeldEmergency(state: GuardState, verdict: Pick<Verdict, 'emergency'> | null | undefined): boolean {
  return state === 'held' && (verdict?.emergency ?? null) !== null;
}

/** Of a mailbox in a state that these alerts are about: the lowest first. */
export function urgencyWith(state: GuardState, alerts: Iterable<Alert>): number {
  let gravest = 0;
  for (const { severity } of alerts) gravest = Math.max(gravest, gravities[severity]);
  return stateOrder.indexOf(state) - gravest * stateOrder.length;
}

function closenessOf({ verdict }: MailboxState): number {
  const limitPpm = verdict?.answer.limitPpm;
  const rate = verdict && rateOf(verdict.answer);
  return rate === null || !limitPpm ? -1 : rate / limitPpm;
}

/** Bounces per million sent in the window; null when nothing was counted. */
function rateOf(verdict: Verdict): Ppm | null {
  return verdict.windowFrom ? ratePpm(verdict) : null;
}

export const sortings = ['worst', 'address', 'account', 'rate', 'left', 'health', 'age'] as const;
/** worst: what needs a person first. The others by one column, what is worse or older first, names from A to Z. */
export type Sorting = (typeof sortings)[number];

/** By a number, the smallest first and unknown ones last; then as usual. */
function byNumber(numberOf: (mailbox: MailboxState) => number | null): Order<RankedMailbox> {
  const known = ({ mailbox }: RankedMailbox) => numberOf(mailbox) ?? Number.MAX_SAFE_INTEGER;
  return (a, b) => known(a) - known(b) || worstFirst(a, b);
}

function byWord(wordOf: (mailbox: MailboxState) => string): Order<RankedMailbox> {
  return (a, b) => {
    const [one, other] = [wordOf(a.mailbox), wordOf(b.mailbox)];
    return one === other ? worstFirst(a, b) : one < other ? -1 : 1;
  };
}

export const orders: Readonly<Record<Sorting, Order<RankedMailbox>>> = {
  worst: worstFirst,
  address: byWord(({ email }) => email),
  account: byWord(({ account }) => account),
  rate: byNumber(({ verdict }) => {
    const rate = verdict && rateOf(verdict.answer);
    return rate === null ? null : -rate;
  }),
  left: byNumber(({ verdict }) => (verdict?.answer.windowFrom ? verdict.answer.bouncesUntilBreach : null)),
  health: byNumber(healthScoreOf),
  age: byNumber(({ stats }) => stats?.at ?? 0),
};

/** What the worst-first order compares. */
export interface Rank extends Pick<RankedMailbox, 'urgency' | 'closeness'> {
  readonly mailbox: Pick<MailboxState, 'account' | 'id' | 'email'>;
}

export function worstFirst(a: Rank, b: Rank): number {
  if (a.urgency !== b.urgency) return a.urgency - b.urgency;
  if (a.closeness !== b.closeness) return b.closeness - a.closeness;
  for (const name of ['email', 'id', 'account'] as const) {
    const [one, other] = [a.mailbox[name], b.mailbox[name]];
    if (one !== other) return one < other ? -1 : 1;
  }
  return 0;
}

export function makeRow(
  fleet: Fleet,
  { mailbox, state, alerts }: Pick<RankedMailbox, 'mailbox' | 'state' | 'alerts'>,
): MailboxRow {
  const verdict = mailbox.verdict?.answer ?? null;
  return {
    mailbox,
    label: fleet.nameOf(mailbox),
    state,
    verdict,
    ratePpm: verdict && rateOf(verdict),
    healthScore: healthScoreOf(mailbox),
    dns: dnsSummaryOf(mailbox),
    listings: listingsOf(mailbox),
    statsAt: mailbox.stats?.at ?? null,
    alerts: alerts.toSorted(gravestFirst),
  };
}

export const isFiring = ({ status }: Alert) => status === 'firing';

const urgencies: ReadonlyMap<AlertRule, number> = new Map(alertRules.map((rule, index) => [rule, index]));
const urgencyOf = ({ rule }: Alert) => urgencies.get(rule) ?? alertRules.length;

/** The gravest, of those the most urgent kind (the circuit breaker that holds before the mailboxes that it holds), then the newest. */
export function gravestFirst(a: Alert, b: Alert): number {
  return (
    gravities[b.severity] - gravities[a.severity] ||
    urgencyOf(a) - urgencyOf(b) ||
    b.since - a.since ||
    (a.fingerprint < b.fingerprint ? -1 : 1)
  );
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

export type StateCounts = Readonly<Record<GuardState, number>>;

/** Of no mailbox yet. */
export function noCounts(): Record<GuardState, number> {
  return Object.fromEntries(guardStates.map((state) => [state, 0])) as Record<GuardState, number>;
}

export interface Selection {
  /** Part of an address, id, account, domain or mode. Empty: all. */
  readonly text: string;
  readonly state: GuardState | null;
  /** Exactly this one; null: any. */
  readonly account: string | null;
  readonly domain: string | null;
  readonly provider: string | null;
  readonly tag: string | null;
  readonly sort: Sorting;
  /** From 1. */
  readonly page: number;
}

/** Everything, worst first. */
export const wholeFleet: Selection = {
  text: '',
  state: null,
  account: null,
  domain: null,
  provider: null,
  tag: null,
  sort: 'worst',
  page: 1,
};

/** The words that people gave mailboxes. */
export interface Tags {
  readonly all: () => readonly string[];
  readonly of: (mailbox: MailboxState) => readonly string[];
}

export const noTags: Tags = { all: () => [], of: () => [] };

export interface Page {
  readonly rows: readonly MailboxRow[];
  /** How many rows the selection has, on all pages. */
  readonly total: number;
  readonly page: number;
  readonly pages: number;
}

/** What the fleet can be narrowed to. */
export interface Facets {
  readonly accounts: readonly string[];
  readonly providers: readonly string[];
  readonly tags: readonly string[];
}

/** Whatever the API calls a provider: a hundred of them are no choice any more. */
const providersOffered = 100;

export function facetsOf(fleet: Fleet, providers: ReadonlySet<string>, tags: Tags): Facets {
  return {
    accounts: [...fleet.accounts()].map(({ name }) => name).sort(),
    providers: [...providers].sort().slice(0, providersOffered),
    tags: tags.all(),
  };
}

export function choose(selection: Selection, tags: Tags): (one: RankedMailbox) => boolean {
  const { text, state, account, domain, provider, tag } = selection;
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  return (one) => {
    const { mailbox } = one;
    return (
      (state === null || one.state === state) &&
      (account === null || mailbox.account === account) &&
      (domain === null || domainOf(mailbox.email) === domain) &&
      (provider === null || mailbox.entry.answer.provider === provider) &&
      (tag === null || tags.of(mailbox).includes(tag)) &&
      words.every((word) => matches(one, word))
    );
  };
}

function matches({ mailbox, state }: RankedMailbox, word: string): boolean {
  const { email, account, id, warmup } = mailbox;
  const mode = warmup?.answer.mode ?? '';
  return [visibleText(email), account, id, state, mode].some((text) => text.toLowerCase().includes(word));
}
